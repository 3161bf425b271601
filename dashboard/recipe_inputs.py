"""The input of a run as Python: the same random numbers that a worker makes, or the user's own file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stethoscope.tasks import dummy
from stethoscope.types import Architecture, TensorSpec


def lines(
    architecture: Architecture, settings: Mapping[str, Any], data_name: str | None, given: Mapping[str, Any]
) -> list[str]:
    """Lines that bind `inputs`, an array by input name. Every name is a Python literal."""
    if data_name is not None:
        return _from_file(architecture.inputs, data_name)
    made = ["inputs = {"]
    drawn = dummy.draws(architecture, architecture.inputs)
    for place, (spec, draw) in enumerate(zip(architecture.inputs, drawn, strict=True)):
        about = given.get(spec.name) or {}
        shape = about.get("shape") or _shape(spec, settings)
        random = f"np.random.default_rng([{int(settings['seed'])}, {place}])"
        made.append(f"    {spec.name!r}: {draw.code(tuple(int(size) for size in shape), random)},")
    return [*made, "}"]


def _from_file(specs: Sequence[TensorSpec], data_name: str) -> list[str]:
    opened = f"with np.load({data_name!r}, allow_pickle=False) as data:"
    if len(specs) == 1:
        name = specs[0].name
        return [opened, f"    inputs = {{{name!r}: data[{name!r} if {name!r} in data.files else data.files[0]]}}"]
    names = [spec.name for spec in specs]
    return [opened, f"    inputs = {{name: data[name] for name in {names!r}}}"]


def _shape(spec: TensorSpec, settings: Mapping[str, Any]) -> list[int]:
    dynamic = int(settings.get("dynamic_size") or dummy.DYNAMIC_SIZES[0])
    sizes = [dynamic if size is None else size for size in spec.shape or (None, None)]
    if spec.shape is None or (spec.shape and spec.shape[0] is None):
        sizes[0] = int(settings["samples"])
    return sizes

"""The input of a run as Python: the same random numbers that a worker makes, or the user's own file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stethoscope.architecture.open_sizes import TRIED
from stethoscope.data import dummy
from stethoscope.data.dummy import FedInput
from stethoscope.data.preprocessing.preparation import Preparation, variable
from stethoscope.types import Architecture, TensorSpec


def lines(
    architecture: Architecture, settings: Mapping[str, Any], data_name: str | None, given: Mapping[str, FedInput]
) -> list[str]:
    """Lines that bind `inputs`, an array by input name. Every name is a Python literal."""
    if data_name is not None:
        steps, options = settings.get("preparation") or (), settings.get("data_options") or {}
        if data_name.lower().endswith((".npz", ".npy")) and not options:
            return _from_arrays(architecture.inputs, data_name, Preparation.from_json(steps))
        return _read(architecture.inputs, data_name, steps, options)
    made = ["inputs = {"]
    drawn = dummy.draws(architecture, architecture.inputs)
    for place, (spec, draw) in enumerate(zip(architecture.inputs, drawn, strict=True)):
        fed = given.get(spec.name)
        shape = fed.shape if fed and fed.shape else _shape(spec, settings)
        random = f"np.random.default_rng([{int(settings['seed'])}, {place}])"
        made.append(f"    {spec.name!r}: {draw.code(tuple(shape), random)},")
    return [*made, "}"]


def _from_arrays(specs: Sequence[TensorSpec], data_name: str, steps: Preparation) -> list[str]:
    if data_name.lower().endswith(".npy"):
        arrays = [f"arrays = {{'x': np.load({data_name!r}, allow_pickle=False)}}"]
    else:
        arrays = [f"with np.load({data_name!r}, allow_pickle=False) as data:", "    arrays = dict(data)"]
    changed = list(dict.fromkeys(step.of for step in steps.steps if step.of != "y"))
    if changed:
        # As a program reads: each array under a name of its own, the steps, and back.
        used = Preparation(tuple(step for step in steps.steps if step.of in changed))
        imports, _, body = used.code().rstrip().partition("\n\n")
        arrays += [line for line in imports.splitlines() if line != "import numpy as np"]
        arrays += [f"{variable(name)} = arrays[{name!r}]" for name in changed]
        arrays += [*body.splitlines(), *(f"arrays[{name!r}] = {variable(name)}" for name in changed)]
    return [*arrays, *_picked(specs)]


def _read(
    specs: Sequence[TensorSpec], data_name: str, steps: Sequence[Mapping[str, Any]], options: Mapping[str, Any]
) -> list[str]:
    return [
        "from stethoscope.data.rows import read_rows",
        "from stethoscope.data.preprocessing.preparation import Preparation",
        "from stethoscope.types import ModelFile",
        "",
        f"steps = Preparation.from_json({[dict(step) for step in steps]!r})",
        f"arrays = read_rows(ModelFile.at({data_name!r}), 8 << 30, steps, {dict(options)!r})",
        *_picked(specs),
    ]


def _picked(specs: Sequence[TensorSpec]) -> list[str]:
    if len(specs) == 1:
        name = specs[0].name
        return [
            f"name = next((name for name in ({name!r}, 'x', 'x_train') if name in arrays), next(iter(arrays)))",
            f"inputs = {{{name!r}: arrays[name]}}",
        ]
    names = [spec.name for spec in specs]
    return [f"inputs = {{name: arrays[name] for name in {names!r}}}"]


def _shape(spec: TensorSpec, settings: Mapping[str, Any]) -> list[int]:
    dynamic = int(settings.get("dynamic_size") or TRIED[0])
    sizes = [dynamic if size is None else size for size in spec.shape or (None, None)]
    if spec.shape is None or (spec.shape and spec.shape[0] is None):
        sizes[0] = int(settings["samples"])
    return sizes

"""The input of a run as Python: the same random numbers that a worker makes, or the user's own file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stethoscope.tasks import feeds
from stethoscope.types import Architecture, TensorSpec


def lines(
    architecture: Architecture, settings: Mapping[str, Any], data_name: str | None, given: Mapping[str, Any]
) -> list[str]:
    """Lines that bind `inputs`, an array by input name. Every name is a Python literal."""
    if data_name is not None:
        return _from_file(architecture.inputs, data_name)
    limit = feeds.index_limit(architecture)
    made = ["inputs = {"]
    for place, spec in enumerate(architecture.inputs):
        about = given.get(spec.name) or {}
        shape = about.get("shape") or _shape(spec, settings)
        random = f"np.random.default_rng([{int(settings['seed'])}, {place}])"
        made.append(f"    {spec.name!r}: {_random(spec, tuple(int(size) for size in shape), random, limit)},")
    return [*made, "}"]


def _from_file(specs: Sequence[TensorSpec], data_name: str) -> list[str]:
    opened = f"with np.load({data_name!r}, allow_pickle=False) as data:"
    if len(specs) == 1:
        name = specs[0].name
        return [opened, f"    inputs = {{{name!r}: data[{name!r} if {name!r} in data.files else data.files[0]]}}"]
    names = [spec.name for spec in specs]
    return [opened, f"    inputs = {{name: data[name] for name in {names!r}}}"]


def _shape(spec: TensorSpec, settings: Mapping[str, Any]) -> list[int]:
    dynamic = int(settings.get("dynamic_size") or feeds.DYNAMIC_SIZES[0])
    sizes = [dynamic if size is None else size for size in spec.shape or (None, None)]
    if spec.shape is None or (spec.shape and spec.shape[0] is None):
        sizes[0] = int(settings["samples"])
    return sizes


def _random(spec: TensorSpec, shape: tuple[int, ...], random: str, limit: int) -> str:
    """Mirrors `feeds.dummy_feed`, which a test holds it to."""
    name, dtype = spec.name.lower(), spec.dtype
    if dtype == "string":
        return f"{random}.choice({list(map(str, feeds.WORDS))!r}, size={shape}).astype(object)"
    if dtype == "bool":
        return f"{random}.integers(0, 2, size={shape}).astype(bool)"
    if dtype.startswith(("int", "uint")):
        if "mask" in name:
            return f"np.ones({shape}, {dtype!r})"
        if "segment" in name or "token_type" in name:
            return f"np.zeros({shape}, {dtype!r})"
        info = np.iinfo(dtype)
        small = dtype in ("int8", "uint8", "int16", "uint16") and limit == feeds.NO_LIMIT
        low, high = (int(info.min), int(info.max) + 1) if small else (0, min(limit, int(info.max)))
        return f"{random}.integers({low}, {high}, size={shape}).astype({dtype!r})"
    kind = dtype if dtype in ("float16", "float32", "float64") else "float32"
    return f"{random}.standard_normal({shape}).astype({kind!r})"

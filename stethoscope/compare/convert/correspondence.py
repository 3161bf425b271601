"""Which inputs and outputs of a converted file are which of the source's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from stethoscope.compare.convert.converter import Made
from stethoscope.types import Feed, TensorSpec


def paired(
    names: Sequence[str], known: Mapping[str, str], order: Sequence[str], originals: Sequence[str]
) -> dict[str, str]:
    """The source's name for each name of the new file: by what is known, by the same name, then by place."""
    found = {name: known[name] for name in names if known.get(name) in originals}
    found |= {name: name for name in names if name not in found and name in originals and name not in found.values()}
    rest = [name for name in names if name not in found]
    places = list(order) if len(order) == len(names) else list(originals)
    if rest and len(places) == len(names):
        for name in rest:
            original = places[list(names).index(name)]
            if original not in found.values():
                found[name] = original
    return found


def fed_as(feed: Feed, made: Made, originals: Sequence[TensorSpec], specs: Sequence[TensorSpec]) -> Feed:
    """A feed of the source as the new file takes it: its names and dtypes; as many rows as there are."""
    names = paired([spec.name for spec in specs], made.inputs, made.input_order, [spec.name for spec in originals])
    return {spec.name: _as(feed[names[spec.name]], spec) for spec in specs if names.get(spec.name) in feed}


def _as(array: npt.NDArray[np.generic], spec: TensorSpec) -> npt.NDArray[np.generic]:
    if spec.dtype in ("", "string", "bfloat16") or array.dtype.kind in "OSU":
        return array
    return array.astype(spec.dtype) if array.dtype != spec.dtype and not _quantised(array, spec) else array


def _quantised(array: npt.NDArray[np.generic], spec: TensorSpec) -> bool:
    """Whether real values meet integer inputs, which only their scale can bridge."""
    return array.dtype.kind == "f" and spec.dtype in ("int8", "uint8", "int16", "uint16")

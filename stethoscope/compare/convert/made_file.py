"""What a conversion has made: opened by its content, and which of its inputs and outputs are which of the source's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from stethoscope.compare.convert.converter import Made
from stethoscope.models.formats import detect
from stethoscope.types import Architecture, Feed, ModelFile, Runner, TensorSpec


def open_made(path: Path, scratch: Path) -> tuple[Architecture, Runner]:
    """Opens a file that this very job wrote; the code in it is that of its source, which the owner has allowed.

    Args:
        path: the file, or the folder of a SavedModel.
        scratch: an empty folder that opening may fill.

    Raises:
        CannotRun, UnreadableFile: its runtime refuses it.
    """
    file = ModelFile(path, path.name)
    kind = detect(file)
    return kind.describe(file), kind.open(file, scratch, trusted=True)


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

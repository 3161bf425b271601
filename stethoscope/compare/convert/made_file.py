"""What a conversion has made: opened by its content, and which of its inputs and outputs are which of the source's.

How far a converted model is from its source: each output, and what makes the difference worth a look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.compare.convert.converter import CannotConvert, Made
from stethoscope.compare.parity.array_difference import array_difference
from stethoscope.compare.parity.precision import Tolerance
from stethoscope.compare.parity.yardstick import compared
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


_ROUNDING = 1e-5
"""Of the largest value: threads add in another order each time."""


@dataclass(frozen=True)
class OutputDifference:
    """How far one output of the converted model is from the source's; a measure is None where it has no finite value."""

    name: str
    """In the source,"""
    in_target: str
    """and in the new file."""
    shape: tuple[int, ...]
    max_abs_diff: float | None
    mean_abs_diff: float | None
    nrmse: float | None
    """The root mean square difference as a share of both."""
    cosine: float | None = None
    sqnr_db: float | None = None
    """Signal to noise; None for equal arrays."""
    top1_agreement: float | None = None
    """The share of rows with the same class; None where there are no classes."""
    nonfinite: int = 0
    """Values that are numbers in the source alone."""
    within: bool = True
    """The tolerance by which `compare` judges too."""


def differences(
    name: str, before: Feed, after: Feed, originals: Mapping[str, str], limits: Tolerance
) -> tuple[OutputDifference, ...]:
    """Each output of the converted model against the source's.

    Args:
        name: the source's file, for errors.
        before: the source's outputs.
        after: the converted model's, as real numbers.
        originals: the source's name for each name in `after`.
        limits: what the precision of both explains.

    Raises:
        CannotConvert: an output is missing, has another shape, or is no number where the source's is.
    """
    outputs = tuple(
        _compared(new, old, before[old], after[new], limits) for new, old in originals.items() if new in after
    )
    missing = sorted(set(before) - {output.name for output in outputs})
    if missing or not outputs:
        raise CannotConvert(
            f"{name}: the file that was made has no output for {', '.join(missing) or 'any of the model’s'}. Give the outputs names in "
            "the source and convert it again."
        )
    if broken := next((output for output in outputs if output.nonfinite), None):
        raise CannotConvert(
            f"{name}: what was made of it runs, but answers with NaN or infinity where the source does not, in "
            f"{broken.nonfinite:,} values of output {broken.name!r}. Convert it to a finer precision, or find the layer with "
            "`stethoscope compare`."
        )
    return outputs


def doubts(before: Feed, again: Feed, outputs: Sequence[OutputDifference], limits: Tolerance) -> Iterator[str]:
    """What makes the differences worth a look, or worth nothing, in sentences.

    Args:
        before: the source's outputs.
        again: the source's outputs for the same rows, from another call.
        outputs: of `differences`.
        limits: as `differences` had them.
    """
    if own := _own_difference(before, again):
        yield (
            f"The source itself answers the same rows differently from call to call (by {own:.2g}): it draws random numbers or keeps a "
            "state, so the difference says nothing about the conversion. Run `stethoscope consistency` on it."
        )
        return
    output = next((one for one in outputs if not one.within), None)
    if output is None:
        return
    if output.nrmse is not None and output.nrmse <= limits.nrmse and output.top1_agreement is not None:
        told = f"names another class in {1 - output.top1_agreement:.1%} of the rows"
    else:
        told = (
            f"is off by {'values that are no numbers' if output.nrmse is None else f'{output.nrmse:.1%} of its size'}"
        )
    yield (
        f"Output {output.name!r} {told}, more than {limits.precision} explains ({limits.nrmse:.2%}). Find the first layer that differs "
        "with `stethoscope compare`."
    )


def _compared(
    name: str, original: str, a: npt.NDArray[Any], b: npt.NDArray[Any], limits: Tolerance
) -> OutputDifference:
    if a.shape != b.shape and a.size == b.size:
        b = b.reshape(a.shape)
    found = compared(original, name, a, b, limits) if a.shape == b.shape else None
    if found is None:
        raise CannotConvert(
            f"Output {original!r}: has the shape {list(a.shape)} in the source and {list(b.shape)} in what was made of it. Give --batch-size, "
            "so that every shape is known."
        )
    numbers = a.dtype.kind in "fiub" and b.dtype.kind in "fiub"
    return OutputDifference(
        original,
        name,
        a.shape,
        found.max_abs_diff,
        found.mean_abs_diff,
        found.nrmse,
        found.cosine,
        found.sqnr_db,
        found.top1_agreement,
        int((np.isfinite(a) & ~np.isfinite(b)).sum()) if numbers else 0,
        found.within,
    )


def _own_difference(first: Feed, second: Feed) -> float:
    """The largest difference between two answers to the same rows, where it is more than rounding; else 0."""
    found = 0.0
    for name, array in first.items():
        other = second.get(name)
        if other is None or array.dtype.kind not in "fiu" or array.shape != other.shape:
            continue
        gap = array_difference(array, other)
        if gap.max_rel > _ROUNDING:
            found = max(found, gap.max_abs)
    return found

"""Does the output depend on the input at all, and on every input of it?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from stethoscope.compare.consistency import layer_search
from stethoscope.compare.consistency.edge_inputs import another
from stethoscope.compare.consistency.subject import (
    Refused,
    Subject,
    Trial,
    first_values,
    floats,
    listed,
    non_finite,
    number,
)
from stethoscope.data.batching import same_bits
from stethoscope.types import Feed

_SAME_RELATIVE = 1e-6
"""Some roundoffs of float32 (6e-8): outputs that differ by less do not depend on what was changed."""
_SAME_HALF = 2.0**-9
_MOST_INPUTS = 8


def trials(subject: Subject, other: Feed) -> list[Trial]:
    """Finite on the study's input; moved by another one; moved by each input alone."""
    return [_finite(subject), *_depends(subject, other)]


def _finite(subject: Subject) -> Trial:
    bad, name = non_finite(subject.reference), "Output is finite"
    if not bad:
        return Trial("finite", "robustness", name, True, "No NaN and no infinity in any output.")
    shown = ", ".join(f"{count:,} in {key}" for key, count in bad.items())
    detail = f"NaN or infinite values on this input: {shown}."
    constants = frozenset(path for path, layer in subject.layers.items() if layer.type in ("Const", "Constant"))
    origin = layer_search.first_non_finite(subject, subject.few(subject.feed, subject.rows), lambda: constants)
    where = f" It begins in {origin.layer}." if origin else ""
    return Trial("finite", "robustness", name, False, detail + where, origin=origin, values={"non_finite": bad})


def _depends(subject: Subject, other: Feed) -> list[Trial]:
    id_, name = "input-dependence", "Output depends on the input"
    if not subject.feed:
        return [Trial(id_, "robustness", name, None, "The model has no inputs.")]
    if not subject.steady:
        why = "Not meaningful: the output changes from run to run, whatever the input."
        return [Trial(id_, "robustness", name, None, why)]
    moved, same = 0.0, True
    for tried in _others(subject, other):
        try:
            found = subject.answer(tried)
            moved = max(moved, _moved(subject.reference, found))
            same = same and all(same_bits(array, found[name]) for name, array in subject.reference.items())
        except Refused as error:
            return [Trial(id_, "robustness", name, None, f"It did not take another random input: {error}.")]
        if moved > _limit(subject):
            break
    values = {"largest_change": moved, "identical": same, "output": first_values(subject.reference)}
    if moved <= _limit(subject):
        said = ", ".join(number(value) for value in first_values(subject.reference, 0, 3))
        detail = f"Different inputs give the same output{f' ({said} …)' if said else ''}"
        if not floats(subject.reference):
            # Classes and yes or no are coarse: a few random inputs may well share one.
            detail += ", which for whole numbers may be chance."
            return [Trial(id_, "robustness", name, None, detail, moved, noted=True, values=values)]
        if not same:
            detail = f"Different inputs change the output by no more than {moved:.1g} of its largest value: rounding would hide it."
            return [Trial(id_, "robustness", name, None, detail, moved, noted=True, values=values)]
        return [Trial(id_, "robustness", name, False, f"{detail}: the model is a constant.", moved, values=values)]
    detail = f"Another input changes the output by up to {moved:.3g} of its largest value."
    whole = Trial(id_, "robustness", name, True, detail, values=values)
    return [whole, _each(subject, other)] if len(subject.feed) > 1 else [whole]


def _others(subject: Subject, other: Feed) -> Iterator[Feed]:
    """The second input, the same much larger, and a third one: a ReLU may be silent for one of them."""
    yield other
    yield {name: array * 10 if array.dtype.kind == "f" else array for name, array in other.items()}
    yield another(subject, subject.feed, salt=8)


def _each(subject: Subject, other: Feed) -> Trial:
    """One input at a time is exchanged, the others kept."""
    id_, name = "every-input-matters", "Every input has an effect"
    moved: dict[str, float] = {}
    for key in list(subject.feed)[:_MOST_INPUTS]:
        exchanged = other[key] if not np.array_equal(other[key], subject.feed[key]) else _flipped(other[key])
        try:
            moved[key] = _moved(subject.reference, subject.answer({**subject.feed, key: exchanged}))
        except Refused:
            continue
    idle = [key for key, change in moved.items() if change <= _limit(subject)]
    if not idle:
        detail = f"Each of {len(moved)} inputs changes the output when it alone is exchanged."
        return Trial(id_, "robustness", name, True, detail, values=moved)
    detail = f"No effect on the output when it alone is exchanged: {listed(idle)}."
    return Trial(id_, "robustness", name, None, detail, noted=True, values=moved)


def _flipped(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Masks and segments are the same in every random input: every second value changes between 0 and 1."""
    if array.dtype.kind in "OSU":
        return array
    other = array.copy()
    flat = other.reshape(-1)
    flat[::2] = (flat[::2] == 0).astype(array.dtype)
    return other


def _limit(subject: Subject) -> float:
    return _SAME_HALF if subject.half else _SAME_RELATIVE


def _moved(first: Feed, second: Feed) -> float:
    """The largest change of any output, as a fraction of its largest value; 1 where it is not a number or its shape changes."""
    most = 0.0
    for name, array in first.items():
        other = second.get(name)
        if other is None or array.size == 0:
            continue
        if array.shape != other.shape or array.dtype.kind not in "fiubc":
            most = max(most, float(not np.array_equal(array, other)))
            continue
        left, right = (
            np.nan_to_num(part.astype(np.float64)) if part.dtype.kind != "c" else np.abs(part)
            for part in (array, other)
        )
        largest = max(float(np.abs(left).max()), float(np.abs(right).max()))
        with np.errstate(over="ignore", invalid="ignore"):
            most = max(most, float(np.abs(left - right).max()) / largest if largest > 0 else 0.0)
    return most

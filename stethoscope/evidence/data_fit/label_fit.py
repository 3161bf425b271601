"""One output of a model beside the labels: how its loss reads them, what does not fit, and the steps that make it fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.activations import SIGMOID, SOFTMAX
from stethoscope.architecture.losses import BINARY_LOSSES, HINGE_LOSSES, ROW_LOSSES, SPARSE_LOSSES
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.errors import StethoscopeError
from stethoscope.evidence.data_fit import report
from stethoscope.evidence.data_fit.report import GivenLabels, LabelCode, Misfit, TakenLabels, What
from stethoscope.evidence.heads import Head

Array = npt.NDArray[Any]
Steps = list[dict[str, Any]]
_MOST_CLASSES = 10_000
_FEW = 200
_CODES: dict[LabelCode, str] = {
    "numbers": "class numbers from 0 to {last}",
    "one-hot": "rows of {units} with a single 1",
    "either": "class numbers from 0 to {last}, or rows of {units} with a single 1",
    "yes-no": "0 or 1",
    "tags": "0 or 1 for each of {units} classes",
    "signs": "-1 or 1 (or 0 and 1)",
    "values": "numbers",
    "": "",
}


def takes(head: Head) -> TakenLabels:
    """How the loss reads labels."""
    code = _code(head)
    units = head.units
    counted = {"yes-no": 2, "signs": 2, "values": None, "": None}
    return TakenLabels(
        shape=None if head.shape is None else _label_shape(head, code),
        code=code,
        encoding=_encoding(head),
        classes=counted.get(code, units),
        range=head.range if code == "values" and head.range and np.isfinite(head.range).all() else None,
        loss=head.loss,
        why=_why(head, code),
    )


def given(head: Head, name: str, array: Array, total: int, names: Sequence[str]) -> GivenLabels:
    """What the labels are. `names` are those of the classes where the data names them."""
    target = head.target
    profile = None if target is None else target.array
    return GivenLabels(
        name=name,
        shape=(total, *array.shape[1:]),
        dtype="string" if array.dtype.kind in "US" else str(array.dtype),
        kind="" if target is None else target.kind,
        classes=max(len(names), target.class_count) if target is not None and target.class_count else None,
        class_names=tuple(names[:_FEW]),
        min=None if profile is None else profile.minimum,
        max=None if profile is None else profile.maximum,
        mean=None if profile is None else profile.mean,
    )


def problems(head: Head, name: str, array: Array) -> tuple[Misfit, ...]:
    """What does not fit."""
    return tuple(Misfit(what, f"{name}: {sentence}.") for what, sentence in _problems(head, array))


def suggestions(head: Head, name: str, array: Array, names: Sequence[str]) -> tuple[report.Steps, ...]:
    """Steps to add, best first; each was applied to these labels, and they fit afterwards."""
    found: list[Steps] = []
    for steps in _routes(head, name, array, names):
        try:
            made = Preparation.from_json(steps).apply_to(name, array)
        except StethoscopeError:
            # A way that does not lead there is not offered.
            continue
        if not any(True for _ in _problems(head, made)):
            found.append(steps)
    return tuple(tuple(steps) for steps in found[:3])


def _encoding(head: Head) -> str:
    units = head.units
    last, rows = ("?", "?") if units is None else (units - 1, units)
    return _CODES[_code(head)].format(last=last, units=rows)


def _code(head: Head) -> LabelCode:
    if head.loss in SPARSE_LOSSES:
        return "numbers"
    if head.loss in ROW_LOSSES:
        return "one-hot"
    if head.loss in BINARY_LOSSES:
        return "yes-no" if head.units == 1 else "tags"
    if head.loss in HINGE_LOSSES:
        return "signs"
    if head.loss:
        return "values"
    if head.activation == SOFTMAX.name and head.units and head.units > 1:
        return "either"
    return "yes-no" if head.activation == SIGMOID.name and head.units == 1 else ""


def _why(head: Head, code: LabelCode) -> str:
    if head.loss:
        return f"{head.loss} reads labels so{'' if head.loss_said else ' (as the model was compiled)'}."
    if code:
        return f"The file names no loss; {head.layer} ends in {head.activation}."
    return "The file names no loss, and the last layer does not tell."


def _label_shape(head: Head, code: LabelCode) -> tuple[int | None, ...]:
    shape = head.shape or ()
    return shape[:-1] if code in ("numbers", "either") and shape else shape


def _problems(head: Head, array: Array) -> Iterator[tuple[What, str]]:
    code, units = _code(head), head.units or 0
    if not code:
        return
    if array.dtype.kind in "USO":
        yield "text", f"expected {_encoding(head)}, got text ({_examples(array)})"
        return
    if array.dtype.kind not in "biuf":
        return
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        missing = int((~np.isfinite(array)).sum())
        yield "missing", f"expected finite labels, got {missing:,} that are not"
        return
    one_hot = _is_one_hot(array, units)
    if code == "either":
        code = "one-hot" if one_hot else "numbers"
    if code == "numbers":
        yield from _numbers(head, array, units, one_hot=one_hot)
    elif code in ("one-hot", "tags"):
        places = (head.shape or ())[1:-1] or (None,) * (array.ndim - 2)
        if array.shape[-1:] != (units,) or not _covers(places, array.shape[1:-1]):
            yield "shape", f"expected {_encoding(head)}, got {_got(array)}"
        elif code == "tags" and not _within(array, 0, 1):
            yield "range", f"expected {_encoding(head)}, got {_got(array)}"
        elif code == "one-hot" and not _sums_to_one(array):
            yield "range", f"expected {_encoding(head)}, got rows that do not sum to 1"
    elif code in ("yes-no", "signs"):
        if not _within(array, -1 if code == "signs" else 0, 1):
            yield "range", f"expected {_encoding(head)}, got {_got(array)}"
        elif one_hot and array.shape[-1] == 2:
            yield "shape", f"expected one column of {_encoding(head)}, got rows of 2"
    elif code == "values":
        yield from _values(head, array)


def _numbers(head: Head, array: Array, units: int, *, one_hot: bool) -> Iterator[tuple[What, str]]:
    if one_hot:
        yield "shape", f"expected {_encoding(head)}, got rows of {units} with a single 1"
        return
    if array.dtype.kind == "f" and not bool((array == np.floor(array)).all()):
        yield "range", f"expected {_encoding(head)}, got fractions"
    elif units and array.size and not _within(array, 0, units - 1):
        yield "range", f"expected {_encoding(head)}, got {_got(array)}"
    places, have = (head.shape or ())[1:-1], array.shape[1:]
    have = have[:-1] if have[-1:] == (1,) and len(have) > len(places) else have
    if head.shape is not None and not _covers(places, have):
        yield (
            "shape",
            f"expected one number for each of {tuple(places) or 'the rows'}, got labels of shape {tuple(array.shape[1:])}",
        )


def _values(head: Head, array: Array) -> Iterator[tuple[What, str]]:
    want, have = (head.shape or ())[1:], array.shape[1:]
    one = tuple(want) == (1,) and have == ()
    if head.shape is not None and not one and not _covers(want, have):
        yield "shape", f"expected labels of shape {tuple(want)}, got {tuple(have)}"
    span = head.range
    if span is not None and array.size and not _within(array, *span):
        low, high = span
        yield (
            "range",
            f"expected values the last activation ({head.activation}) can reach, {low:g} to {high:g}, got {_got(array)}",
        )


def _routes(head: Head, name: str, array: Array, names: Sequence[str]) -> Iterator[Steps]:
    code, units = _code(head), head.units or 0
    classes: Steps = []
    single = array.ndim == 1 or array.shape[1:] == (1,)
    numbered = array
    if array.dtype.kind in "US" or (
        single and array.dtype.kind in "iufb" and code in ("numbers", "one-hot", "yes-no", "tags", "either")
    ):
        values = np.unique(array)
        if len(values) > _MOST_CLASSES:
            return
        labels = [_text(value) for value in values.tolist()]
        known = [str(one) for one in names]
        order = known if array.dtype.kind in "US" and set(labels) <= set(known) else labels
        renumber = array.dtype.kind in "US" or order != [str(number) for number in range(len(order))]
        classes = [{"step": "to_class_numbers", "of": name, "classes": order}] if renumber else []
        numbered = np.zeros(0)
    one_hot = _is_one_hot(array, units)
    for begin in [[], classes] if classes and array.dtype.kind not in "US" else [classes]:
        if code in ("numbers", "either"):
            yield [*begin, *([{"step": "from_one_hot", "of": name}] if one_hot else [])]
        if code in ("one-hot", "tags", "either") and units:
            yield [*begin, {"step": "one_hot", "of": name, "classes": units}]
        if code in ("yes-no", "signs"):
            yield [*begin, *([{"step": "from_one_hot", "of": name}] if one_hot else [])]
    if code == "values" and numbered.size and numbered.dtype.kind in "iufb" and head.range is not None:
        yield from _into_range(head, name, array)
    places = (head.shape or ())[1:-1]
    if array.ndim in (3, 4) and len(places) == 2 and None not in places:
        resize = {"step": "resize", "of": name, "height": places[0], "width": places[1], "method": "nearest"}
        yield [resize]
        if code in ("one-hot", "tags") and units:
            yield [resize, {"step": "one_hot", "of": name, "classes": units}]


def _into_range(head: Head, name: str, array: Array) -> Iterator[Steps]:
    low, high = head.range or (0.0, 0.0)
    least, most = float(array.min()), float(array.max())
    if not (np.isfinite(low) and np.isfinite(high)) or least == most:
        return
    factor = float(f"{(high - low) / (most - least):.6g}")
    yield [
        {"step": "scale", "of": name, "factor": factor, "offset": float(f"{low - least * factor:.6g}")},
        {"step": "clip", "of": name, "least": low, "most": high},
    ]


def _is_one_hot(array: Array, units: int) -> bool:
    if array.dtype.kind not in "biuf" or array.ndim < 2 or units < 2 or array.shape[-1] != units or not array.size:
        return False
    return bool(np.isin(array, (0, 1)).all()) and _sums_to_one(array)


def _sums_to_one(array: Array) -> bool:
    return bool(np.allclose(array.sum(-1, dtype="float64"), 1, atol=1e-3))


def _covers(want: Sequence[int | None], have: Sequence[int]) -> bool:
    """Whether sizes are those wanted; None stands for any."""
    return len(want) == len(have) and all(size in (None, own) for size, own in zip(want, have, strict=True))


def _within(array: Array, low: float, high: float) -> bool:
    return not array.size or bool(array.min() >= low - 1e-6 and array.max() <= high + 1e-6)


def _got(array: Array) -> str:
    shape = f"rows of shape {tuple(array.shape[1:])}, " if array.ndim > 1 else ""
    return f"{shape}values from {array.min():,.4g} to {array.max():,.4g}" if array.size else f"{shape}no values"


def _examples(array: Array) -> str:
    return ", ".join(repr(_text(value)[:30]) for value in np.unique(array.reshape(-1)[:1_000])[:3].tolist())


def _text(value: Any) -> str:
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)

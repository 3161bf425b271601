"""One input of a model beside the rows it would get: what does not fit, and steps that were tried on these rows and make it fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.data.study.array_statistics import profile_array
from stethoscope.data.study.numbers import Histogram
from stethoscope.data.study.profiles import ArrayProfile
from stethoscope.errors import StethoscopeError
from stethoscope.evidence.data_fit import fitting_steps, report
from stethoscope.evidence.data_fit.expected_input import ExpectedInput
from stethoscope.evidence.data_fit.report import Columns, GivenValues, Misfit, TakenValues, What
from stethoscope.evidence.data_fit.sampled_rows import Rows, flat, shapes_of

Steps = list[dict[str, Any]]
MOST_SUGGESTED = 4
_TRIED_ROWS = 32
_MOST_CATEGORIES = 200
_EXAMPLES = 3


def takes(expected: ExpectedInput) -> TakenValues:
    """What the input takes."""
    return TakenValues(
        expected.shape,
        expected.dtype,
        expected.kind,
        expected.mode,
        expected.range,
        expected.why_range,
        expected.channels,
    )


def given(name: str, rows: Rows, profile: ArrayProfile, total: int, channel_axis: int | None) -> GivenValues:
    """What the data holds under `name`."""
    shapes, features = shapes_of(rows), profile.features
    one = len(shapes) == 1
    channels = None
    if channel_axis is not None and one and len(shapes[0]) in (2, 3):
        channels = 1 if len(shapes[0]) == 2 else shapes[0][0 if channel_axis == 1 else -1]
    return GivenValues(
        name=name,
        shape=(total, *shapes[0]) if one else "several",
        examples=tuple(shapes[:_EXAMPLES]),
        shapes=len(shapes),
        dtype=profile.dtype,
        min=profile.minimum,
        max=profile.maximum,
        mean=profile.mean,
        std=profile.std,
        nan=profile.nan,
        channels=channels,
        histogram=Histogram(profile.histogram_edges, profile.histogram_counts),
        columns=None
        if features is None or len(features.mean) > fitting_steps.MAX_COLUMNS
        else Columns(features.mean, features.std),
        rows_read=len(rows),
    )


def problems(expected: ExpectedInput, name: str, rows: Rows, profile: ArrayProfile) -> tuple[Misfit, ...]:
    """What does not fit, the hardest first."""
    return tuple(Misfit(what, f"{name}: {sentence}.") for what, sentence in _problems(expected, rows, profile))


def _problems(expected: ExpectedInput, rows: Rows, profile: ArrayProfile) -> Iterator[tuple[What, str]]:
    shapes = shapes_of(rows)
    if expected.shape is not None and expected.shape:
        want = expected.shape[1:]
        if len(shapes) > 1:
            yield (
                "shape",
                f"expected rows of one shape, {_shape(want)}, got {len(shapes):,} shapes, such as {_shape(shapes[0])} and {_shape(shapes[1])}",
            )
        elif not fitting_steps.fits(shapes[0], want):
            yield "shape", f"expected rows of shape {_shape(want)}, got {_shape(shapes[0])}"
    text = flat(rows).dtype.kind in "USO"
    if text != (expected.dtype == "string"):
        yield "text", "expected text, got numbers" if expected.dtype == "string" else "expected numbers, got text"
        return
    if text:
        return
    if expected.dtype.startswith(("int", "uint")) and not profile.integral and expected.mode != "quantised":
        yield "dtype", f"expected whole numbers ({expected.dtype}), got fractions ({profile.dtype})"
    if profile.nan or profile.infinite:
        counts = [
            f"{count:,} {what}"
            for count, what in ((profile.nan, "missing (NaN)"), (profile.infinite, "infinite"))
            if count
        ]
        yield "missing", f"expected finite values, got {' and '.join(counts)} among {profile.values:,}"
    sentence = fitting_steps.wrong(expected, profile)
    if sentence:
        yield "range", sentence


def suggestions(expected: ExpectedInput, name: str, rows: Rows, wrong_now: int) -> tuple[report.Steps, ...]:
    """Steps to add, best first: each was applied to these rows (some of them, where shapes differ), and they fit afterwards.

    Where nothing makes them fit, what leaves the fewest of the `wrong_now` problems.
    """
    few = rows[:_TRIED_ROWS] if isinstance(rows, list) else rows
    found: list[tuple[int, Steps]] = []
    for begin in _readable(expected, name, few):
        for shaping in _shapings(expected, name, few, begin):
            made = _applied(name, few, [*begin, *shaping])
            if made is None:
                continue
            for ranging in fitting_steps.range_routes(name, expected, profile_array(name, made, duplicates=False)) or [
                []
            ]:
                steps = [*begin, *shaping, *ranging]
                steps += _cast(expected, name, few, steps)
                left = _left(expected, name, few, steps)
                if steps and left < wrong_now and steps not in [one for _, one in found]:
                    found.append((left, steps))
    least = min((left for left, _ in found), default=0)
    return tuple(tuple(steps) for left, steps in found if left == least)[:MOST_SUGGESTED]


def _readable(expected: ExpectedInput, name: str, rows: Rows) -> list[Steps]:
    """Steps that make numbers of text and fill what is missing."""
    values = flat(rows)
    if expected.dtype == "string":
        return [[]] if values.dtype.kind in "US" else []
    if values.dtype.kind in "US":
        classes = np.unique(values).tolist()
        return (
            [[{"step": "to_class_numbers", "of": name, "classes": classes}]] if len(classes) <= _MOST_CATEGORIES else []
        )
    if values.dtype.kind not in "biuf":
        return []
    finite = np.isfinite(values) if values.dtype.kind == "f" else None
    if finite is None or finite.all():
        return [[]]
    fill = _fill(rows if isinstance(rows, np.ndarray) else values)
    step = {"step": "fill_missing", "of": name, "value": fill}
    return [[step | ({"infinite": True} if np.isinf(values).any() else {})]]


def _fill(values: npt.NDArray[Any]) -> list[float]:
    """The median of each column of a table, of everything else one for all."""
    table = values if values.ndim == 2 and values.shape[1] <= fitting_steps.MAX_COLUMNS else values.reshape(-1, 1)
    medians = []
    for column in table.T:
        known = column[np.isfinite(column)]
        medians.append(float(f"{np.median(known):.6g}") if known.size else 0.0)
    return medians


def _shapings(expected: ExpectedInput, name: str, rows: Rows, begin: Steps) -> list[Steps]:
    made: Rows | None = _applied(name, rows, begin) if isinstance(rows, np.ndarray) else rows
    return [] if made is None else fitting_steps.shape_routes(name, shapes_of(made), expected)


def _cast(expected: ExpectedInput, name: str, rows: Rows, steps: Steps) -> Steps:
    """A cast where the runner would not convert by itself: fractions' dtypes that hold whole numbers."""
    if not expected.dtype.startswith(("int", "uint")):
        return []
    made = _applied(name, rows, steps)
    if made is None or made.dtype.kind != "f" or not bool((made == np.floor(made)).all()):
        return []
    return [{"step": "cast", "of": name, "dtype": expected.dtype}]


def _left(expected: ExpectedInput, name: str, rows: Rows, steps: Sequence[dict[str, Any]]) -> int:
    """How many things are wrong after the steps."""
    made = _applied(name, rows, steps)
    if made is None:
        return 99
    return sum(1 for _ in _problems(expected, made, profile_array(name, made, duplicates=False)))


def _applied(name: str, rows: Rows, steps: Sequence[dict[str, Any]]) -> npt.NDArray[Any] | None:
    try:
        return Preparation.from_json(steps).apply_to(name, rows)
    except StethoscopeError:
        # A way that does not lead there is not offered.
        return None


def _shape(shape: Sequence[int | None]) -> str:
    inside = ", ".join("any" if size is None else str(size) for size in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"

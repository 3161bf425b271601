"""A log of predictions as stretches of time: how often they were right in each, and how their mix moved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.drift.corrections import holm
from stethoscope.drift.feature_tests import tested
from stethoscope.drift.field_columns import Field, number_word
from stethoscope.drift.measures import as_seconds, written
from stethoscope.drift.pairing import Feature
from stethoscope.drift.reading import LogColumns, Side
from stethoscope.drift.report import OverTime, SideName, Stretch
from stethoscope.drift.scores import RIGHT, WRONG, wilson
from stethoscope.errors import BadInput

LEAST_ROWS = 30
"""Of one stretch."""
REFERENCE_STRETCHES, CURRENT_STRETCHES = 6, 14
_MOST_FEATURES = 30
_OUTSIDE = 0.00135
"""Chance to be beyond a control limit on one side: that of three standard deviations. Source: Shewhart (1931)."""
_Z = 1.959964


def split_by_time(side: Side, time: str) -> tuple[Side, Side]:
    """A log as its first and its second half, by time.

    Raises:
        BadInput: it has no column of moments, or too few rows that have one.
    """
    moments = side.fields[time].moments if time in side.fields else None
    if moments is None:
        raise BadInput(
            f"{side.name}: expected a column of moments by which to divide it, got none. Name it with --time, or give the "
            "current data as a second file."
        )
    good = np.flatnonzero(np.isfinite(moments))
    if len(good) < 2:
        raise BadInput(f"{side.name}: expected at least two rows with a moment in {time!r}, got {len(good)}. Add rows.")
    order = good[np.argsort(moments[good], kind="stable")]
    middle = len(order) // 2
    first, second = (_rows_of(side, np.sort(part)) for part in (order[:middle], order[middle:]))
    return replace(first, name=f"{side.name} (earlier half)"), replace(
        second, name=f"{side.name} (later half)", notes=()
    )


def correctness(reference: Side, current: Side, log: LogColumns) -> Feature | None:
    """Whether each prediction was right, or for quantities how far off it was, as a feature; None without labels."""
    if not log.prediction or not log.label:
        return None
    sides = [_correct(side, log) for side in (reference, current)]
    if sides[0] is None or sides[1] is None:
        return None
    (kind, first, at), (other, second, place) = sides[0], sides[1]
    if kind != other:
        return None
    if kind == "number":
        return Feature("absolute error", "number", "correctness", first, second, "", at, place)
    names = np.array([WRONG, RIGHT], object)
    return Feature(
        "accuracy", "category", "correctness", names[first.astype(int)], names[second.astype(int)], "", at, place
    )


def over_time(
    reference: Side, current: Side, log: LogColumns, features: Sequence[Feature], alpha: float
) -> OverTime | None:
    """The stretches of both sides in the order of time; None without a column of moments."""
    sides = []
    for side, most in ((reference, REFERENCE_STRETCHES), (current, CURRENT_STRETCHES)):
        moments = side.fields[log.time].moments if log.time in side.fields else None
        if moments is None or not np.isfinite(moments).any():
            return None
        sides.append((side, as_seconds(moments), most))
    known = [_correct(side, log) if log.prediction and log.label else None for side in (reference, current)]
    kind = known[0][0] if known[0] is not None else None
    centre = _centre(known[0])
    compared = [one for one in features if one.role in ("feature", "prediction", "confidence")][:_MOST_FEATURES]
    made: list[Stretch] = []
    names: tuple[SideName, SideName] = ("reference", "current")
    for name, (side, moments, most), right in zip(names, sides, known, strict=True):
        for rows in _stretches(moments, most):
            stretch = Stretch(
                name,
                written(moments[rows[0]]),
                written(moments[rows[-1]]),
                len(rows),
                mean_confidence=_confidence(side, log, rows),
            )
            stretch = _with_measure(stretch, right if right is not None and right[0] == kind else None, rows, centre)
            made.append(_against(stretch, compared, rows, log) if name == "current" else stretch)
    return OverTime(
        log.time,
        None if kind is None else "accuracy" if kind == "category" else "absolute error",
        None if centre is None else centre[0],
        _corrected(made, alpha),
    )


def _rows_of(side: Side, rows: npt.NDArray[np.int64]) -> Side:
    def part(one: Field) -> Field:
        return replace(
            one,
            numbers={name: values[rows] for name, values in one.numbers.items()},
            words=None if one.words is None else one.words[rows],
            moments=None if one.moments is None else one.moments[rows],
            tokens=None if one.tokens is None else [one.tokens[row] for row in rows],
            vectors=None if one.vectors is None else one.vectors[rows],
        )

    fields: Mapping[str, Field] = {name: part(one) for name, one in side.fields.items()}
    return replace(side, fields=fields, rows=len(rows), used=len(rows), places=side.places[rows], damaged=0)


def _correct(side: Side, log: LogColumns) -> tuple[str, npt.NDArray[Any], npt.NDArray[np.int64]] | None:
    """("category", right or not) or ("number", absolute error), and the rows that have both."""
    prediction, label = side.fields.get(log.prediction), side.fields.get(log.label)
    if prediction is None or label is None:
        return None
    first, second = prediction.numbers.get(""), label.numbers.get("")
    if first is not None and second is not None and prediction.words is None and label.words is None:
        rows = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
        values = np.concatenate([first[rows], second[rows]])
        if not len(rows):
            return None
        if not bool((values == np.rint(values)).all()) or len(np.unique(values)) > 100:
            return "number", np.abs(first[rows] - second[rows]), rows
        return "category", first[rows] == second[rows], rows
    words = [_as_words(one) for one in (prediction, label)]
    if words[0] is None or words[1] is None:
        return None
    rows = np.flatnonzero((words[0] != "") & (words[1] != ""))
    return ("category", words[0][rows] == words[1][rows], rows) if len(rows) else None


def _as_words(one: Field) -> npt.NDArray[Any] | None:
    if one.words is not None:
        return one.words
    values = one.numbers.get("")
    if values is None:
        return None
    return np.array([number_word(value) if np.isfinite(value) else "" for value in values], object)


def _centre(known: tuple[str, npt.NDArray[Any], npt.NDArray[np.int64]] | None) -> tuple[float, float, int] | None:
    """Mean and spread of one row's correctness in the reference, and of how many rows."""
    if known is None:
        return None
    values = known[1].astype(np.float64)
    return float(values.mean()), float(values.std()), len(values)


def _stretches(moments: npt.NDArray[np.float64], most: int) -> list[npt.NDArray[np.int64]]:
    """Rows in the order of time, in parts of equal size."""
    good = np.flatnonzero(np.isfinite(moments))
    order = good[np.argsort(moments[good], kind="stable")]
    return [part for part in np.array_split(order, max(1, min(most, len(order) // LEAST_ROWS))) if len(part)]


def _with_measure(
    stretch: Stretch,
    known: tuple[str, npt.NDArray[Any], npt.NDArray[np.int64]] | None,
    rows: npt.NDArray[np.int64],
    centre: tuple[float, float, int] | None,
) -> Stretch:
    if known is None or centre is None:
        return stretch
    values = known[1][np.isin(known[2], rows)].astype(np.float64)
    count = len(values)
    if not count:
        return stretch
    value = float(values.mean())
    share = known[0] == "category"
    low, high = wilson(value, count) if share else _interval(values)
    lower, upper = _limits_of_share(*centre, count) if share else _limits_of_mean(*centre, count)
    return replace(
        stretch,
        n_labelled=count,
        value=value,
        low=low,
        high=high,
        lower_limit=lower,
        upper_limit=upper,
        out_of_control=bool(value < lower or value > upper),
    )


def _limits_of_share(mean: float, _spread: float, known: int, count: int) -> tuple[float, float]:
    """What of `count` more rows is right no less and no more often, were they like the `known` ones.

    Exact where nearly all are right, and as wide as so few known rows leave them.

    Source: the beta-binomial predictive distribution with Jeffreys' prior; Brown, Cai and DasGupta, Statistical Science 16 (2001).
    """
    from scipy.stats import betabinom

    right = mean * known
    made = betabinom(count, right + 0.5, known - right + 0.5)
    return float(made.ppf(_OUTSIDE)) / count, float(made.isf(_OUTSIDE)) / count


def _limits_of_mean(mean: float, spread: float, known: int, count: int) -> tuple[float, float]:
    """The same of a mean of `count` quantities. Source: Student's prediction interval of a mean."""
    from scipy.stats import t

    width = float(t.isf(_OUTSIDE, max(1, known - 1))) * spread * math.sqrt(1 / count + 1 / known)
    return max(0.0, mean - width), mean + width


def _interval(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    half = _Z * float(values.std()) / math.sqrt(len(values))
    return float(values.mean()) - half, float(values.mean()) + half


def _confidence(side: Side, log: LogColumns, rows: npt.NDArray[np.int64]) -> float | None:
    values = side.fields[log.confidence].numbers.get("") if log.confidence in side.fields else None
    if values is None or not np.isfinite(values[rows]).any():
        return None
    return float(np.nanmean(np.where(np.isfinite(values[rows]), values[rows], np.nan)))


def _against(stretch: Stretch, features: Sequence[Feature], rows: npt.NDArray[np.int64], log: LogColumns) -> Stretch:
    """One stretch of the current side against the whole reference."""
    for one in features:
        if len(one.current_rows) != len(one.current):
            continue
        inside = np.isin(one.current_rows, rows)
        answer = tested(replace(one, current=one.current[inside], current_rows=one.current_rows[inside]))
        if not answer.counted:
            continue
        if one.field == log.prediction and one.role == "prediction":
            stretch = replace(stretch, prediction_p_value=answer.answer.p_value)
        above = answer.measured.psi_above_chance
        if above > (stretch.largest_psi or -1.0):
            stretch = replace(stretch, largest_psi=above, largest_psi_of=one.name)
    return stretch


def _corrected(stretches: Sequence[Stretch], alpha: float) -> tuple[Stretch, ...]:
    adjusted = iter(holm([one.prediction_p_value for one in stretches if one.prediction_p_value is not None]))
    return tuple(
        stretch
        if stretch.prediction_p_value is None
        else replace(
            stretch, prediction_p_value=(p_value := float(next(adjusted))), prediction_drifted=p_value <= alpha
        )
        for stretch in stretches
    )

"""Runs beside each other: what each was given, what it reached, which is the best, and the whole as a table."""

from __future__ import annotations

import csv
import functools
import io
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.logs.runs.table import RunTable
from stethoscope.logs.series import Series

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MOST_NAMES = 500
"""Parameters that are compared, and likewise notes."""
_MOST_CELLS = 4_000_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Metric:
    """What every run reached in one tag; all arrays have the shape (runs,)."""

    tag: str
    higher_is_better: bool
    last: Floats
    """The last point's value. NaN also where the run has no point (see `points`)."""
    best: Floats
    """The best finite value; NaN where there is none."""
    best_step: Ints
    """Where it was reached first; 0 where it never was."""
    points: Ints
    """0: the run has no such metric."""
    nonfinite: Ints
    """How many of the points are NaN or infinite."""

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Which runs have the metric at all."""
        return self.points > 0

    def badness(self) -> Floats:
        """The best value as a number that is lower for better runs; infinite where no finite value was ever reached.

        A run that only gave NaN is worse than any other, not unknown: leaving it out would make the setting that caused
        it look harmless.
        """
        sign = -1.0 if self.higher_is_better else 1.0
        return np.where(np.isnan(self.best), np.inf, sign * self.best)

    def order(self) -> npt.NDArray[np.intp]:
        """Runs from best to worst; those that never were finite after them, those without the metric last."""
        return np.lexsort((np.arange(len(self.points)), self.badness(), ~self.present))

    @property
    def winner(self) -> int | None:
        """The run with the best value; None where no run has a finite one."""
        if not len(self.points):
            return None
        first = int(self.order()[0])
        return None if math.isnan(self.best[first]) else first

    def median_best(self) -> float:
        """The middle of the best values of runs that have one; NaN where none has."""
        finite = self.best[~np.isnan(self.best)]
        return float(np.median(finite)) if len(finite) else math.nan


def metric_of(tag: str, series: Sequence[Series | None], higher_is_better: bool) -> Metric:
    """Summarises all points of one tag, one series (or None) for each run; points a restart overwrote do not count."""
    count = len(series)
    last, best = np.full(count, math.nan), np.full(count, math.nan)
    best_step, points, nonfinite = (np.zeros(count, np.int64) for _ in range(3))
    for place, one in enumerate(series):
        if one is None or not len(one.value):
            continue
        kept = one.latest()
        value = kept.value
        points[place], last[place] = len(value), value[-1]
        finite = np.isfinite(value)
        nonfinite[place] = len(value) - int(np.count_nonzero(finite))
        if nonfinite[place] == len(value):
            continue
        comparable = np.where(finite, -value if higher_is_better else value, np.inf)
        at = int(np.argmin(comparable))
        best[place], best_step[place] = value[at], kept.step[at]
    return Metric(tag, higher_is_better, last, best, best_step, points, nonfinite)


def metric_in(table: RunTable, tag: str, higher_is_better: bool) -> Metric:
    """The same of every run of a log, in its order; runs without the tag have no points.

    Raises:
        KeyError: no run has had it.
    """
    curves = table.curves(table.tag_number(tag))
    series: list[Series | None] = [None] * len(table.runs)
    for place, run in enumerate(curves.runs.tolist()):
        own = curves.of(place)
        series[run] = Series(tag, curves.step[own], curves.wall_time[own], curves.value[own])
    return metric_of(tag, series, higher_is_better)


@dataclass(frozen=True)
class Comparison:
    """Runs by what they were given. Every sequence has one entry for each run, in the log's order."""

    runs: tuple[str, ...]
    groups: tuple[str, ...]
    parameters: Mapping[str, tuple[Any, ...]]
    """By name; None where a run has no such parameter."""
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the tracker says of each run (status, user, data version …); "" where it says nothing."""
    units: tuple[str, ...] = ()
    left_out: int = 0
    """How many parameters, those the fewest runs have, were too many."""

    @classmethod
    def of(cls, runs: Sequence[Mapping[str, Any]]) -> Comparison:
        """Takes runs as the index of a log lists them: "run", "group", "unit", "parameters", "notes"."""
        most = max(1, min(MOST_NAMES, _MOST_CELLS // max(1, len(runs))))
        parameters, left_out = _columns(runs, "parameters", None, most)
        notes, _ = _columns(runs, "notes", "", most)
        return cls(
            tuple(str(run["run"]) for run in runs),
            tuple(str(run.get("group") or "") for run in runs),
            {name: _with_numbers(values) for name, values in sorted(parameters.items())},
            {name: tuple(map(str, texts)) for name, texts in notes.items()},
            tuple(str(run.get("unit") or "step") for run in runs),
            left_out,
        )

    @functools.cached_property
    def varying(self) -> tuple[str, ...]:
        """Parameters in which runs differ; having none is a difference too."""
        return tuple(name for name, values in self.parameters.items() if len({repr(one) for one in values}) > 1)

    def take(self, places: Sequence[int]) -> Comparison:
        """Only some runs, in the order given."""

        def chosen(values: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(values[place] for place in places)

        return Comparison(
            chosen(self.runs),
            chosen(self.groups),
            {name: chosen(values) for name, values in self.parameters.items()},
            {name: chosen(texts) for name, texts in self.notes.items()},
            chosen(self.units) if self.units else (),
            self.left_out,
        )


def _columns(
    runs: Sequence[Mapping[str, Any]], kind: str, none: Any, most: int
) -> tuple[dict[str, tuple[Any, ...]], int]:
    """(values of every run by name, for the names most runs have; how many other names there are)."""
    uses: Counter[str] = Counter()
    for run in runs:
        uses.update(map(str, run.get(kind) or {}))
    found: dict[str, list[Any]] = {name: [none] * len(runs) for name, _ in uses.most_common(most)}
    for place, run in enumerate(runs):
        for name, value in (run.get(kind) or {}).items():
            if str(name) in found:
                found[str(name)][place] = value
    return {name: tuple(values) for name, values in found.items()}, max(0, len(uses) - most)


def _with_numbers(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """JSON has NaN and infinities by name only; among numbers they are numbers again."""
    others = {value for value in values if isinstance(value, str)}
    numbers = any(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    if not others or not numbers or not others <= {"nan", "inf", "-inf"}:
        return values
    return tuple(float(value) if isinstance(value, str) else value for value in values)


def take_runs(metric: Metric, places: Sequence[int]) -> Metric:
    """A metric of only some runs, in the order given."""
    at = np.asarray(places, np.intp)
    return Metric(
        metric.tag,
        metric.higher_is_better,
        metric.last[at],
        metric.best[at],
        metric.best_step[at],
        metric.points[at],
        metric.nonfinite[at],
    )


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Names without the folders and files before them ("params.yaml:train.lr" is "lr"), as far as they stay apart."""
    short = {name: name for name in names}
    for marks in (":", "/", "."):
        shorter = {name: text.rsplit(marks, 1)[-1] or text for name, text in short.items()}
        uses: dict[str, int] = {}
        for text in shorter.values():
            uses[text] = uses.get(text, 0) + 1
        # Where a number is all that is left ("layers.0"), the name before it says more.
        short = {
            name: text if uses[text] == 1 and not text.isdigit() else short[name] for name, text in shorter.items()
        }
    return short


def as_csv(
    compared: Comparison, parameters: Sequence[str], metrics: Sequence[Metric], order: Sequence[int] | None = None
) -> str:
    """One row per run: run, group, parameters, then last, best and its step for each metric. Cells never start a formula.

    Absent values are empty cells; NaN and infinities are written by name.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = [f"{kind} {metric.tag}" for metric in metrics for kind in ("last", "best", "best step of")]
    writer.writerow([_cell(name) for name in ("run", "group", *parameters, *heads)])
    for place in range(len(compared.runs)) if order is None else order:
        row: list[Any] = [compared.runs[place], compared.groups[place]]
        row += [compared.parameters[name][place] for name in parameters]
        for metric in metrics:
            row += _reached(metric, place)
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def _reached(metric: Metric, place: int) -> list[Any]:
    if not metric.points[place]:
        return [None, None, None]
    last, best = float(metric.last[place]), float(metric.best[place])
    return [last, None, None] if math.isnan(best) else [last, best, int(metric.best_step[place])]


def _cell(value: Any) -> Any:
    """Numbers as they are; a text that a spreadsheet would take for a formula gets an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value

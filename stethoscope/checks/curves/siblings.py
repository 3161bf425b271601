"""Runs that differ in one setting only, and where each value of it ends."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stethoscope.checks.curves.log_shape import shape_of
from stethoscope.checks.curves.shapes import end_level
from stethoscope.checks.findings import Span
from stethoscope.evidence.training import LoggedRun

_OTHER = ("seed", "run", "name", "id", "date", "time", "host", "version")
"""Parts of names of settings that do not change what is learned."""


@dataclass(frozen=True)
class Setting:
    """A hyper-parameter as people name it."""

    names: tuple[str, ...]
    """Last parts of a parameter's name, lower case, with "_"."""
    in_run_name: re.Pattern[str]
    """Finds it in the name of a run; group 1 is the number."""
    like: str
    """Settings whose name contains this belong to it and may differ too, as do those of `names`."""
    whole: bool = False

    def of(self, run: LoggedRun) -> float | None:
        """The value of a run, from its parameters, else from its name; None where neither says."""
        for name, value in run.parameters.items():
            if _short(name) in self.names and isinstance(value, int | float) and not isinstance(value, bool):
                return self._usable(float(value))
        found = self.in_run_name.search(run.run)
        return self._usable(float(found.group(1))) if found else None

    def _usable(self, value: float) -> float | None:
        return value if 0 < value < 1e9 and (not self.whole or value == int(value)) else None


@dataclass(frozen=True)
class Family:
    """Runs that agree in everything they note but one setting."""

    runs: Mapping[float, Sequence[LoggedRun]]
    """By the value of the setting, ascending."""
    levels: Mapping[float, float]
    """Median of where the runs of a value end: validation loss where all have one, else loss; infinity where one broke."""
    measure: str
    start: float
    """Where the losses start, at the highest."""

    @property
    def best(self) -> float:
        """The value whose runs end lowest."""
        return min(self.levels, key=lambda value: self.levels[value])

    def worse(self, fold: float, lost: float) -> list[float]:
        """Values whose level is `fold` times the best one's, and that miss `lost` of what the best gained."""
        best = self.levels[self.best]
        gained = self.start - best
        return [
            value
            for value, level in self.levels.items()
            if math.isinf(level) or (gained > 0 and level > fold * best and level - best >= lost * gained)
        ]

    def spans(self, labels: Mapping[float, str], most: int = 5) -> tuple[Span, ...]:
        """Whole runs to mark, for the values that have a label."""
        return tuple(_span(run, label) for value, label in labels.items() for run in self.runs[value][:most])


def families(runs: Iterable[LoggedRun], setting: Setting) -> list[Family]:
    """The families with at least two values of the setting."""
    found: dict[tuple[Any, ...], dict[float, list[LoggedRun]]] = {}
    for run in runs:
        value = setting.of(run)
        if value is not None and run.curve is not None and (run.curve.loss or run.curve.val_loss):
            found.setdefault(_rest(run, setting), {}).setdefault(value, []).append(run)
    return [_family(dict(sorted(values.items()))) for values in found.values() if len(values) > 1]


def _rest(run: LoggedRun, setting: Setting) -> tuple[Any, ...]:
    """What the runs of a family share."""
    kept = (
        (name, str(value))
        for name, value in run.parameters.items()
        if setting.like not in name.lower()
        and _short(name) not in setting.names
        and not any(part in name.lower() for part in _OTHER)
    )
    named = setting.names if any(_short(name) in setting.names for name in run.parameters) else ()
    rest = "" if named else setting.in_run_name.sub("", run.run)
    tags = tuple(sorted(run.curve.tags.items())) if run.curve is not None else ()
    return run.tracker, rest, tuple(sorted(kept)), tags


def _short(name: str) -> str:
    return re.split(r"[/.]", name.lower())[-1].replace("-", "_").replace(" ", "_")


def _family(runs: Mapping[float, Sequence[LoggedRun]]) -> Family:
    curves = [run.curve for group in runs.values() for run in group if run.curve is not None]
    held = all(curve.val_loss for curve in curves)
    levels = {value: statistics.median(_level(run, held=held) for run in group) for value, group in runs.items()}
    starts = [shape.start for curve in curves if (shape := shape_of(curve)).loss]
    return Family(runs, levels, "validation loss" if held else "loss", max(starts, default=0.0))


def _level(run: LoggedRun, *, held: bool) -> float:
    if run.curve is None:
        return math.inf
    values = run.curve.val_loss if held else (run.curve.loss or run.curve.val_loss)
    broke = bool(values) and not math.isfinite(values[-1])
    level = end_level(values)
    return math.inf if broke or not math.isfinite(level) else level


def _span(run: LoggedRun, label: str) -> Span:
    curve = run.curve
    tags, steps = ({}, (0.0,)) if curve is None else (curve.tags, curve.steps or curve.val_steps or (0.0,))
    return Span(run.run, tags.get("loss", "") or tags.get("val_loss", ""), steps[0], steps[-1], label)

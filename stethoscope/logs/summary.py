"""A run without its points: its tags in a line each (how many points, where it ends, where it was best), how whole its files are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from stethoscope.logs.better import best_is_low
from stethoscope.logs.series import Health, RunLog, Series


@dataclass(frozen=True)
class TagSummary:
    """One tag of one run, without what a restart overwrote."""

    tag: str
    points: int
    written: int
    """Points in the file: more than `points` where a restarted run overwrote some."""
    first_step: int
    last_step: int
    last_value: float
    best_value: float | None
    """None where no value is finite."""
    best_step: int | None
    best: Literal["min", "max"]
    nonfinite: int


@dataclass(frozen=True)
class MediaSummary:
    """One tag of what is no scalar."""

    tag: str
    kind: str
    """As `Media.kind`."""
    points: int


@dataclass(frozen=True)
class HealthSummary:
    """How whole the files of a run are; see `Health`."""

    bad_records: int
    truncated: bool
    truncated_bytes: int
    restarts: int
    restart_steps: tuple[int, ...]
    left_out: tuple[str, ...]
    problem: str
    """What is wrong, in a few words; empty when nothing is."""


@dataclass(frozen=True)
class RunSummary:
    """One run as its tracker kept it. All text is hostile."""

    run: str
    group: str
    tracker: str
    unit: str
    tags: tuple[TagSummary, ...]
    """Those that have points, by name."""
    media: tuple[MediaSummary, ...]
    parameters: Mapping[str, Any]
    notes: Mapping[str, str]
    files: tuple[str, ...]
    health: HealthSummary


def run_summary(run: RunLog, tags: re.Pattern[str] | None = None) -> RunSummary:
    """The summary of a run; with `tags`, only of tags in which that is found."""

    def listed(tag: str) -> bool:
        return tags is None or tags.search(tag) is not None

    return RunSummary(
        run.run,
        run.group,
        run.tracker,
        run.unit,
        tuple(summary_of(one) for _, one in sorted(run.series.items()) if len(one.step) and listed(one.tag)),
        tuple(MediaSummary(one.tag, one.kind, len(one.step)) for one in run.media.values() if listed(one.tag)),
        run.parameters,
        run.notes,
        run.files,
        _health(run.health),
    )


def _health(health: Health) -> HealthSummary:
    return HealthSummary(
        health.bad_records,
        health.truncated_bytes > 0,
        health.truncated_bytes,
        len(health.restarts),
        health.restarts,
        health.left_out,
        health.problem,
    )


def summary_of(series: Series) -> TagSummary:
    """The summary of a tag with at least one point."""
    latest = series.latest()
    finite = np.flatnonzero(np.isfinite(latest.value))
    higher = not best_is_low(series.tag)
    at = None
    if len(finite):
        known = latest.value[finite]
        at = int(finite[int(known.argmax() if higher else known.argmin())])
    return TagSummary(
        tag=series.tag,
        points=len(latest.step),
        written=len(series.step),
        first_step=int(latest.step[0]),
        last_step=int(latest.step[-1]),
        last_value=float(latest.value[-1]),
        best_value=None if at is None else float(latest.value[at]),
        best_step=None if at is None else int(latest.step[at]),
        best="max" if higher else "min",
        nonfinite=int(len(latest.value) - len(finite)),
    )

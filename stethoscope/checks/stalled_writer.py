"""The writer stalled or lost points.

Why: points that are missing, or long silence between two of them, mean that the training stood still or that the log is not
whole. Curves drawn over the gap pretend that nothing happened.
Example: epochs 9 to 18 are not in the table; nothing is written for an hour where an epoch takes a minute.
Fix: look at the machine at that time (data loading, disk, another job), and at how the log is written and flushed.
Limits: compares with the usual distance of the run's own points; pauses below five seconds are not named. Whether a run still
lives is asked only of trackers that say so.
Source: SageMaker Debugger, rule StalledTrainingRule (no step for a time); thresholds in multiples of the run's own pace: ours.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import losses_of, span
from stethoscope.checks.findings import Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.curves import CurveEvidence

_LEAST_POINTS = 6
_MISSING = 4.0
"""Usual distances of steps in a hole."""
_SILENT = 6.0
"""Usual times between points in a pause …"""
_LEAST_S = 5.0
"""… which lasts at least so many seconds."""
_LEAST_DEAD_S, _DEAD = 300.0, 10.0
"""Silence of a run that is said to be running: at least so long, and so many times its longest pause."""
_LARGE_SHARE = 0.15
"""Share of the whole run's time, from which a pause matters even to a log of many points."""
_REGULAR = 0.8
"""Share of the distances that equal the usual one in a log with a rhythm."""


@dataclass(frozen=True)
class _Gap:
    after: float
    before: float
    size: float
    usual: float


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    curve = evidence.logs
    if curve is None or len(curve.steps) < _LEAST_POINTS:
        return
    holes, pauses = _holes(curve), _pauses(curve)
    if holes:
        worst = max(holes, key=lambda gap: gap.size)
        said = (
            f"Nothing is written between {curve.unit} {worst.after:,.0f} and {worst.before:,.0f}, where a point comes every "
            f"{worst.usual:g}"
        )
        item = Number("usual distances in the gap", worst.size / worst.usual, threshold=_MISSING)
    elif pauses:
        worst = max(pauses, key=lambda gap: gap.size)
        said = (
            f"Nothing is written for {_duration(worst.size)} between {curve.unit} {worst.after:,.0f} and {worst.before:,.0f}, where "
            f"a point usually takes {_duration(worst.usual)}"
        )
        item = Number("usual times in the pause", worst.size / worst.usual, threshold=_SILENT)
    else:
        yield from _ended(curve)
        return
    found = holes or pauses
    more = f" ({len(found)} such gaps)" if len(found) > 1 else ""
    yield Finding(
        fault=Fault.SPEED,
        severity=Severity.MEDIUM,
        confidence=0.7,
        where="fit",
        message=f"{said}{more}: {'points are lost' if holes else 'the training or its writer stood still'}.",
        evidence=(losses_of(curve, Mark(worst.after, "last before"), Mark(worst.before, "first after")), item),
        fix=Advice(
            text="Look at what the machine did then (loading data, disk, memory, another job) and flush the log after every epoch."
        ),
        marks=tuple(
            mark for gap in found[:20] for mark in span(curve, "loss", gap.after, "nothing written", gap.before)
        ),
    )


def _holes(curve: CurveEvidence) -> list[_Gap]:
    """Where steps are missing in a log that otherwise has a rhythm."""
    distances = [after - before for before, after in itertools.pairwise(curve.steps)]
    usual = statistics.median(distances)
    if usual <= 0 or sum(distance == usual for distance in distances) < _REGULAR * len(distances):
        return []
    return [
        _Gap(before, after, after - before, usual)
        for before, after in itertools.pairwise(curve.steps)
        if after - before >= _MISSING * usual
    ]


def _pauses(curve: CurveEvidence) -> list[_Gap]:
    """Where far more time passes between two points than between others."""
    if len(curve.wall_time) != len(curve.steps):
        return []
    times = [after - before for before, after in itertools.pairwise(curve.wall_time)]
    # A run that was begun anew jumps in time between its files; that is not its pace.
    usual = statistics.median(times)
    typical = max(usual, statistics.fmean(sorted(times)[: max(1, int(0.9 * len(times)))]))
    whole = curve.wall_time[-1] - curve.wall_time[0]
    anew = {restart.step for restart in curve.restarts}
    return [
        _Gap(curve.steps[at], curve.steps[at + 1], time, typical)
        for at, time in enumerate(times)
        if time >= max(_LEAST_S, _SILENT * typical)
        and (time >= _LARGE_SHARE * whole or len(times) < 200)
        and curve.steps[at + 1] not in anew
    ]


def _ended(curve: CurveEvidence) -> Iterator[Finding]:
    """A loss that ends while validation goes on, and a run that is said to be running and is silent."""
    last, other = curve.steps[-1], curve.val_steps[-1] if curve.val_steps else curve.steps[-1]
    usual = max(_usual(curve.steps), _usual(curve.val_steps))
    times = [after - before for before, after in itertools.pairwise(curve.wall_time)]
    if (
        usual > 0
        and _apart_in_time(curve)
        and abs(last - other) >= max(_MISSING * usual, _LARGE_SHARE * (max(last, other) - curve.steps[0]))
    ):
        first, then = ("training", "validation") if last < other else ("validation", "training")
        said = f"The {first} loss ends at {curve.unit} {min(last, other):,.0f}, and that of {then} at {max(last, other):,.0f}"
        item = Number(f"{curve.unit}s that are missing", abs(last - other), threshold=_MISSING * usual)
    elif curve.silent_s is not None and times and curve.silent_s >= max(_LEAST_DEAD_S, _DEAD * max(times)):
        silence, longest = curve.silent_s, max(times)
        said = f"The run is said to be running, but wrote nothing for {_duration(silence)}; its longest pause was {_duration(longest)}"
        item = Number("silence over the longest pause", silence / max(longest, 1e-3), threshold=_DEAD)
    else:
        return
    at = min(last, other)
    yield Finding(
        fault=Fault.SPEED,
        severity=Severity.MEDIUM,
        confidence=0.6,
        where="fit",
        message=f"{said}: the writer or the training stopped.",
        evidence=(losses_of(curve, Mark(at, "ends")), item),
        fix=Advice(
            text="Look whether the process still lives and what it printed last; flush the log after every epoch."
        ),
        marks=span(curve, "loss", at, "ends", max(last, other)),
    )


def _apart_in_time(curve: CurveEvidence) -> bool:
    """Whether one of the losses was written clearly longer; without times, epochs count alike and batches do not."""
    if not curve.wall_time or not curve.val_wall_time:
        return curve.unit == "epoch"
    apart = abs(curve.wall_time[-1] - curve.val_wall_time[-1])
    begun = min(curve.wall_time[0], curve.val_wall_time[0])
    return apart >= _LARGE_SHARE * (max(curve.wall_time[-1], curve.val_wall_time[-1]) - begun) > 0


def _usual(steps: Sequence[float]) -> float:
    return statistics.median([after - before for before, after in itertools.pairwise(steps)]) if len(steps) > 1 else 0.0


def _duration(seconds: float) -> str:
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} hours"
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.2g} seconds"


CHECK = Check(needs=frozenset({Evidence.LOGS}), run=_run)

"""Judge training logs by themselves: what every run holds, and what is wrong with the trainings.

Judges a log by itself: every check that needs nothing else, over each run and across all of them.

Every run of whatever logs are there, and what they are beside each other.
"""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from stethoscope.checks import all_checks
from stethoscope.checks.check import Check
from stethoscope.checks.findings import Finding, Outcome
from stethoscope.checks.judging.examination import examine, ranked
from stethoscope.codec import SCHEMA_VERSION
from stethoscope.errors import BadInput
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.training import LoggedRun, RunsEvidence, SharedPoints
from stethoscope.logs import all_trackers, no_logs
from stethoscope.logs.as_curve import curve_of
from stethoscope.logs.better import RunSummary, run_summary
from stethoscope.logs.curves import CurveEvidence
from stethoscope.logs.runs.export import write_points
from stethoscope.logs.series import RunLog, Series
from stethoscope.logs.walk import log_place, walked_once
from stethoscope.task import TaskContext
from stethoscope.types import Status

MAX_EXAMINED = 1_000
"""Runs whose curves are judged one by one."""
EXAMINE_S = 60.0
"""Seconds after which no further run is begun."""


@dataclass(frozen=True)
class LogReport:
    """What a log holds and what is wrong with the trainings in it: the `curves` shape of the command line."""

    runs: tuple[RunSummary, ...]
    findings: tuple[Finding, ...]
    """Most severe first."""
    outcomes: tuple[Outcome, ...]
    """One per check; where it broke on some run, the reason names the run."""
    examined: int
    """Runs judged one by one: all of them unless there are too many; the newest come first."""
    left_out: str = ""
    """Which runs were not judged, and why; empty when all were."""
    schema_version: int = SCHEMA_VERSION


def checks_of_logs() -> tuple[tuple[Check, ...], tuple[Check, ...]]:
    """(those that judge one run, those that compare runs): all that need no evidence but a log."""
    alone = [
        check
        for check in all_checks().values()
        if check.needs <= {Evidence.LOGS} and (Evidence.LOGS in check.needs | check.needs_any)
    ]
    across = [check for check in all_checks().values() if check.needs == {Evidence.RUNS}]
    return tuple(alone), tuple(across)


def examine_runs(
    runs: Sequence[RunLog],
    say: Callable[[float, str], None] = lambda fraction, message: None,
    seconds: float = EXAMINE_S,
    tags: re.Pattern[str] | None = None,
) -> LogReport:
    """Runs every check that a log alone can answer.

    Args:
        runs: oldest first. The newest are judged first, should there be too many.
        say: told the share that is done and what is done now.
        seconds: after these no further run is begun.
        tags: only tags in which this is found are listed; all are judged.
    """
    alone, across = checks_of_logs()
    outcomes = {check.id: Outcome(check.id, Status.SKIPPED, reason="No run has a loss or a metric.") for check in alone}
    curves: dict[str, CurveEvidence] = {}
    findings: list[Finding] = []
    start, examined = time.monotonic(), 0
    for number, run in enumerate(reversed(runs)):
        curve = curve_of(run)
        if curve is None:
            continue
        curves[run.run] = curve.overview
        if examined >= MAX_EXAMINED or time.monotonic() - start > seconds:
            continue
        say(number / len(runs), f"judging {run.run}")
        found = examine(EvidenceSet(logs=curve), alone)
        findings += [replace(one, run=run.run) for one in ranked([item for one in found for item in one.findings])]
        for outcome in found:
            outcomes[outcome.check_id] = _worse(outcomes[outcome.check_id], outcome, run.run)
        examined += 1
    copies = Copies()
    seen = [logged_run(run, curves.get(run.run), copies.add(run, curves.get(run.run))) for run in runs]
    compared = examine(EvidenceSet(runs=RunsEvidence(tuple(seen))), across)
    for across_runs in ranked([item for one in compared for item in one.findings]):
        # What comparing runs says of one of them may be the cause of what that run shows alone.
        own = [one for one in findings if across_runs.run and one.run == across_runs.run]
        findings = [one for one in findings if one not in own]
        findings += [replace(one, run=across_runs.run) for one in ranked([across_runs, *own])]
    findings.sort(key=lambda one: (-one.severity, -one.confidence))
    left_out = (
        ""
        if examined == len(curves)
        else f"{len(curves) - examined:,} older of {len(curves):,} runs were not judged one by one."
    )
    every = (*outcomes.values(), *(Outcome(one.check_id, one.status, reason=one.reason) for one in compared))
    listed = tuple(run_summary(run, tags) for run in runs)
    return LogReport(listed, tuple(finding.rounded for finding in findings), every, examined, left_out)


def _worse(known: Outcome, new: Outcome, run: str) -> Outcome:
    """What a check came to over several runs: broken where it broke once, else run where it ran once."""
    if known.status is Status.FAILED:
        return known
    if new.status is Status.FAILED:
        return Outcome(new.check_id, Status.FAILED, reason=f"On {run}: {new.reason}")
    return Outcome(new.check_id, Status.OK) if Status.OK in (known.status, new.status) else new


_KEY_POINTS = 3
"""Runs are compared point by point where this many first points agree."""
_LEAST_VALUES = 3
"""A curve with fewer different values says nothing about where it came from."""
_FEWEST = 3


def gather_runs(place: Path, name: str = "") -> tuple[RunLog, ...]:
    """Reads every run that any tracker finds in a folder or file; names are made unique.

    Raises:
        UnreadableFile: no known kind of log is there.
    """
    found: list[RunLog] = []
    with walked_once(place):
        for tracker in all_trackers().values():
            if tracker.sniff(place):
                found.extend(tracker.read(place))
    if not found:
        raise no_logs(name or place.name)
    return tuple(_renamed(found))


def _renamed(runs: Sequence[RunLog]) -> Iterator[RunLog]:
    taken: set[str] = set()
    for run in runs:
        name, number = run.run, 2
        while name in taken:
            name = f"{run.run} ({run.tracker}{'' if number == 2 else f' {number - 1}'})"
            number += 1
        taken.add(name)
        yield run if name == run.run else replace(run, run=name)


def logged_run(run: RunLog, curve: CurveEvidence | None, shared: tuple[SharedPoints, ...] = ()) -> LoggedRun:
    """A run as checks across runs see it; `curve` is its overview."""
    times = [time for one in run.series.values() for time in _ends(one)]
    return LoggedRun(
        run=run.run,
        group=run.group,
        tracker=run.tracker,
        unit=run.unit,
        parameters=dict(run.parameters),
        curve=curve,
        points=sum(len(one.step) for one in run.series.values()),
        shared=shared,
        first_wall=min(times, default=None),
        last_wall=max(times, default=None),
    )


def _ends(series: Series) -> list[float]:
    known = series.wall_time[np.isfinite(series.wall_time)]
    return [float(known.min()), float(known.max())] if len(known) else []


class Copies:
    """Finds runs whose losses and metrics are those of an earlier run."""

    def __init__(self) -> None:
        self._seen: dict[str, list[tuple[str, dict[str, Series]]]] = {}

    def add(self, run: RunLog, curve: CurveEvidence | None) -> tuple[SharedPoints, ...]:
        """What the run shares with the runs added before it: at most one of them, the one it shares most with."""
        tags = {} if curve is None else {role: tag for role, tag in curve.tags.items() if role != "learning_rate"}
        own = {tag: run.series[tag].latest() for tag in tags.values()}
        own = {tag: one for tag, one in own.items() if _tells(one)}
        if not own:
            return ()
        key = _key(own)
        earlier = self._seen.setdefault(key, [])
        found = [shared for name, other in earlier if (shared := _shared(name, other, own)) is not None]
        earlier.append((run.run, own))
        return tuple(sorted(found, key=lambda one: (one.whole, one.points), reverse=True)[:1])


def _tells(series: Series) -> bool:
    finite = series.value[np.isfinite(series.value)]
    return len(finite) >= _FEWEST and len(np.unique(finite[:1000])) >= _LEAST_VALUES


def _key(own: dict[str, Series]) -> str:
    digest = hashlib.sha256()
    for tag in sorted(own):
        digest.update(tag.encode() + own[tag].value[:_KEY_POINTS].tobytes())
    return digest.hexdigest()


def _shared(name: str, other: dict[str, Series], own: dict[str, Series]) -> SharedPoints | None:
    common: list[str] = []
    fewest, whole = 0, True
    for tag in sorted(own):
        one, two = own[tag].value, other[tag].value
        points = min(len(one), len(two))
        # NaN differs from itself; as bytes it does not.
        apart = np.flatnonzero(one[:points].view(np.int64) != two[:points].view(np.int64))
        equal = int(apart[0]) if len(apart) else points
        whole &= equal == len(one) == len(two)
        fewest = equal if not common else min(fewest, equal)
        common.append(tag)
    return SharedPoints(name, tuple(common), fewest, whole) if fewest >= _FEWEST else None


ENOUGH_POINTS = 5
"""Fewer do not show how a training goes: such a run has only begun, or was started by mistake."""


def gather_logs(place: Path, name: str = "") -> CurveEvidence:
    """Reads the logs in a folder, or one log file; returns the run to diagnose.

    The newest run whose training loss has `ENOUGH_POINTS` or went wrong is chosen; where none has, the one with most.
    Among trackers that logged it, the one with validation and most points.

    Raises:
        UnreadableFile: no known kind of log is there.
    """
    found: list[CurveEvidence] = []
    newest: list[CurveEvidence] = []
    with walked_once(place):
        for tracker in all_trackers().values():
            if tracker.sniff(place):
                runs = [curve for run in tracker.read(place) if (curve := curve_of(run)) is not None]
                found.extend(runs)
                newest.extend(_newest([run for run in runs if run.loss]))
    if not found:
        raise no_logs(name or place.name)
    return max(newest or found, key=lambda run: (bool(run.loss), bool(run.val_loss), len(run.steps)))


def _newest(runs: Sequence[CurveEvidence]) -> list[CurveEvidence]:
    """The last of the runs that tells something, of runs in the order they began; none of none."""
    telling = [run for run in runs if len(run.loss) >= ENOUGH_POINTS or not all(map(math.isfinite, run.loss))]
    return telling[-1:] or sorted(runs, key=lambda run: len(run.loss))[-1:]


class ExamineRuns:
    """Files: "logs", a folder, an archive or one file. params: {"runs", "tags": regular expressions, "points": bool}."""

    kind = "examine_runs"
    answer = LogReport

    def run(self, context: TaskContext) -> LogReport:
        """Judges every run; with "points" every point lies in points.csv beside the answer."""
        file = context.files["logs"]
        context.report("read", message=f"reading {file.name}")
        found = gather_runs(log_place(file, context.folder), file.name)
        names, tags = (_pattern(context.params.get(key)) for key in ("runs", "tags"))
        runs = [run for run in found if names.search(run.run)]
        report = examine_runs(runs, lambda fraction, message: context.report("judge", fraction, message), tags=tags)
        if context.params.get("points"):
            context.report("points", message="writing every point")
            out = context.folder / "out"
            out.mkdir(exist_ok=True)
            with (out / "points.csv").open("w", encoding="utf-8", newline="") as stream:
                write_points(runs, stream, tags)
        return report


def _pattern(text: Any) -> re.Pattern[str]:
    try:
        return re.compile(str(text or ""))
    except re.error as error:
        raise BadInput(f"Filter {text!r}: expected a regular expression, got an error: {error}. Correct it.") from error


TASK = ExamineRuns()

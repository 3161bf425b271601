"""Judges a log by itself: every check that needs nothing else, over each run and across all of them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from stethoscope.checks import all_checks
from stethoscope.checks.check import Check
from stethoscope.checks.judging.causes import ranked
from stethoscope.checks.judging.examination import examine
from stethoscope.checks.judging.findings import Finding, Outcome
from stethoscope.codec import SCHEMA_VERSION
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.runs import RunsEvidence
from stethoscope.logs.as_curve import curve_of
from stethoscope.logs.evidence.curves import CurveEvidence
from stethoscope.logs.series import RunLog
from stethoscope.logs.summary import RunSummary, run_summary
from stethoscope.training.gathering.runs import Copies, logged_run
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
    findings += ranked([item for one in compared for item in one.findings])
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

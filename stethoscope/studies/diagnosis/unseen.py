"""What a diagnosis could not look at: page, command line and report ask here, so that silence is not taken for health."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stethoscope.checks.judging.findings import Outcome
from stethoscope.studies.diagnosis.report import Report, StageReport
from stethoscope.types import Status

_TRIES_FIXES = "prove"
"""The stage that looks at nothing, but tries what was found."""


@dataclass(frozen=True)
class LeftOut:
    """What was left out for one reason."""

    reason: str
    names: tuple[str, ...]
    """Titles of stages, or ids of checks, in their order."""


@dataclass(frozen=True)
class Unseen:
    """What a diagnosis did not come to, and why."""

    stages: tuple[StageReport, ...]
    """Those that were skipped or failed: what they would have gathered was not looked at."""
    noted: tuple[LeftOut, ...]
    """Titles of all stages that say why they are not whole, by reason."""
    skipped: tuple[LeftOut, ...]
    """Checks that lacked what they look at, by reason."""
    broken: tuple[Outcome, ...]
    """Checks that ended with an error of their own."""
    not_run: tuple[Outcome, ...]
    """Every check without a whole answer, in order."""
    ran: tuple[str, ...]
    """Ids of the checks that looked."""

    @property
    def skipped_count(self) -> int:
        """How many checks lacked what they look at."""
        return sum(len(one.names) for one in self.skipped)


def unseen(report: Report) -> Unseen:
    """What this diagnosis did not look at so far."""
    outcomes = report.outcomes
    return Unseen(
        stages=tuple(
            stage for stage in report.stages if stage.status in ("skipped", "failed") and stage.id != _TRIES_FIXES
        ),
        noted=_by_reason((stage.reason, stage.title) for stage in report.stages if stage.reason),
        skipped=_by_reason((one.reason, one.check_id) for one in outcomes if one.status is Status.SKIPPED),
        broken=tuple(one for one in outcomes if one.status is Status.FAILED),
        not_run=tuple(one for one in outcomes if one.status is not Status.OK),
        ran=tuple(one.check_id for one in outcomes if one.status is Status.OK),
    )


def _by_reason(pairs: Iterable[tuple[str, str]]) -> tuple[LeftOut, ...]:
    names: dict[str, list[str]] = {}
    for reason, name in pairs:
        names.setdefault(reason, []).append(name)
    return tuple(LeftOut(reason, tuple(those)) for reason, those in names.items())

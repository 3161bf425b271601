"""The answer of a diagnosis, and its JSON: what the command line prints, the pages show and the history keeps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from stethoscope.checks.judging.findings import Finding, Outcome, Severity
from stethoscope.codec import SCHEMA_VERSION, decode, plain
from stethoscope.types import Status

StageStatus = Literal["waiting", "running", "done", "skipped", "failed"]


@dataclass(frozen=True)
class StageReport:
    """Where one stage stands."""

    id: str
    title: str
    status: StageStatus = "waiting"
    reason: str = ""
    """Why it was skipped or failed."""
    progress: str = ""
    fraction: float | None = None
    wall_s: float = 0.0
    job_id: str = ""


@dataclass(frozen=True)
class Report:
    """Findings most severe first, one outcome per check, and what each stage came to."""

    request: Mapping[str, Any]
    findings: tuple[Finding, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    stages: tuple[StageReport, ...] = ()
    status: Status | None = None
    """None while it runs; OK, CANCELLED, FAILED (the model could not even be read) or REFUSED."""
    reason: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Evidence that pages show beside the findings: curves of the short run, baseline scores, the overfit test."""
    created_s: float = 0.0
    wall_s: float = 0.0
    format_id: str = ""

    @property
    def done(self) -> bool:
        """Whether nothing more will come."""
        return self.status is not None

    def at_or_above(self, severity: Severity) -> tuple[Finding, ...]:
        """The findings that severe or worse."""
        return tuple(finding for finding in self.findings if finding.severity >= severity)

    def counts(self) -> dict[str, int]:
        """Number of findings by severity label, most severe first, zeros left out."""
        found = {severity.label: 0 for severity in sorted(Severity, reverse=True)}
        for finding in self.findings:
            found[finding.severity.label] += 1
        return {label: count for label, count in found.items() if count}


def report_to_json(report: Report) -> dict[str, Any]:
    """The `check` shape of the command line."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": None if report.status is None else report.status.value,
        "reason": report.reason,
        "request": plain(report.request),
        "format_id": report.format_id,
        "findings": plain([finding.rounded for finding in report.findings]),
        "outcomes": [
            {"check_id": outcome.check_id, "status": outcome.status.value, "reason": outcome.reason}
            for outcome in report.outcomes
        ],
        "stages": [asdict(stage) for stage in report.stages],
        "facts": plain(report.facts),
        "created_s": report.created_s,
        "wall_s": round(report.wall_s, 3) if math.isfinite(report.wall_s) else 0.0,
    }


def report_from_json(value: Mapping[str, Any]) -> Report:
    """The inverse of `report_to_json`; outcomes come without their findings.

    Raises:
        StethoscopeError, KeyError, ValueError: `value` does not have that shape.
    """
    return Report(
        request=dict(value["request"]),
        findings=decode(tuple[Finding, ...], value["findings"]),
        outcomes=tuple(
            Outcome(str(item["check_id"]), Status(item["status"]), reason=str(item["reason"]))
            for item in value["outcomes"]
        ),
        stages=tuple(decode(StageReport, item) for item in value["stages"]),
        status=None if value["status"] is None else Status(value["status"]),
        reason=str(value["reason"]),
        facts=dict(value["facts"]),
        created_s=float(value["created_s"]),
        wall_s=float(value["wall_s"]),
        format_id=str(value["format_id"]),
    )

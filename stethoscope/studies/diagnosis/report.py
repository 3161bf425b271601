"""What a diagnosis is asked, what it answers and what it could not look at, as types and as their JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from stethoscope.checks.findings import Finding, Outcome, Severity
from stethoscope.codec import SCHEMA_VERSION, decode, plain
from stethoscope.evidence.fit import FitSettings
from stethoscope.evidence.trials import BaselineEvidence
from stethoscope.framework_errors import ShortageReport
from stethoscope.types import ModelFile, Status

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
    shortage: ShortageReport | None = None
    """Where memory ran out for it: what it would have gathered was not looked at."""


@dataclass(frozen=True)
class Report:
    """Findings most severe first, one outcome per check, and what each stage came to."""

    request: Mapping[str, Any]
    findings: tuple[Finding, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    stages: tuple[StageReport, ...] = ()
    status: Status | None = None
    """None while it runs; OK, OUT_OF_MEMORY (of a part; the others were done), CANCELLED, FAILED (the model could not even be
    read) or REFUSED."""
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


def baseline_line(report: Report) -> str:
    """What simple models reach beside the network, in a sentence; "" where none was trained."""
    known = report.facts.get("baseline")
    if not known or not known.get("scores"):
        return ""
    baseline = decode(BaselineEvidence, known)
    said = ", ".join(
        f"{score.model} {score.value:.3g} ({score.low:.3g} … {score.high:.3g})"
        for score in sorted(baseline.scores, key=lambda score: -score.value)
    )
    return f"{baseline.metric} on {baseline.test_rows:,} rows held back, with 95 %: {said}"


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
        "stages": plain(report.stages),
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


@dataclass(frozen=True)
class Request:
    """One model with what its user has of data, logs and knowledge of its training."""

    model: ModelFile
    data: ModelFile | None = None
    preparation: tuple[Mapping[str, Any], ...] = ()
    """Steps that prepare the data, as JSON."""
    data_options: Mapping[str, Any] = field(default_factory=dict)
    """What the user said about the data: {"target": column} …"""
    logs: ModelFile | None = None
    second: ModelFile | None = None
    """Another model, scored on the same rows."""
    fit: FitSettings | None = None
    """How it was trained; None leaves training evidence out, an empty one means: as the file says."""
    prove: bool = False
    only: frozenset[str] = frozenset()
    """Ids of the checks to run; empty for all."""
    trusted: bool = False
    memory_bytes: int = 4 << 30
    """What each job may add to its worker."""
    train_s: float = 10.0
    """Seconds for the short training run and its trials."""
    prove_s: float = 45.0
    owner: str = ""
    entry_id: str = ""
    beside: dict[str, ModelFile] = field(default_factory=dict)
    """Files that belong to the model (external data), by role."""

    @property
    def data_params(self) -> dict[str, Any]:
        """Params of every job that reads the data; empty where nothing was asked."""
        found: dict[str, Any] = {"preparation": list(self.preparation)} if self.preparation else {}
        return found | ({"data_options": dict(self.data_options)} if self.data_options else {})

    def summary(self) -> dict[str, Any]:
        """What was asked, for the report."""
        return {
            "model": self.model.name,
            "data": self.data.name if self.data else None,
            **self.data_params,
            "logs": self.logs.name if self.logs else None,
            "second": self.second.name if self.second else None,
            "fit": None if self.fit is None else self.fit.to_json(),
            "prove": self.prove,
            "only": sorted(self.only),
        }

"""What a training script says beside what its model says: findings about one cause become one card."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from stethoscope.checks.findings import EvidenceItem, Excerpt, Finding, Symptom
from stethoscope.checks.fixes.script_patch import ScriptPatch
from stethoscope.codec import answer_of, plain
from stethoscope.errors import StethoscopeError
from stethoscope.pasted.scripts.rules import all_rules
from stethoscope.studies.diagnosis.report import Report, StageReport
from stethoscope.tasks.read_script import ScriptReport
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status

_BUDGET = Budget(memory_bytes=1 << 30, timeout_s=60)
STAGE = "script"


def job(script: ModelFile) -> Job:
    """The job that reads a script, in a light worker."""
    return Job("read_script", {"script": script}, {}, _BUDGET)


def of_script(name: str, result: JobResult) -> Report:
    """The report about a script alone."""
    empty = Report(
        {"model": None, "data": None, "logs": None, "second": None, "fit": None, "prove": False, "only": []},
        status=result.status,
        reason=result.reason,
        created_s=time.time(),
        wall_s=result.wall_s,
        format_id="script",
    )
    return with_script(empty, name, result)


def with_script(report: Report, name: str, result: JobResult) -> Report:
    """A report with what its script says in it."""
    stage = StageReport(STAGE, "Reading the script", "done", wall_s=result.wall_s)
    request = {**report.request, STAGE: name}
    try:
        said = answer_of(result, ScriptReport) if result.status is Status.OK else None
        reason = result.reason
    except StethoscopeError as error:
        said, reason = None, str(error)
    if said is None:
        stage = replace(stage, status="failed", reason=reason)
        return replace(report, request=request, stages=(*report.stages, stage))
    return replace(
        report,
        request=request,
        findings=together(report.findings, said.findings),
        outcomes=(*report.outcomes, *said.outcomes),
        stages=(*report.stages, replace(stage, reason=" ".join(said.seen.left_out))),
        facts={**report.facts, STAGE: plain(said.seen)},
    )


def together(of_model: Sequence[Finding], of_script: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings of a model and of its script, most severe first, one for each cause."""
    cards = list(of_model)
    rest = []
    for finding in of_script:
        rule = all_rules().get(finding.check_id)
        same = rule.same_as if rule is not None else frozenset()
        place = next((place for place, card in enumerate(cards) if card.check_id in same), None)
        if place is None or (
            cards[place].proof is None and cards[place].severity < finding.severity and _apart(cards[place], finding)
        ):
            rest.append(finding)
        else:
            cards[place] = _joined(cards[place], finding)
    return tuple(sorted([*cards, *rest], key=lambda one: -one.severity))


def _apart(card: Finding, finding: Finding) -> bool:
    """Whether two findings that may have one cause are about different things all the same."""
    return card.fault is not finding.fault


def _joined(card: Finding, finding: Finding) -> Finding:
    more: list[EvidenceItem] = [Symptom(finding.check_id, f"{finding.where}: {finding.message}")]
    more += [item for item in finding.evidence if isinstance(item, Excerpt)]
    if isinstance(finding.fix, ScriptPatch) and finding.fix.diff:
        more.append(Excerpt(f"Patch: {finding.fix.summary}", finding.fix.diff, 1, "diff"))
    severity = card.severity if card.proof is not None else max(card.severity, finding.severity)
    return replace(
        card, severity=severity, confidence=max(card.confidence, finding.confidence), evidence=(*card.evidence, *more)
    )

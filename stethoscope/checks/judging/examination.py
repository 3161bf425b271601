"""Runs checks on evidence, each to an outcome, and puts causes before their symptoms."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from stethoscope.checks import all_checks
from stethoscope.checks.check import Check
from stethoscope.checks.findings import Finding, Outcome, Severity, Symptom
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.types import Status

_log = logging.getLogger(__name__)


def examine(evidence: EvidenceSet, checks: Iterable[Check] | None = None) -> tuple[Outcome, ...]:
    """Returns one outcome per check: OK with its findings, SKIPPED with what is missing, or FAILED with what it had found."""
    chosen = all_checks().values() if checks is None else checks
    return tuple(_one(check, evidence) for check in chosen)


def _one(check: Check, evidence: EvidenceSet) -> Outcome:
    absent = [kind for kind in sorted(check.needs) if not evidence.has(kind)]
    if check.needs_any and not any(evidence.has(kind) for kind in check.needs_any):
        absent += sorted(check.needs_any)
    if absent:
        reasons = [evidence.missing.get(kind, f"no evidence of kind {kind.value}") for kind in absent]
        return Outcome(check.id, Status.SKIPPED, reason=" ".join(dict.fromkeys(reasons)))
    found: list[Finding] = []
    try:
        for finding in check.run(evidence):
            found.append(complete(check, finding))
    except Exception as error:  # noqa: BLE001 - a broken check is an outcome; the others go on
        _log.exception("check %s broke", check.id)
        reason = f"The check broke: {type(error).__name__}: {error}"[:300]
        return Outcome(check.id, Status.FAILED, tuple(found), reason)
    return Outcome(check.id, Status.OK, tuple(found))


def complete(check: Check, finding: Finding) -> Finding:
    """The finding with its check's id, title and source filled in."""
    return replace(
        finding, check_id=check.id, title=finding.title or check.title, source=finding.source or _source(check.page)
    )


def _source(page: str) -> str:
    _, marker, rest = page.partition("Source:")
    return " ".join(rest.split()) if marker else ""


SURE = 0.7
"""Confidence from which a setting is named beside a grave cause too."""


def ranked(findings: Sequence[Finding], checks: Mapping[str, Check] | None = None) -> tuple[Finding, ...]:
    """Folds symptoms into the causes that explain them and returns the rest, most severe and most certain first.

    A finding is folded when a check that lists it in `explains` found something at MEDIUM or above. A symptom explains
    only other symptoms, and a cause is folded only into a graver one. Chains fold into their root. At equal severity
    causes come before symptoms. What explains a bad outcome is as severe as that outcome. A doubtful setting becomes a remark while a cause at HIGH or above stands.
    """
    known = all_checks() if checks is None else checks
    findings = _deferred(findings, known)
    order = sorted(findings, key=lambda finding: _rank(finding, known))
    parent: dict[int, int] = {}
    for index, finding in enumerate(order):
        for other, candidate in enumerate(order):
            if other == index or candidate.severity < Severity.MEDIUM:
                continue
            if finding.check_id in _explained(candidate, other < index, finding, known) and not _leads_to(
                parent, other, index
            ):
                parent[index] = other
                break
    folded: dict[int, list[Symptom]] = {}
    costs: dict[int, Severity] = {}
    for index in parent:
        root = index
        while root in parent:
            root = parent[root]
        finding = order[index]
        folded.setdefault(root, []).append(Symptom(finding.check_id, finding.message))
        if finding.severity >= Severity.HIGH and finding.check_id in known and known[finding.check_id].outcome:
            costs[root] = max(finding.severity, order[root].severity)
    kept = [
        replace(
            finding, severity=costs.get(index, finding.severity), evidence=(*finding.evidence, *folded.get(index, ()))
        )
        for index, finding in enumerate(order)
        if index not in parent
    ]
    return tuple(sorted(kept, key=lambda finding: _rank(finding, known)))


def _deferred(findings: Sequence[Finding], known: Mapping[str, Check]) -> list[Finding]:
    """The findings, doubtful settings lowered to LOW beside a grave cause: what helped a broken program was not its cure."""
    grave = [
        finding.title
        for finding in findings
        if finding.severity >= Severity.HIGH
        and (check := known.get(finding.check_id)) is not None
        and not (check.setting or check.symptom)
    ]
    if not grave:
        return list(findings)
    return [_remark(finding, grave[0]) if _doubtful(finding, known) else finding for finding in findings]


def _doubtful(finding: Finding, known: Mapping[str, Check]) -> bool:
    check = known.get(finding.check_id)
    return check is not None and check.setting and finding.severity == Severity.MEDIUM and finding.confidence < SURE


def _remark(finding: Finding, cause: str) -> Finding:
    message = f"{finding.message} Look again when this is repaired: {cause[:1].lower()}{cause[1:]}."
    return replace(finding, severity=Severity.LOW, message=message)


def _explained(candidate: Finding, graver: bool, finding: Finding, known: Mapping[str, Check]) -> frozenset[str]:
    """What `candidate` may explain, seen from `finding`."""
    check = known.get(candidate.check_id)
    if check is None:
        return frozenset()
    symptom = finding.check_id in known and known[finding.check_id].symptom
    return check.explains if (symptom or (graver and not check.symptom)) else frozenset()


def _rank(finding: Finding, known: Mapping[str, Check]) -> tuple[float, bool, float, str, str]:
    symptom = finding.check_id in known and known[finding.check_id].symptom
    return (-int(finding.severity), symptom, -finding.confidence, finding.check_id, finding.where)


def _leads_to(parent: Mapping[int, int], start: int, goal: int) -> bool:
    while start in parent:
        start = parent[start]
        if start == goal:
            return True
    return start == goal

"""Runs checks on evidence: every check comes to an outcome, whatever happens inside it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace

from stethoscope.checks import all_checks
from stethoscope.checks.check import Check
from stethoscope.checks.judging.findings import Finding, Outcome
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

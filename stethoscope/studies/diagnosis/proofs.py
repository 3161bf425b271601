"""Which fixes are tried, and what a tried fix does to its finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stethoscope.checks.judging.findings import Finding, Proof, Severity

MOST_PROOFS = 5


def to_prove(findings: Sequence[Finding]) -> tuple[int, ...]:
    """Indices of the findings whose fix is tried: the most severe with a fix that training can show, LOW and above."""
    found = [
        index
        for index, finding in enumerate(findings)
        if finding.fix is not None and finding.fix.provable and finding.severity >= Severity.LOW
    ]
    return tuple(found[:MOST_PROOFS])


def fixes_json(findings: Sequence[Finding], chosen: Sequence[int]) -> list[list[dict[str, Any]]]:
    """The fixes in the shape of the prove task's parameters."""
    listed = []
    for index in chosen:
        fix = findings[index].fix
        assert fix is not None
        listed.append([fix.to_json()])
    return listed


def with_proofs(findings: Sequence[Finding], chosen: Sequence[int], proofs: Sequence[Proof]) -> tuple[Finding, ...]:
    """The findings with their proofs. A fix that makes no difference lowers its finding by one step, one that harms by two."""
    changed = list(findings)
    for index, proof in zip(chosen, proofs, strict=False):
        changed[index] = judged(changed[index], proof)
    return tuple(sorted(changed, key=lambda finding: -finding.severity))


def judged(finding: Finding, proof: Proof) -> Finding:
    """One finding with its proof, demoted where the fix did not help; what crashes or is certain by definition keeps its place."""
    steps = {"no_difference": 1, "worse": 2}.get(proof.verdict, 0)
    if not steps or (finding.confidence >= 0.99 and finding.severity is Severity.CRITICAL):
        return replace(finding, proof=proof)
    return replace(
        finding,
        proof=proof,
        severity=finding.severity.lowered(steps),
        confidence=min(finding.confidence, 0.5 if steps == 1 else 0.3),
    )

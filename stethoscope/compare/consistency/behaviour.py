"""From the answer of the consistency job to `BehaviourEvidence`."""

from __future__ import annotations

from stethoscope.compare.consistency.report import ConsistencyReport
from stethoscope.evidence.behaviour import BehaviourEvidence, BehaviourTest


def behaviour_from(report: ConsistencyReport) -> BehaviourEvidence:
    """All tests as evidence."""
    tests = tuple(
        BehaviourTest(
            id=test.id,
            name=test.name,
            passed=test.passed,
            detail=test.detail,
            max_abs_diff=test.max_abs_diff,
            layer=test.layer or "",
            reason=test.reason,
            values=test.values,
            noted=test.noted,
        )
        for test in report.tests
    )
    return BehaviourEvidence(report.consistent, tests, "random input" if report.settings.input == "dummy" else "data")

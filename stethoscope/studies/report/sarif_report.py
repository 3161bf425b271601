"""Findings as SARIF 2.1.0, which code hosts show beside a change.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0.
"""

from __future__ import annotations

import json
from typing import Any

from stethoscope import __version__
from stethoscope.checks import all_checks
from stethoscope.checks.findings import Finding, Severity
from stethoscope.studies.diagnosis.report import Report

_LEVELS = {Severity.CRITICAL: "error", Severity.HIGH: "error", Severity.MEDIUM: "warning"}


def render(report: Report) -> str:
    """Returns the report as SARIF text."""
    rules = sorted({finding.check_id for finding in report.findings})
    value = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "Stethoscope", "version": __version__, "rules": [_rule(rule) for rule in rules]}
                },
                "results": [_result(finding, str(report.request["model"])) for finding in report.findings],
            }
        ],
    }
    return json.dumps(value, indent=2, ensure_ascii=False)


def _rule(check_id: str) -> dict[str, Any]:
    check = all_checks().get(check_id)
    if check is None:
        return {"id": check_id}
    return {"id": check_id, "shortDescription": {"text": check.title}, "fullDescription": {"text": check.page}}


def _result(finding: Finding, model: str) -> dict[str, Any]:
    fix = "" if finding.fix is None else f"\nFix: {finding.fix.summary}\n{finding.fix.code()}"
    return {
        "ruleId": finding.check_id,
        "level": _LEVELS.get(finding.severity, "note"),
        "message": {"text": finding.message + fix},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": model}},
                "logicalLocations": [{"fullyQualifiedName": finding.where}],
            }
        ],
        "properties": {
            "fault": finding.fault.value,
            "severity": finding.severity.label,
            "confidence": finding.confidence,
            "proof": None if finding.proof is None else finding.proof.verdict,
        },
    }

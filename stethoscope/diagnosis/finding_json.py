"""A finding as JSON, as the command line and links have it, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from stethoscope.codec import decode, plain
from stethoscope.findings import EvidenceItem, Fault, Finding, Proof, Severity, Span
from stethoscope.fixes import fix_from_json


def finding_to_json(finding: Finding) -> dict[str, Any]:
    """The `findings` shape of the command line, with a few keys more."""
    proof = finding.proof
    return {
        "check_id": finding.check_id,
        "title": finding.title,
        "fault": finding.fault.value,
        "severity": finding.severity.label,
        "confidence": round(finding.confidence, 3),
        "where": finding.where,
        "message": finding.message,
        "evidence": plain([asdict(item) for item in finding.evidence]),
        "fix": None if finding.fix is None else plain(finding.fix.to_json()),
        "proof": None if proof is None else plain(asdict(proof)),
        "source": finding.source,
        "run": finding.run,
        "marks": plain([asdict(mark) for mark in finding.marks]),
    }


def finding_from_json(value: Mapping[str, Any]) -> Finding:
    """The inverse of `finding_to_json`.

    Raises:
        StethoscopeError, KeyError, ValueError: `value` does not have that shape.
    """
    return Finding(
        check_id=str(value["check_id"]),
        title=str(value["title"]),
        fault=Fault(value["fault"]),
        severity=Severity.named(value["severity"]),
        confidence=float(value["confidence"]),
        where=str(value["where"]),
        message=str(value["message"]),
        evidence=decode(tuple[EvidenceItem, ...], value["evidence"]),
        fix=None if value["fix"] is None else fix_from_json(value["fix"]),
        proof=None if value["proof"] is None else decode(Proof, value["proof"]),
        source=str(value["source"]),
        run=str(value.get("run", "")),
        marks=decode(tuple[Span, ...], value.get("marks", [])),
    )

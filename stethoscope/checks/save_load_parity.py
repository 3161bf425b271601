"""Not the same after saving and loading.

Why: what goes into production is the file, not the object that was trained. A layer whose `get_config` leaves out a
setting, or whose state is no variable, comes back as another layer.
Example: a custom layer with `self.scale` set after building and not in `get_config`.
Fix: return every constructor argument from `get_config`; keep state in `add_weight`.
Source: Keras guide “Save, serialize, and export models”, on custom objects.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Number, Severity, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_TESTS = ("save-reload-outputs", "save-reload-weights")
_SNIPPET = """def get_config(self):
    return {**super().get_config(), "scale": self.scale}  # every argument of __init__"""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    tests = [test for test in (evidence.behaviour.tests if evidence.behaviour else ()) if test.id in _TESTS]
    failed = [test for test in tests if test.passed is False]
    if not failed:
        return
    first = failed[0]
    measured = first.max_abs_diff is not None
    where = next((test.layer for test in failed if test.layer), "model")
    yield Finding(
        fault=Fault.DEPLOYMENT,
        severity=Severity.HIGH if measured else Severity.MEDIUM,
        confidence=0.95 if measured else 0.6,
        where=where,
        message=f"{first.detail} {first.reason}".strip(),
        evidence=(
            Number("largest change", first.max_abs_diff or 0.0, threshold=0.0),
            Table(
                "Saved and loaded again", ("test", "what was seen"), tuple((test.name, test.detail) for test in tests)
            ),
        ),
        fix=Advice(
            text=f"Make {where} return all of its settings from get_config and keep state in add_weight",
            snippet=_SNIPPET,
        ),
    )


CHECK = Check(needs=frozenset({Evidence.BEHAVIOUR}), run=_run)

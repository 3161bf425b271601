"""How much one run has learned, from the short run's skill or from a log's accuracy."""

from __future__ import annotations

from stethoscope.checks.curves.remedies import base_skill
from stethoscope.checks.curves.shapes import finite
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.logs.better import is_share
from stethoscope.logs.evidence.curves import CurveEvidence


def learned_share(evidence: EvidenceSet, found: CurveEvidence) -> float | None:
    """Skill at the end (0 chance, 1 perfect); for a log the rise of its accuracy over the room it had; None when unknown."""
    if found.source == "short run":
        return base_skill(evidence.training) if evidence.training is not None else None
    known = finite(found.metric)
    if not known or not is_share(found.metric_name):
        return None
    if known[-1] >= 0.95:
        return 1.0
    return max(0.0, (known[-1] - known[0]) / max(1e-9, 1.0 - known[0]))

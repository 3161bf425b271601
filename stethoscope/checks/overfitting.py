"""Learned by heart: good on training rows, much worse on others.

Why: with more weights than the rows can pin down, a network learns single rows instead of what they have in common.
Example: accuracy 0.99 in training, 0.65 in validation.
Fix: dropout or a weight penalty; more rows help more than either.
Limits: needs validation data. A validation score at chance is not called overfitting: then the split, the labels or the
preprocessing differ.
Source: SageMaker Debugger, rule Overfit (ratio 0.1); thresholds in skill: ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.curves.pictures import curve
from stethoscope.curves.remedies import GOOD_SKILL
from stethoscope.curves.run_quality import is_accuracy
from stethoscope.curves.shapes import end_level, finite
from stethoscope.evidence.curves import CurveEvidence
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.findings import Fault, Finding, Number, Severity
from stethoscope.fixes.add_regularisation import AddRegularisation

_GAP, _LARGE_GAP = 0.15, 0.3
_CHANCE = 0.05
_LEAST_ROWS = 50
_REGULARISING = ("Dropout", "SpatialDropout", "GaussianDropout", "GaussianNoise", "AlphaDropout", "BatchNormalization")


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    found = [(one, scores) for one in evidence.curves if (scores := _scores(evidence, one)) is not None]
    apart = [(one, train, held) for one, (train, held) in found if train - held >= _GAP and held > _CHANCE]
    if not apart or len(apart) * 2 <= len(found):
        return
    one, train, held = min(apart, key=lambda item: item[1] - item[2])
    rows = evidence.training.val_rows if evidence.training is not None and one.source == "short run" else None
    layers = evidence.architecture.layers if evidence.architecture is not None else ()
    free = not any(layer.type.startswith(_REGULARISING) for layer in layers)
    clear = train >= GOOD_SKILL and train - held >= _LARGE_GAP and free and (rows is None or rows >= _LEAST_ROWS)
    name = "skill" if one.source == "short run" else one.metric_name
    yield Finding(
        check_id=CHECK.id,
        fault=Fault.REGULARISATION,
        severity=Severity.MEDIUM if clear else Severity.LOW,
        confidence=0.5 if clear else 0.35,
        where="fit",
        message=(
            f"{name[:1].upper() + name[1:]} is {train:.2f} on training rows and {held:.2f} on validation rows: part of what "
            "it learned holds only for the rows it has seen."
        ),
        evidence=(curve(one), Number("gap", train - held, threshold=_GAP)),
        fix=AddRegularisation(method="dropout", rate=0.3),
    )


def _scores(evidence: EvidenceSet, found: CurveEvidence) -> tuple[float, float] | None:
    """(training, validation) score at the end of a run, where both are known."""
    if found.source == "short run":
        runs = [run for run in evidence.training.base if f"seed {run.seed}" == found.run] if evidence.training else []
        if not runs or runs[0].final.val_skill is None:
            return None
        return max(0.0, runs[0].final.skill), max(0.0, runs[0].final.val_skill)
    if not is_accuracy(found.metric_name) or len(finite(found.val_metric)) < 2 or not finite(found.metric):
        return None
    return end_level(found.metric), end_level(found.val_metric)


CHECK = Check(
    id="overfitting",
    title="Learned by heart",
    needs=frozenset(),
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    uses=frozenset({Evidence.ARCHITECTURE}),
)

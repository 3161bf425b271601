"""The same prediction for every row.

Why: a network that answers every row alike has learned at most which answer is the most frequent one. Something keeps
the input from reaching the output: dead or saturated layers, a wrong output activation, inputs out of scale, weights gone.
Example: a classifier that says class 3 for all test images; a regression that says the mean.
Fix: the cause; this is what it looks like from outside.
Limits: a network that was never trained may favour one class on all rows, which means nothing.
Source: Karpathy, A Recipe for Training Neural Networks (2019); DeepDiagnosis (ICSE 2022), “output unchanged”.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import SIGMOID
from stethoscope.checks.check import Check
from stethoscope.checks.curves.short_run import learns_nothing, what_blocks, where_blocked
from stethoscope.checks.findings import Bars, Fault, Finding, Number, Severity
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import OutputSummary

_SAME = 1e-6
_FEW_ROWS = 16
_RARE = 0.1


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    seen = evidence.activations
    trained = evidence.weights is not None and evidence.weights.trained is True
    heads = {head.output: head for head in evidence.heads}
    said = False
    for output in seen.outputs if seen is not None and seen.rows >= _FEW_ROWS else ():
        if output.nonfinite or seen is None:
            continue
        real = seen.source == "data"
        head = heads.get(output.name)
        if output.row_std <= _SAME * max(abs(output.minimum), abs(output.maximum), 1e-30):
            if _varies_later(evidence):
                continue
            # Before training a constant may be a start that training leaves: tiny weights, or saturated on raw input.
            sure = real and (trained or learns_nothing(evidence.training))
            severity = Severity.HIGH if sure else Severity.MEDIUM if trained else Severity.LOW
            yield _finding(evidence, output, head, severity, 0.9 if sure else 0.5, _constant(output))
            said = True
        elif real and trained and head is not None and (same := _one_class(output, head)):
            yield _finding(evidence, output, head, Severity.HIGH, 0.8, same)
            said = True
    if not said:
        yield from _after_training(evidence)


def _varies_later(evidence: EvidenceSet) -> bool:
    """Whether predictions differ after the short training run."""
    runs = evidence.training.base if evidence.training is not None else ()
    return any((run.final.distinct_predictions or 0) > 1 for run in runs)


def _constant(output: OutputSummary) -> str:
    value = f"{output.mean:.4g}" if output.shape[-1:] == (1,) or len(output.shape) < 2 else "the same values"
    return f"{output.name} is {value} for every row, whatever the input."


def _one_class(output: OutputSummary, head: Head) -> str:
    """How all rows are predicted alike although the targets differ; "" when they are not."""
    counts = head.target.class_counts if head.target is not None else ()
    if len(counts) < 2 or sum(sorted(counts)[:-1]) / sum(counts) < _RARE:
        return ""
    predicted = [index for index, count in enumerate(output.predicted_class_counts) if count]
    if len(output.predicted_class_counts) > 1 and len(predicted) == 1 and head.task == "multiclass":
        return (
            f"{output.name} predicts class {predicted[0]} for every row, though the targets hold {len(counts)} classes."
        )
    one_sided = output.maximum < 0.5 or output.minimum > 0.5
    if head.task == "binary" and head.units == 1 and head.activation == SIGMOID.name and one_sided:
        side = "no" if output.maximum < 0.5 else "yes"
        return f"{output.name} says {side} to every row ({output.minimum:.3f} to {output.maximum:.3f})."
    return ""


def _after_training(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if training is None or not training.base or any(run.final.distinct_predictions != 1 for run in training.base):
        return
    skill = training.skill_of_score
    if skill > 0.05 or not training.complete:
        return
    learnable = _learnable(evidence)
    yield Finding(
        fault=_fault(evidence),
        severity=Severity.MEDIUM if learnable else Severity.LOW,
        confidence=0.6,
        where=next((head.layer for head in evidence.heads if training.score_output in ("", head.output)), "fit"),
        message=(
            "After the short training run every row gets the same prediction"
            + (
                ", though simple models tell the rows apart."
                if learnable
                else ". Simple models do no better, or were not tried."
            )
        ),
        evidence=(Number("different predictions", 1, threshold=2), Number("skill", skill, threshold=0.05)),
    )


def _learnable(evidence: EvidenceSet) -> bool:
    """Whether a simple model beats the majority class or the mean, so that there is something to learn."""
    baseline = evidence.baseline
    trivial = None if baseline is None else baseline.score("majority class") or baseline.score("mean")
    best = None if baseline is None else baseline.best
    return best is not None and trivial is not None and best.low > trivial.high


def _fault(evidence: EvidenceSet) -> Fault:
    profiles = evidence.data.inputs.values() if evidence.data else ()
    large = any(max(abs(item.minimum or 0.0), abs(item.maximum or 0.0)) > 10 for item in profiles)
    return Fault.PREPROCESSING if large else Fault.ARCHITECTURE


def _finding(
    evidence: EvidenceSet, output: OutputSummary, head: Head | None, severity: Severity, confidence: float, said: str
) -> Finding:
    picture: tuple[Bars | Number, ...] = (Number("spread over rows", output.row_std, threshold=_SAME),)
    if output.predicted_class_counts and len(output.predicted_class_counts) <= 50:
        names = tuple(str(index) for index in range(len(output.predicted_class_counts)))
        counts = tuple(float(count) for count in output.predicted_class_counts)
        picture = (Bars("Predicted classes", "rows", names, counts), *picture)
    return Finding(
        fault=_fault(evidence),
        severity=severity,
        confidence=confidence,
        where=where_blocked(evidence.overfit, head.layer if head is not None and head.layer else output.name),
        message=f"{said} {what_blocks(evidence.overfit)}",
        evidence=picture,
    )


CHECK = Check(
    needs=frozenset({Evidence.ACTIVATIONS}),
    run=_run,
    uses=frozenset(
        {Evidence.ARCHITECTURE, Evidence.DATA, Evidence.WEIGHTS, Evidence.TRAINING, Evidence.BASELINE, Evidence.OVERFIT}
    ),
    explains=frozenset({"worse-than-baseline", "loss-flat", "null-input", "per-class-error"}),
    symptom=True,
)

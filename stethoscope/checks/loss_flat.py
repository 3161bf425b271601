"""The loss does not move.

Why: something keeps the network from learning anything: no gradient reaches the weights, updates are too small, or the
inputs say nothing about the targets.
Example: all units of a ReLU layer dead; a rate of 1e-9; shuffled labels.
Fix: depends on the cause. When another finding explains it, this is evidence under that finding.
Limits: a loss that is flat because training has already arrived is not meant: the skill must be near chance.
Source: AUTOTRAINER (ICSE 2021), SageMaker Debugger, rule LossNotDecreasing (10 steps without a fall).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import curve, losses_of, span
from stethoscope.checks.curves.log_shape import falls_steadily, learned_share, learns_nothing, shape_of
from stethoscope.checks.curves.remedies import NOTHING_LEARNED
from stethoscope.checks.curves.shapes import end_level, finite, is_flat, start_level
from stethoscope.checks.curves.short_run import blocked_fault
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.training import skill_over
from stethoscope.logs.curves import CurveEvidence

_LEAST_POINTS = 10
_MOVES = 0.01
_NEAR_CHANCE = 0.05
_ZERO = 1e-6
_ADVICE = (
    "Train on a handful of rows until they are known by heart. If that works, look at the data: do the inputs say anything "
    "about the targets? If not, look at the layer that blocks, the loss and the last activation."
)


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is not None:
        yield from _of_log(evidence, evidence.logs)
        return
    found = [one for one in evidence.curves if len(finite(one.loss)) >= _LEAST_POINTS]
    if not found or not all(is_flat(one.loss, _MOVES) and finite(one.loss) == list(one.loss) for one in found):
        return
    learned = learned_share(evidence, found[0])
    if learned is not None and learned > NOTHING_LEARNED:
        return
    severity, fault, cause = _cause(evidence, learned)
    start, end = start_level(found[0].loss), end_level(found[0].loss)
    yield Finding(
        fault=fault,
        severity=severity,
        confidence=0.5,
        where="loss",
        message=(
            f"The loss stays at {end:.4g} (it began at {start:.4g}) over {found[0].steps[-1]:,.0f} {found[0].unit}s: nothing "
            f"is learned. {cause}"
        ),
        evidence=(
            curve(found[0]),
            Number("change of the loss", abs(end - start) / (abs(start) or 1.0), threshold=_MOVES),
        ),
        fix=Advice(text=_ADVICE),
    )


def _of_log(evidence: EvidenceSet, curve: CurveEvidence) -> Iterator[Finding]:
    shape = shape_of(curve)
    if len(finite(curve.loss)) < len(curve.loss) or not learns_nothing(shape):
        return
    if falls_steadily(shape) or all(abs(value) < _ZERO for value in shape.loss):
        return
    severity, fault, cause = _cause(evidence, shape.skill)
    if evidence.overfit is None:
        severity = Severity.MEDIUM
    at = shape.points[max(1, len(shape.points) // 10)][0] if shape.fall > _MOVES else shape.points[0][0]
    score = f", and {curve.metric_name} at {end_level(shape.score):.3g}" if shape.score else ""
    yield Finding(
        fault=fault,
        severity=severity,
        confidence=0.6 if shape.skill is not None else 0.5,
        where="loss",
        message=(
            f"The loss stays at {shape.end:.4g}{score} from {curve.unit} {at:,.0f} to {curve.steps[-1]:,.0f} (it began at "
            f"{shape.start:.4g}): nothing is learned. {cause}"
        ),
        evidence=(
            losses_of(curve),
            Number("change of the loss", abs(shape.end - shape.start) / (abs(shape.start) or 1.0), threshold=_MOVES),
        ),
        fix=Advice(text=_ADVICE),
        marks=span(curve, "loss", at, "nothing moves", curve.steps[-1]),
    )


def _cause(evidence: EvidenceSet, learned: float | None) -> tuple[Severity, Fault, str]:
    overfit = evidence.overfit
    if (
        overfit is not None
        and overfit.verdict in ("cannot", "diverges")
        and (overfit.blocked or overfit.verdict == "diverges")
    ):
        layer = overfit.blocking
        where = f": in {layer.path} the {layer.reason}" if layer and layer.reason.startswith("gradient") else ""
        if layer and not where:
            where = f": {layer.path} ({layer.reason})"
        return Severity.HIGH, blocked_fault(overfit), f"It cannot learn even {overfit.samples} rows by heart{where}."
    if overfit is not None and overfit.verdict == "fits":
        severity = Severity.MEDIUM if _beaten(evidence) else Severity.LOW
        return (
            severity,
            Fault.DATA,
            (
                f"It can learn {overfit.samples} rows by heart, so what is missing is a relation between inputs and targets "
                "that it can find."
            ),
        )
    certain = (
        learned is not None and learned <= _NEAR_CHANCE and (evidence.training is None or evidence.training.complete)
    )
    return (
        (Severity.MEDIUM if certain else Severity.LOW),
        Fault.LEARNING_RATE,
        "The cause is not known from the evidence.",
    )


def _beaten(evidence: EvidenceSet) -> bool:
    training, baseline = evidence.training, evidence.baseline
    if training is None or baseline is None or baseline.best is None:
        return False
    if not baseline.scored_as(training.score_name, training.score_output):
        return False
    return skill_over(baseline.best.low, training.chance) > training.skill_of_score + 0.2


CHECK = Check(
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    uses=frozenset({Evidence.OVERFIT, Evidence.BASELINE}),
    explains=frozenset({"loss-slow"}),
    symptom=True,
)

"""The network is too small for the task.

Why: without a hidden layer a network can only draw a straight line through its inputs; with a few units, a simple curve.
Training converges, and what is left of the error stays whatever the settings.
Example: XOR with `Dense(1, activation="sigmoid")` alone: accuracy 0.5 for ever.
Fix: a hidden layer, or more units.
Limits: named when the loss has settled, other settings do not help as much, and a larger network, trained the same way,
ends clearly better on training and validation rows.
Of a log alone it is named where the loss has settled while training and validation scores are equally poor.
Source: Minsky and Papert, Perceptrons (1969); DeepFD (ICSE 2022), layer faults. Thresholds: ours, tuned on the benchmark's
given and dev cases.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import RELU
from stethoscope.checks.check import LITTLE_LEARNED, NOTHING_FITTED, Check
from stethoscope.checks.curves.jumps import jumps
from stethoscope.checks.curves.log_pictures import gain_numbers, gains, losses, losses_of, scores_of, span
from stethoscope.checks.curves.log_shape import LogShape, falls_steadily, learns_nothing, shape_of
from stethoscope.checks.curves.remedies import GOOD_SKILL, LEAST_GAIN, base_skill, best, broke, remedies
from stethoscope.checks.curves.settings import falls_at_the_end
from stethoscope.checks.curves.shapes import end_level
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.fix import Advice
from stethoscope.checks.fixes.layers import AddHiddenLayer
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.curves import CurveEvidence

_CLEARLY_BETTER = 1.25
_UNITS = 32
_POOR = 0.5
"""Skill of a log that has settled below half of what there is to reach."""
_LEAST_POINTS = 8
_TOGETHER = 0.15
_FELL, _LITTLE = 0.02, 0.25
"""Share of the loss that is gone in a log without a score that has learned something, but little."""
_TITLE = "The network does not get far with the task"
_ADVICE = (
    "Train a larger network without penalty and dropout on a few hundred rows. If it cannot learn them, look at the loss and the "
    "last activation; if it learns them only by heart, look at the labels."
)


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if evidence.logs is not None and training is None:
        yield from _of_log(evidence.logs)
        return
    if training is None or base_skill(training) >= GOOD_SKILL or broke(training):
        return
    tried = remedies(training)
    wider = best(tried, "capacity")
    if wider is None:
        return
    rival = max((remedy.gain for remedy in tried if remedy.kind != "capacity" and remedy.substantial), default=0.0)
    if wider.gain < _CLEARLY_BETTER * rival:
        return
    hidden = _hidden_layers(evidence)
    settled = not falls_at_the_end(training)
    shallow = hidden == 0
    sure = settled or shallow
    severity = Severity.HIGH if sure and wider.rescues else Severity.MEDIUM if sure else Severity.LOW
    form = "It has no hidden layer, so it can only weigh its inputs" if shallow else "It has too few units"
    head = next((one.units_layer for one in evidence.heads if one.units_layer), "")
    yield Finding(
        fault=Fault.ARCHITECTURE,
        severity=severity,
        confidence=0.7 if shallow else 0.5,
        where=head or "model",
        message=(
            f"The network is too small for this task. {form}: with {wider.trial.title[:1].lower() + wider.trial.title[1:]} the "
            f"skill is {wider.after:.2f} instead of {wider.before:.2f} (1 is perfect), more than other settings reach."
        ),
        evidence=(losses(training, wider), *gain_numbers(wider, LEAST_GAIN), gains(training, tried)),
        fix=AddHiddenLayer(before=head, units=_UNITS, activation=RELU.name) if head else None,
    )


def _of_log(curve: CurveEvidence) -> Iterator[Finding]:
    shape = shape_of(curve)
    if not _settles_after_some_fall(shape):
        return
    if shape.skill is None:
        yield from _by_loss(curve, shape)
        return
    if max(shape.skill, shape.val_skill or 0.0) >= _POOR:
        return
    train = end_level(shape.score)
    held = shape.score_pairs[-1].held if shape.score_pairs else None
    if held is not None and abs(train - held) > _TOGETHER:
        return
    at = shape.points[len(shape.points) // 2][0]
    beside = "" if held is None else f", {held:.2f} on validation rows,"
    yield Finding(
        fault=Fault.ARCHITECTURE,
        severity=Severity.MEDIUM,
        confidence=0.5,
        where="model",
        title=_TITLE,
        message=(
            f"The loss has settled at {shape.end:.3g} while {curve.metric_name} is only {train:.2f} on the training rows"
            f"{beside} and nothing more came since {curve.unit} {at:,.0f}: the network is too small or held back (a strong penalty, "
            "much dropout), or the inputs do not tell the labels."
        ),
        evidence=(scores_of(curve), Number("skill on training rows", shape.skill, threshold=_POOR)),
        fix=Advice(text=_ADVICE),
        marks=span(curve, "loss", at, "settled high", curve.steps[-1]),
    )


def _settles_after_some_fall(shape: LogShape) -> bool:
    if len(shape.loss) < _LEAST_POINTS or len(shape.loss) < len(shape.curve.loss) or shape.fall <= 0:
        return False
    if not shape.settled or learns_nothing(shape) or falls_steadily(shape):
        return False
    return not jumps([step for step, _ in shape.points], shape.loss)


def _by_loss(curve: CurveEvidence, shape: LogShape) -> Iterator[Finding]:
    """Without a score: a loss that has fallen by a little only, in training and validation alike."""
    # What is gone within the first epoch is only half in its mean: validation after it tells how far the fall went.
    held = [one.held for one in shape.loss_pairs]
    start = max(shape.loss[0], 2 * shape.loss[0] - held[0]) if held else shape.loss[0]
    gone = (start - shape.end) / start if start > 0 else 1.0
    apart = bool(held) and abs(held[-1] - shape.end) > _TOGETHER * abs(shape.end)
    if not _FELL <= gone < _LITTLE or apart:
        return
    yield Finding(
        fault=Fault.ARCHITECTURE,
        severity=Severity.MEDIUM if held else Severity.LOW,
        confidence=0.4,
        where="model",
        title=_TITLE,
        message=(
            f"The loss settles at {shape.end:.3g} after it has fallen by {gone:.0%} only, on training and validation rows alike: the "
            "network is too small or held back, or the inputs tell little about the targets."
        ),
        evidence=(losses_of(curve), Number("share of the loss that is gone", gone, threshold=_LITTLE)),
        fix=Advice(text=_ADVICE),
        marks=span(curve, "loss", shape.points[len(shape.points) // 2][0], "settled high", curve.steps[-1]),
    )


def _hidden_layers(evidence: EvidenceSet) -> int | None:
    """Layers with weights before the heads; None when the architecture is not known."""
    if evidence.architecture is None:
        return None
    ends = {path for head in evidence.heads for path in (head.layer, head.units_layer)}
    return sum(
        1
        for layer in evidence.architecture.layers
        if layer.parameters and layer.path not in ends and "Normalization" not in layer.type
    )


CHECK = Check(
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    uses=frozenset({Evidence.ARCHITECTURE, Evidence.DATA, Evidence.FIT}),
    explains=LITTLE_LEARNED | NOTHING_FITTED | {"per-class-error"},
    symptom=True,
)

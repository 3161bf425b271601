"""Gradients vanish on their way to the first layers.

Why: the gradient of an early layer is a product over the layers behind it. Sigmoid and tanh contribute factors well below
1, so a deep stack of them leaves the first layers with next to nothing to learn from.
Example: six `Dense(32, activation="sigmoid")` layers in a row.
Fix: ReLU in the hidden layers, when the training with ReLU really ends better.
Limits: gradients also become small when a network has learned everything, so nothing is said about good networks.
Source: Glorot and Bengio (AISTATS 2010); thresholds 1e-3 between layers and 1e-7 absolute: AUTOTRAINER (ICSE 2021) and
SageMaker Debugger, rule VanishingGradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stethoscope.architecture.activations import RELU
from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.curves.log_pictures import by_layer, gain_numbers
from stethoscope.checks.curves.remedies import AS_GOOD, GOOD_SKILL, LEAST_GAIN, Remedy, base_skill, best, remedies
from stethoscope.checks.curves.short_run import kernel_layers, learns_nothing, squashing_hidden
from stethoscope.checks.findings import EvidenceItem, Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.combined import Combined
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layers import ReplaceActivation
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.training import LayerTraining
from stethoscope.evidence.trials import GRADIENT_VANISHES, GRADIENT_ZERO, VANISHED, median_norm, weakest_in_run

_WEAKENED = 0.25
"""The most one sigmoid lets through; with ReLU shown to help, this much loss on the way is explanation enough."""


_DEEP = 5
"""Squashing layers in a row through which a gradient of a thousandth is what theory says."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if training is None or base_skill(training) >= GOOD_SKILL:
        return
    layers = kernel_layers(training)
    weakest = weakest_in_run(layers)
    if weakest is None or weakest.reason == GRADIENT_ZERO:
        return  # nothing at all is a blocked path, not one that grows weak
    ratio = weakest.ratio
    squashing = squashing_hidden(evidence)
    vanished = weakest.reason == GRADIENT_VANISHES
    remedy = _relu_helps(remedies(training), vanished=vanished) if squashing else None
    if not vanished and not (remedy and ratio < _WEAKENED):
        return
    severity, confidence = Severity.LOW, 0.4
    if remedy is not None:
        severity, confidence = (Severity.HIGH if remedy.rescues else Severity.MEDIUM), 0.7
    elif len(squashing) >= 2 and base_skill(training) < 0.5 and training.trial("relu-hidden") is None:
        severity, confidence = Severity.MEDIUM, 0.5
    elif len(squashing) >= _DEEP and learns_nothing(training):
        # Nothing else gained either: so deep a stack needs more than one change, or more time than the trial had.
        severity, confidence = Severity.MEDIUM, 0.5
    how = "The cause is not known from the evidence."
    if squashing:
        names = ", ".join(sorted({layer.activation for layer in squashing}))
        how = f"Its {len(squashing)} hidden layer{'s' * (len(squashing) > 1)} with {names} shrink gradients on the way."
    if remedy is not None:
        how += f" With ReLU there the skill is {remedy.after:.2f} instead of {remedy.before:.2f}."
    yield Finding(
        fault=Fault.ACTIVATION,
        severity=severity,
        confidence=confidence,
        where=weakest.layer.path,
        message=f"{weakest.layer.path} gets gradients {1 / ratio if ratio > 0 else float('inf'):,.0f} times smaller than the last layers. {how}",
        evidence=_shown(layers, ratio, remedy),
        fix=_relu(squashing),
    )


def _relu_helps(tried: Sequence[Remedy], *, vanished: bool) -> Remedy | None:
    """The trial with ReLU when it gains most; where gradients have vanished for certain any clear gain will do."""
    remedy = best(tried, "activation")
    if remedy is None and vanished:
        remedy = next((one for one in tried if one.kind == "activation" and one.trial.helps), None)
        remedy = remedy if remedy is not None and remedy.gain >= LEAST_GAIN else None
    rivals = [other.gain for other in tried if other.kind != "activation" and other.substantial]
    return remedy if remedy is not None and remedy.gain >= AS_GOOD * max(rivals, default=0.0) else None


def _relu(layers: Sequence[LayerTraining]) -> Fix | None:
    changes = tuple(
        ReplaceActivation(layer.path, RELU.name, was=layer.activation, layer_type=layer.type) for layer in layers
    )
    return changes[0] if len(changes) == 1 else Combined(changes) if changes else None


def _shown(layers: Sequence[LayerTraining], ratio: float, remedy: Remedy | None) -> tuple[EvidenceItem, ...]:
    norms = [median_norm(layer) for layer in layers]
    items: list[EvidenceItem] = [
        by_layer("Gradient of each layer", "root mean square", layers, norms, Mark(VANISHED * max(norms), "1/1,000")),
        Number("first over last layers", ratio, threshold=VANISHED),
    ]
    return (*items, *gain_numbers(remedy, LEAST_GAIN)) if remedy else tuple(items)


CHECK = Check(
    title="Gradients vanish on the way to the first layers",
    needs=frozenset({Evidence.TRAINING}),
    run=_run,
    uses=frozenset({Evidence.ARCHITECTURE, Evidence.DATA, Evidence.FIT}),
    explains=BADLY_TRAINED | {"fit-small-batch", "null-input", "saturation", "unchanged-weights", "update-ratio"},
    symptom=True,
)

"""Gradients grow until training breaks.

Why: when gradients grow from step to step, each update throws the weights further off, until the loss is huge or NaN.
Example: targets in the millions with mean squared error and plain SGD; deep networks with weights started too large.
Fix: the cause when one is known (rate, scale of the data, initial weights); clipping gradients bounds the damage.
Source: Pascanu, Mikolov and Bengio (ICML 2013), clipping; threshold 70: AUTOTRAINER (ICSE 2021).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import UNSTEADY_LOSS, Check
from stethoscope.checks.curves.log_pictures import by_layer, losses
from stethoscope.checks.curves.remedies import broke
from stethoscope.checks.curves.shapes import finite, runs_away
from stethoscope.checks.curves.short_run import growth, kernel_layers
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.compile_and_fit import ClipGradients, SetLearningRate
from stethoscope.checks.fixes.fix import Fix
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.training import TrainingEvidence
from stethoscope.evidence.trials import median_norm

_RATIO = 70.0


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if training is None:
        return
    harmed = broke(training) or any(runs_away(run.loss) for run in training.base)
    layers = kernel_layers(training)
    if not layers or not harmed:
        return
    worst = max(layers, key=growth)
    ratio = growth(worst)
    if not ratio > _RATIO:
        return
    known = finite(worst.gradient_norm)
    fault, fix, cause = _cause(training)
    yield Finding(
        fault=fault,
        severity=Severity.CRITICAL if broke(training) else Severity.MEDIUM,
        confidence=0.6,
        where=worst.path,
        message=(
            f"The gradient of {worst.path} grows from {known[0]:.3g} to {max(known):.3g} while the loss runs away. {cause}"
        ),
        evidence=(
            losses(training),
            by_layer("Gradient of each layer", "root mean square", layers, [median_norm(layer) for layer in layers]),
            Number("growth of the gradient", ratio, threshold=_RATIO),
        ),
        fix=fix,
    )


def _cause(training: TrainingEvidence) -> tuple[Fault, Fix, str]:
    for name in ("rate-down", "rate-down-100"):
        trial = training.trial(name)
        if trial and trial.value and trial.runs and not any(runs_away(run.loss) for run in trial.runs):
            fix = SetLearningRate(trial.value, was=training.learning_rate, optimizer=training.optimizer)
            return Fault.LEARNING_RATE, fix, f"At a rate of {trial.value:.3g} it does not."
    fix_clip = ClipGradients(norm=1.0, optimizer=training.optimizer, learning_rate=training.learning_rate)
    return Fault.OPTIMIZER, fix_clip, "Why is not known from the evidence; clipping bounds it."


CHECK = Check(
    needs=frozenset({Evidence.TRAINING}),
    run=_run,
    explains=UNSTEADY_LOSS | {"constant-output", "dead-relu", "fit-small-batch", "update-ratio"},
    symptom=True,
)

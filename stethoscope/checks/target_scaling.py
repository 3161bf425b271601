"""Regression targets that are not scaled.

Why: a network starts with outputs around 0. With targets of thousands, squared errors start in the millions: plain
gradient descent diverges, and optimizers that limit their steps (Adam moves a weight by about the learning rate at a
time) need thousands of steps only to reach the targets' size.
Example: house prices of 50,000 to 800,000 with `mse`.
Fix: standardise the targets for training, and scale predictions back.
Thresholds: a root mean square of 100, 30 with an optimizer without adaptive steps (10: noted). HIGH only when the same
training with scaled targets was measured to be much better.
Source: LeCun et al., Efficient BackProp (1998), section 4.3; Kingma and Ba, Adam (2015), section 2.1, on the size of steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from stethoscope.architecture.activations import BOUNDED
from stethoscope.architecture.losses import CLASSIFICATION_LOSSES
from stethoscope.checks.check import LITTLE_LEARNED, NOTHING_FITTED, UNSTEADY_LOSS, WILD_UPDATES, Check
from stethoscope.checks.curves.remedies import judge
from stethoscope.checks.findings import EvidenceItem, Fault, Finding, Histogram, Number, Severity
from stethoscope.checks.fixes.combined import Combined
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.values import ScaleInputs, ScaleTargets
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_BAD, _BAD_PLAIN, _NOTED = 100.0, 30.0, 10.0
_PLAIN = ("sgd",)
_RELATIVE_LOSSES = ("mean_absolute_percentage_error", "mean_squared_logarithmic_error", "poisson")


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        target = head.target
        if head.task != "regression" or target is None or head.loss in CLASSIFICATION_LOSSES:
            continue
        mean, std = target.array.mean, target.array.std
        if mean is None or std is None or head.loss in _RELATIVE_LOSSES:
            continue
        size = math.hypot(mean, std)
        plain = _optimizer(evidence) in _PLAIN
        threshold = _BAD_PLAIN if plain else _BAD
        bounded = head.activation in BOUNDED and size > 1
        bad = size >= threshold
        if size < 3 and not 0 < size < 1e-3:
            continue
        found = judge(evidence.training, "scale-targets", "scale-inputs", bad, noted=size >= _NOTED and not bounded)
        if found is None or (bounded and not found.shown and found.severity < Severity.MEDIUM):
            continue
        low, high = target.array.minimum or 0.0, target.array.maximum or 0.0
        items: tuple[EvidenceItem, ...] = (
            Histogram(
                f"Targets of {head.output}", "target", target.array.histogram_edges, target.array.histogram_counts
            ),
            Number("root mean square of the targets", size, threshold=threshold),
            *found.evidence,
        )
        yield Finding(
            fault=Fault.PREPROCESSING,
            severity=found.severity,
            confidence=found.confidence,
            where=f"target:{head.output}",
            message=(
                f"The targets of {head.output} go from {low:,.4g} to {high:,.4g}, while the model starts around 0. "
                f"{_harm(head, size, plain)}{found.sentence}"
            ).strip(),
            evidence=items,
            fix=_fix(evidence, head, found.trial),
        )


def _optimizer(evidence: EvidenceSet) -> str:
    if evidence.fit is not None and evidence.fit.optimizer:
        return evidence.fit.optimizer.lower()
    compiled = evidence.architecture.compile if evidence.architecture else None
    return (compiled.optimizer or "").lower() if compiled else ""


def _harm(head: Head, size: float, plain: bool) -> str:
    if size < 1:
        return "Errors that small hardly move the weights. "
    if plain:
        return f"Errors of about {size:,.3g} make steps of {_optimizer_name(plain)} that are too large. "
    return f"With {head.loss or 'a squared error'} the loss starts near {_start(head.loss, size):,.3g}. "


def _optimizer_name(plain: bool) -> str:
    return "plain gradient descent" if plain else "the optimizer"


def _start(loss: str, size: float) -> float:
    return size if loss in ("mean_absolute_error", "huber", "log_cosh") else size**2


def _fix(evidence: EvidenceSet, head: Head, trial: str) -> Fix:
    scaled = ScaleTargets(output=head.output if len(evidence.heads) > 1 else "")
    return Combined((ScaleInputs(), scaled)) if trial == "scale-both" else scaled


CHECK = Check(
    title="Regression targets are not scaled",
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.DATA}),
    run=_run,
    uses=frozenset({Evidence.TRAINING, Evidence.FIT}),
    explains=LITTLE_LEARNED
    | UNSTEADY_LOSS
    | WILD_UPDATES
    | NOTHING_FITTED
    | {
        "initial-loss",
        "learning-rate-high",
        "learning-rate-low",
        "optimizer-choice",
        "too-few-epochs",
        "unchanged-weights",
        "underfitting",
    },
)

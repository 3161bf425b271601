"""Weights that are meant to be trained and do not move.

Why: a trainable layer whose weights stay where they started gets no gradient: its units are dead, its output is not used,
or something behind it lets no gradient through.
Example: a branch whose result is multiplied by zero; a ReLU layer started with biases so low that no unit ever fires.
Fix: what keeps the gradient away; a layer that serves nothing can go.
Limits: layers that are frozen on purpose are not meant here.
Source: SageMaker Debugger, rule UnchangedTensor: relative tolerance 1e-5 over at least three steps.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import by_layer
from stethoscope.checks.curves.remedies import GOOD_SKILL, base_skill
from stethoscope.checks.curves.short_run import what_blocks, where_blocked
from stethoscope.checks.findings import Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.training import LayerTraining
from stethoscope.evidence.trials import DEAD, FROZEN, GRADIENT_ZERO, SATURATED, BlockedLayer, gravest_first, median_norm

_TOLERANCE = 1e-5
_LEAST_STEPS = 3
_DEAD = 0.95
_SATURATED = 0.95


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if training is None or not training.base or training.base[0].steps_done < _LEAST_STEPS:
        return
    trained = [
        layer for layer in training.layers if layer.trainable and layer.parameters and layer.relative_change is not None
    ]
    still = [layer for layer in trained if (layer.relative_change or 0.0) < _TOLERANCE]
    if not still:
        return
    skill = base_skill(training)
    names = ", ".join(layer.path for layer in still[:4]) + (" …" if len(still) > 4 else "")
    fault, kind, reason = _reason(still)
    own = gravest_first([BlockedLayer(layer.path, kind) for layer in still])[0].path
    first = where_blocked(evidence.overfit, own)
    if first != own:
        reason += f". {what_blocks(evidence.overfit)}".rstrip(".")
    yield Finding(
        fault=fault,
        severity=Severity.LOW if skill >= GOOD_SKILL else Severity.MEDIUM,
        confidence=0.6,
        where=first,
        message=(
            f"{names} {'is' if len(still) == 1 else 'are'} trainable but did not change in "
            f"{training.base[0].steps_done:,} updates: {reason}."
        ),
        evidence=(
            by_layer(
                "How far weights moved",
                "change over size",
                trained,
                [layer.relative_change or 0.0 for layer in trained],
                Mark(_TOLERANCE, "unchanged"),
            ),
            Number("relative change", max(layer.relative_change or 0.0 for layer in still), threshold=_TOLERANCE),
        ),
        fix=Advice(
            text=f"Look at {first}: the input's influence ends there."
            if first != own
            else (
                f"Find what keeps the gradient from {own}: a later layer that does not use its output, units "
                "that never fire, or an operation without a gradient. Remove the layer if it serves nothing."
            )
        ),
    )


def _reason(still: list[LayerTraining]) -> tuple[Fault, str, str]:
    """(the fault, what blocks in the words of `blocking`, a clause)."""
    if all(layer.dead_fraction and layer.dead_fraction[-1] >= _DEAD for layer in still):
        return Fault.INITIALISATION, DEAD, "none of its units ever fires"
    if all(layer.saturated_fraction and layer.saturated_fraction[-1] >= _SATURATED for layer in still):
        return Fault.ACTIVATION, SATURATED, "its activation is saturated"
    if all(median_norm(layer) == 0 or not layer.gradient_norm for layer in still):
        return Fault.ARCHITECTURE, GRADIENT_ZERO, "no gradient reaches it"
    return Fault.LEARNING_RATE, FROZEN, "its updates are too small to change it"


CHECK = Check(
    title="Trainable weights do not move",
    needs=frozenset({Evidence.TRAINING}),
    run=_run,
    uses=frozenset({Evidence.OVERFIT}),
    explains=frozenset({"loss-flat", "loss-slow"}),
    symptom=True,
)

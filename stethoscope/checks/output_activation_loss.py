"""Output activation and loss do not fit.

Why: a cross-entropy takes the logarithm of a probability. Numbers that are no probabilities (no activation, relu, tanh)
are cut to 0 … 1 first, and no gradient flows where they were cut; rows that do not sum to 1 (sigmoid) are no choice
between classes. Hinge losses want −1 … 1, Poisson wants numbers above 0.
Example: `Dense(10)` without activation and `categorical_crossentropy`: measured 23 % instead of 97 % accuracy. With relu
the loss is NaN at once.
Fix: softmax for one of several classes, sigmoid for yes or no, or `from_logits=True` for an output without activation.
Limits: sigmoid with categorical cross-entropy learns as well as softmax in Keras 3, only its probabilities are wrong:
medium. Silent where the last layers are not known (Lambda, custom layers).
Source: keras.io/api/losses/probabilistic_losses; NeuraLint (TOSEM 2021); measured on Keras 3.15, docs/contract.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import (
    LINEAR,
    NEVER_NEGATIVE,
    PROBABILITIES,
    SIGMOID,
    SOFTMAX,
    SOFTPLUS,
    TANH,
    Trait,
    known,
    named,
)
from stethoscope.architecture.losses import (
    BINARY_LOSSES,
    CATEGORICAL_LOSSES,
    HINGE_LOSSES,
    PROBABILITY_LOSSES,
    REGRESSION_LOSSES,
    SPARSE_LOSSES,
)
from stethoscope.checks.check import BADLY_TRAINED, IDLE_WEIGHTS, UNSTEADY_LOSS, Check
from stethoscope.checks.curves.short_run import learns_nothing
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.layers import ReplaceActivation
from stethoscope.checks.judging.contract import belonging, signed_labels, two_values, weighed
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_LOGITS = named(Trait.LOGITS)


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        if not head.loss or not head.activation or head.softmax_units == 1:
            continue
        found = _clash(head, evidence)
        if found is None:
            continue
        severity, confidence, why, activation = found
        yield Finding(
            fault=Fault.ACTIVATION,
            severity=severity,
            confidence=confidence,
            where=head.layer,
            message=why,
            evidence=(
                Table(
                    "What goes into the loss",
                    ("part", "is", "should be"),
                    (("last activation", head.activation, activation), ("loss", head.loss, head.loss)),
                ),
            ),
            fix=ReplaceActivation(
                head.layer, activation, was=head.activation, layer_type=head.layer_type, units=head.units
            ),
        )


def _clash(head: Head, evidence: EvidenceSet) -> tuple[Severity, float, str, str] | None:
    """(severity, confidence, message, the activation that fits), or None."""
    name, activation = head.layer, "no activation" if head.activation == LINEAR.name else head.activation
    if head.loss in PROBABILITY_LOSSES:
        return _probability_clash(head, evidence, activation)
    if head.loss == "poisson" and known(head.activation) and head.activation not in NEVER_NEGATIVE:
        severity = weighed(Severity.HIGH, evidence, failing=Severity.CRITICAL)
        text = f"{name} ends in {activation}, but the Poisson loss takes its logarithm: one prediction of 0 or less makes the loss NaN. Use exponential or softplus."
        return severity, 0.85, text, SOFTPLUS.name
    if head.loss in HINGE_LOSSES and head.activation in NEVER_NEGATIVE and head.units == 1:
        text = f"{name} ends in {activation}, which never goes below 0, while {head.loss} wants one class at −1 or less. Use tanh or no activation."
        return weighed(Severity.MEDIUM, evidence), 0.75, text, TANH.name
    if head.loss in REGRESSION_LOSSES and head.activation not in PROBABILITIES:
        return _class_clash(head, evidence, activation)
    return None


def _probability_clash(head: Head, evidence: EvidenceSet, activation: str) -> tuple[Severity, float, str, str] | None:
    if head.task == "regression" and head.target is not None and not head.rebuilds:
        return None  # the loss is what is wrong: loss-for-task
    if head.units == 1 and head.loss not in BINARY_LOSSES:
        return None  # one unit and a loss over classes: loss-for-task, output-units
    if head.units == 1 and head.task == "multiclass":
        return None
    wanted = _wanted(head)
    name = head.layer
    if head.from_logits:
        if head.activation in _LOGITS | PROBABILITIES:
            return None
        severity = Severity.HIGH if learns_nothing(evidence.training) else Severity.MEDIUM
        text = f"{name} ends in {activation}, which bends the scores before {head.loss} with from_logits=True turns them into probabilities: some probabilities cannot be reached. Leave the activation out."
        return severity, 0.85, text, LINEAR.name
    if head.activation not in PROBABILITIES:
        severity = weighed(Severity.HIGH, evidence, failing=Severity.CRITICAL)
        text = f"{name} has {activation}, but {head.loss} takes the logarithm of probabilities: values outside 0 … 1 are cut off and pass no gradient. Use {wanted} (or compile with from_logits=True)."
        if head.activation != LINEAR.name:
            text = f"{name} ends in {activation}, which is no probability, but {head.loss} takes its logarithm. Use {wanted}."
        return severity, 0.95, text, wanted
    if (
        head.activation != SOFTMAX.name
        and head.loss in CATEGORICAL_LOSSES | SPARSE_LOSSES
        and head.task != "multilabel"
    ):
        text = f"{name} gives each class a {activation} of its own, but {head.loss} expects probabilities that sum to 1 over the {head.units} classes. Keras trains it like softmax; the probabilities it predicts are wrong. Use softmax."
        return weighed(Severity.MEDIUM, evidence), 0.85, text, SOFTMAX.name
    return None


def _class_clash(head: Head, evidence: EvidenceSet, activation: str) -> tuple[Severity, float, str, str] | None:
    """An output that is no probability, trained on classes with a regression loss."""
    target = head.target
    if target is None or head.rebuilds or signed_labels(head):
        return None
    if head.task == "binary" and head.units == 1:
        if two_values(target) != (0.0, 1.0):
            return None
    elif target.kind not in ("one-hot", "multi-hot") or target.array.shape[-1] != head.units:
        return None
    wanted = belonging(head).activation
    text = f"{head.layer} has {activation} while its targets are classes written as 0 and 1: what it predicts is no probability. Use {wanted}, with a cross-entropy loss."
    return weighed(Severity.MEDIUM, evidence), 0.7, text, wanted


def _wanted(head: Head) -> str:
    if head.loss in BINARY_LOSSES:
        return SOFTMAX.name if head.target is not None and head.target.kind == "one-hot" else SIGMOID.name
    return SOFTMAX.name


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.DATA, Evidence.FIT, Evidence.TRAINING}),
    explains=BADLY_TRAINED
    | UNSTEADY_LOSS
    | IDLE_WEIGHTS
    | {"dead-relu", "exploding-gradient", "fit-small-batch", "initial-loss", "loss-zero", "null-input"},
)

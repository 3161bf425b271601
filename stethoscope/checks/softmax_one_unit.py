"""Softmax over a single unit.

Why: softmax divides each unit by the sum over units. Over one unit that is the constant 1: every prediction is 1, and
nothing the loss says can change it.
Example: `Dense(1, activation="softmax")` with `binary_crossentropy`. With Keras 3 the loss even falls, because its
cross-entropies look behind the softmax, while every prediction stays 1.0.
Fix: `Dense(1, activation="sigmoid")` for yes or no; as many units as classes for softmax; no activation for a number.
Source: stackoverflow.com/questions/45337371; UMLAUT (Schoop et al., CHI 2021).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import LINEAR, SIGMOID, SOFTMAX
from stethoscope.architecture.losses import BINARY_LOSSES, CLASSIFICATION_LOSSES
from stethoscope.checks.check import BADLY_TRAINED, IDLE_WEIGHTS, Check
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layers import ReplaceActivation, ReplaceHead
from stethoscope.checks.judging.contract import belonging, classes_of
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import Evidence, EvidenceSet


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        if head.softmax_units != 1:
            continue
        wanted = ""
        if head.task == "multiclass" and (count := classes_of(head)) > 2:
            wanted = f" The {count} classes need {count} units."
        elif head.task == "regression" and head.target is not None:
            wanted = " A number needs a unit without activation."
        elif head.task == "binary":
            wanted = " Yes or no with one unit needs sigmoid."
        yield Finding(
            fault=Fault.ACTIVATION,
            severity=Severity.CRITICAL,
            confidence=1.0,
            where=head.layer,
            message=f"{head.layer} applies softmax to one unit, so every prediction is 1.0 whatever the input.{wanted}",
            evidence=(Number("units under softmax", 1, threshold=2),),
            fix=_fix(head),
        )


def _fix(head: Head) -> Fix:
    fitting = belonging(head)
    same_loss = head.loss == fitting.loss or (
        fitting.activation == LINEAR.name and head.loss not in CLASSIFICATION_LOSSES
    )
    unclear = head.target is None and head.loss not in BINARY_LOSSES
    if fitting.units == 1 and (same_loss or not head.loss or unclear):
        activation = SIGMOID.name if unclear else fitting.activation
        return ReplaceActivation(head.layer, activation, was=SOFTMAX.name, layer_type=head.layer_type, units=1)
    if head.target is None:
        return ReplaceActivation(head.layer, SIGMOID.name, was=SOFTMAX.name, layer_type=head.layer_type, units=1)
    return ReplaceHead(
        head.units_layer,
        fitting.units,
        fitting.activation,
        fitting.loss,
        was=f"softmax over one unit with {head.loss or 'no loss'}",
        output=head.output,
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.DATA, Evidence.FIT}),
    explains=BADLY_TRAINED
    | IDLE_WEIGHTS
    | {"fit-small-batch", "initial-loss", "loss-diverging", "loss-oscillating", "loss-zero", "null-input"},
)

"""Softmax over a single unit.

Why: softmax divides each unit by the sum over units. Over one unit that is the constant 1: every prediction is 1, and
nothing the loss says can change it.
Example: `Dense(1, activation="softmax")` with `binary_crossentropy`. With Keras 3 the loss even falls, because its
cross-entropies look behind the softmax, while every prediction stays 1.0.
Fix: `Dense(1, activation="sigmoid")` for yes or no; as many units as classes for softmax.
Source: stackoverflow.com/questions/45337371; UMLAUT (Schoop et al., CHI 2021).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.findings import Fault, Finding, Number, Severity
from stethoscope.fixes.replace_activation import ReplaceActivation


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        if "softmax" in head.activations and head.units == 1:
            yield Finding(
                check_id=CHECK.id,
                fault=Fault.ACTIVATION,
                severity=Severity.CRITICAL,
                confidence=1.0,
                where=head.layer,
                message=f"{head.layer} applies softmax to one unit, so every prediction is 1.0 whatever the input.",
                evidence=(Number("units under softmax", 1, threshold=2),),
                fix=ReplaceActivation(head.layer, "sigmoid", was="softmax", layer_type=head.layer_type, units=1),
            )


CHECK = Check(
    id="softmax-one-unit",
    title="Softmax over a single unit",
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.DATA, Evidence.FIT}),
    explains=frozenset(
        {"constant-output", "loss-flat", "loss-slow", "fit-small-batch", "initial-loss", "worse-than-baseline"}
    ),
)

"""from_logits against the activation.

Why: `from_logits=True` says that the output is a raw score and lets the loss apply softmax or sigmoid itself. Behind a
softmax or sigmoid it would be applied twice: probabilities are squeezed together and learning slows down.
Example: `Dense(10, activation="softmax")` with `SparseCategoricalCrossentropy(from_logits=True)`.
Fix: leave `from_logits` out, or leave the activation out, but not both.
Limits: Keras looks behind an activation that comes last and only warns; then training is not harmed, but the two
statements contradict each other, and with any layer between (Reshape, Flatten) it really is applied twice.
Source: keras.io/api/losses/probabilistic_losses; stackoverflow.com/questions/61233425; measured on Keras 3.15.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import PROBABILITIES
from stethoscope.architecture.losses import PROBABILITY_LOSSES
from stethoscope.checks.check import LITTLE_LEARNED, Check
from stethoscope.checks.curves.short_run import learns_nothing
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.compile_and_fit import ReplaceLoss
from stethoscope.evidence.kinds import Evidence, EvidenceSet


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        if not head.from_logits or head.activation not in PROBABILITIES or head.loss not in PROBABILITY_LOSSES:
            continue
        if head.softmax_units == 1:
            continue
        hurt = learns_nothing(evidence.training)
        effect = "It is applied twice" if head.moved else "Keras only warns and undoes one of the two"
        yield Finding(
            fault=Fault.LOSS,
            severity=Severity.HIGH if hurt else Severity.MEDIUM,
            confidence=0.9 if head.moved or hurt else 0.75,
            where="loss",
            message=(
                f"{head.loss} is told that the output is raw (from_logits=True), but {head.layer} already applies "
                f"{head.activation}. {effect}: compile without from_logits, or leave the activation out."
            ),
            evidence=(
                Table(
                    "Said twice",
                    ("part", "says"),
                    ((head.layer, f"activation {head.activation}"), (head.loss, "from_logits=True")),
                ),
            ),
            fix=ReplaceLoss(head.loss, from_logits=False, output=head.output, was=head.loss),
        )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.DATA, Evidence.FIT, Evidence.TRAINING}),
    explains=LITTLE_LEARNED | {"fit-small-batch", "initial-loss", "underfitting"},
)

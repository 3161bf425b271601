"""Softmax over labels that go together.

Why: softmax makes the units share a total of 1, so two labels can never both be near 1. Rows with several ones, or none,
cannot be predicted.
Example: tags of a picture, `Dense(3, activation="softmax")`, targets such as [1, 0, 1]: measured 76 % of the labels
right instead of 99 %.
Fix: sigmoid on every unit, `binary_crossentropy`, and `binary_accuracy` as metric.
Source: keras.io/api/losses/probabilistic_losses; case 38648195 on Stack Overflow; measured, docs/contract.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import SIGMOID, SOFTMAX
from stethoscope.architecture.losses import BINARY_LOSSES
from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.findings import Bars, Fault, Finding, Number, Severity
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layers import ReplaceActivation, ReplaceHead
from stethoscope.checks.judging.contract import weighed
from stethoscope.evidence.kinds import Evidence, EvidenceSet

ALMOST_ONE_HOT = 0.02
"""Labels per row may differ from 1 by this on average before the rows count as multi-label: single broken rows do not."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        target = head.target
        if target is None or target.kind != "multi-hot" or head.task != "multilabel" or head.activation != SOFTMAX.name:
            continue
        if head.units is None or head.units < 2 or target.array.shape[-1] != head.units:
            continue
        most, fewest = target.row_sum_maximum, target.row_sum_minimum
        several = most is None or most > 1
        mean = (target.array.mean or 0.0) * head.units
        if not several and mean > 1 - ALMOST_ONE_HOT:
            continue
        fix: Fix = ReplaceHead(
            head.units_layer,
            head.units,
            SIGMOID.name,
            "binary_crossentropy",
            was=f"softmax with {head.loss}",
            output=head.output,
        )
        if head.loss in BINARY_LOSSES:
            fix = ReplaceActivation(
                head.layer, SIGMOID.name, was=SOFTMAX.name, layer_type=head.layer_type, units=head.units
            )
        span = "any number of ones" if most is None or fewest is None else f"{fewest:g} to {most:g} ones"
        yield Finding(
            fault=Fault.ACTIVATION,
            severity=weighed(Severity.HIGH, evidence),
            confidence=0.95,
            where=head.layer,
            message=(
                f"{head.layer} ends in softmax, whose {head.units} values share a total of 1, but the targets' rows hold {span}: "
                "labels that go together cannot both be predicted. Use sigmoid with binary_crossentropy."
            ),
            evidence=(
                Number("labels per row, mean", mean, threshold=1),
                *(
                    (
                        Bars(
                            "Rows with each label",
                            "rows",
                            tuple(str(i) for i in range(len(target.class_counts))),
                            tuple(float(n) for n in target.class_counts),
                        ),
                    )
                    if 0 < len(target.class_counts) <= 50
                    else ()
                ),
            ),
            fix=fix,
        )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.DATA}),
    run=_run,
    uses=frozenset({Evidence.FIT, Evidence.TRAINING}),
    explains=BADLY_TRAINED | {"fit-small-batch", "initial-loss", "loss-diverging", "loss-oscillating"},
)

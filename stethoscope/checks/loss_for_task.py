"""Loss and task do not fit.

Why: a loss states what is to be learned. Mean squared error treats classes as distances; binary cross-entropy treats
every unit as a yes or no of its own and needs targets from 0 to 1; categorical losses pick one of several classes and
are constant over one unit.
Example: three classes 0, 1, 2 for one sigmoid unit with `binary_crossentropy`: the loss falls below 0 without end.
Fix: one of several classes: softmax and (sparse) categorical cross-entropy; yes or no: sigmoid and binary
cross-entropy; a number: no activation and mean squared error.
Limits: squared error on classes is slow rather than wrong, so medium unless the short run learns nothing. Autoencoders
(targets that rebuild an input) may use any of them.
Source: keras.io/api/losses; NeuraLint (TOSEM 2021); DeepFD (ICSE 2022), fault “loss”; measured, docs/contract.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import SOFTMAX
from stethoscope.checks.check import BADLY_TRAINED, IDLE_WEIGHTS, UNSTEADY_LOSS, Check
from stethoscope.checks.findings import Fault, Finding, Table
from stethoscope.checks.fixes.compile_and_fit import ReplaceLoss
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layers import ReplaceHead
from stethoscope.checks.judging.contract import Belonging, belonging
from stethoscope.checks.judging.loss_clash import loss_clash
from stethoscope.evidence.kinds import Evidence, EvidenceSet


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        clash = loss_clash(head, evidence)
        if clash is None:
            continue
        fitting = belonging(head)
        if clash.classes:
            fitting = Belonging(clash.classes, SOFTMAX.name, "sparse_categorical_crossentropy")
        fix: Fix = ReplaceLoss(clash.loss or fitting.loss, output=head.output, was=head.loss)
        if clash.head:
            fix = ReplaceHead(
                head.units_layer,
                fitting.units,
                fitting.activation,
                fitting.loss,
                was=f"{head.units} {head.activation or 'unknown'} with {head.loss}",
                output=head.output,
            )
        target = head.target
        labels = "not given" if target is None else f"{target.kind}, {target.array.minimum} … {target.array.maximum}"
        yield Finding(
            fault=Fault.LOSS,
            severity=clash.severity,
            confidence=clash.confidence,
            where="loss",
            message=clash.message,
            evidence=(
                Table(
                    f"Task: {head.task}, because {head.task_because}",
                    ("part", "is"),
                    (
                        ("loss", head.loss),
                        ("last activation", head.activation or "unknown"),
                        ("units", head.units),
                        ("targets", labels),
                    ),
                ),
            ),
            fix=fix,
        )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.DATA, Evidence.FIT, Evidence.TRAINING}),
    explains=BADLY_TRAINED
    | UNSTEADY_LOSS
    | IDLE_WEIGHTS
    | {"exploding-gradient", "fit-small-batch", "initial-loss", "label-shape", "loss-zero", "null-input", "saturation"},
)

"""Optimizer that does not get there.

Why: plain gradient descent crawls where the loss is much steeper in some directions than in others; optimizers that scale
each weight's step (Adam) do not. Adadelta at Keras' default rate hardly moves at all.
Example: `optimizer="sgd"` on badly conditioned inputs; `optimizer="adadelta"`.
Fix: Adam at 1e-3.
Limits: named only when Adam helps clearly and no other rate of the own optimizer does about as well.
Source: Kingma and Ba, Adam (ICLR 2015); DeepFD (ICSE 2022), fault “optimizer”. Thresholds: ours, tuned on the benchmark's
given and dev cases.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.curves.settings import wrong_setting
from stethoscope.checks.findings import Fault, Finding
from stethoscope.checks.fixes.compile_and_fit import ReplaceOptimizer
from stethoscope.evidence.kinds import Evidence, EvidenceSet


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    verdict = wrong_setting(evidence, "optimizer")
    if verdict is None:
        return
    training, remedy = verdict.training, verdict.remedy
    rate = remedy.trial.value or 1e-3
    was = f" at {training.learning_rate:.3g}" if training.learning_rate is not None else ""
    yield verdict.finding(
        fault=Fault.OPTIMIZER,
        where="optimizer",
        message=(
            f"{training.optimizer}{was} does not get there in {training.base[0].steps_done:,} updates, and no other rate "
            f"of it does as well: with Adam at {rate:.3g} the skill is {remedy.after:.2f} instead of {remedy.before:.2f} "
            "(1 is perfect)."
        ),
        fix=ReplaceOptimizer(optimizer="Adam", learning_rate=rate, was=training.optimizer),
    )


CHECK = Check(
    needs=frozenset({Evidence.TRAINING}),
    run=_run,
    setting=True,
    uses=frozenset({Evidence.ARCHITECTURE, Evidence.DATA, Evidence.FIT}),
    explains=BADLY_TRAINED
    | {"learning-rate-range", "loss-diverging", "loss-oscillating", "null-input", "update-ratio"},
)

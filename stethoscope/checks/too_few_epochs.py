"""Too few epochs.

Why: training stopped while the network was still getting better at an even pace.
Example: `model.fit(x, y)` without `epochs` trains for one.
Fix: the number of epochs that was tried and helps; best with early stopping on validation data.
Limits: named only when all epochs asked for were run, the loss was still falling at their end, and the same training
continued for longer ends clearly better. Never named when the run was cut short by time.
Source: DeepFD (ICSE 2022), fault “epoch”. Thresholds: ours, tuned on the benchmark's given and dev cases.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.curves.settings import wrong_setting
from stethoscope.checks.findings import Fault, Finding
from stethoscope.checks.fixes.compile_and_fit import SetEpochs
from stethoscope.evidence.kinds import Evidence, EvidenceSet


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    verdict = wrong_setting(evidence, "epochs")
    if verdict is None or verdict.remedy.trial.value is None:
        return
    training, remedy = verdict.training, verdict.remedy
    epochs = max(1, round(verdict.remedy.trial.value))
    asked = training.epochs_asked or 0
    yield verdict.finding(
        fault=Fault.EPOCHS,
        where="fit",
        message=(
            f"{asked} epoch{'' if asked == 1 else 's'} ({training.base[0].steps_done:,} updates) end while the loss is "
            f"still falling: after {epochs} the skill is {remedy.after:.2f} instead of {remedy.before:.2f} (1 is perfect)."
        ),
        fix=SetEpochs(epochs=epochs, was=asked),
    )


CHECK = Check(
    needs=frozenset({Evidence.TRAINING}),
    run=_run,
    setting=True,
    uses=frozenset({Evidence.ARCHITECTURE, Evidence.DATA, Evidence.FIT}),
    explains=BADLY_TRAINED | {"null-input"},
)

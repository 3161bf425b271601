"""Batch size that does not suit the data.

Why: an epoch makes one update per batch. Very large batches leave few updates; batches of one to three rows make each
update mostly noise.
Example: `batch_size=2000` on 2,500 rows: two updates per epoch.
Fix: batches of 32 rows.
Limits: named only when batches of 32 help clearly more than another learning rate or more epochs do.
Source: Masters and Luschi, Revisiting small batch training (2018), arXiv 1804.07612: batches of 2 to 32 do best; DeepFD
(ICSE 2022). Thresholds: ours, tuned on the benchmark's given and dev cases.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.curves.settings import wrong_setting
from stethoscope.checks.findings import Fault, Finding
from stethoscope.checks.fixes.compile_and_fit import SetBatchSize
from stethoscope.evidence.kinds import Evidence, EvidenceSet


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    verdict = wrong_setting(evidence, "batch")
    if verdict is None:
        return
    training, remedy = verdict.training, verdict.remedy
    size = max(1, round(remedy.trial.value)) if remedy.trial.value else 32
    why = (
        f"make only {training.steps_per_epoch:,} update{'' if training.steps_per_epoch == 1 else 's'} per epoch"
        if training.batch_size > size
        else "make each update mostly noise"
    )
    yield verdict.finding(
        fault=Fault.BATCH_SIZE,
        where="fit",
        message=(
            f"Batches of {training.batch_size:,} of {training.train_rows:,} rows {why}: with {size} rows the skill is "
            f"{remedy.after:.2f} instead of {remedy.before:.2f} (1 is perfect), more than other rates or more epochs reach."
        ),
        fix=SetBatchSize(batch_size=size, was=training.batch_size),
    )


CHECK = Check(
    needs=frozenset({Evidence.TRAINING}),
    run=_run,
    setting=True,
    uses=frozenset({Evidence.ARCHITECTURE, Evidence.DATA, Evidence.FIT}),
    explains=BADLY_TRAINED | {"loss-oscillating", "null-input"},
)

"""The batch size decides how much is learned.

Why: an epoch of large batches makes few updates, so after the same number of epochs such a run has learned less; batches of a few
rows make each update noisy. What looks like an effect of the batch is mostly one of the number and size of the updates.
Example: batches of 16 end at a loss of 0.22, batches of 1,024 at 2.25, after 15 epochs at one learning rate.
Fix: the size that did best, or a rate that grows with the batch (linear scaling) and more epochs.
Limits: compares runs that agree in every other setting they note (or in the rest of their names), at the end of each.
Source: Goyal et al., Accurate, large minibatch SGD (2017), linear scaling; Masters and Luschi, Revisiting small batch training
(2018). Thresholds: ours.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.curves.siblings import Family, Setting, families
from stethoscope.checks.findings import Fault, Finding, Number, Severity, Table
from stethoscope.checks.fixes.compile_and_fit import SetBatchSize
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_FOLD = 1.5
"""Loss of the worse size over that of the best."""
_LOST = 0.2
"""Share of what the best size gained that the worse did not."""
_MOST_TIMES = 64
_SIZE = Setting(
    names=("batch_size", "batch", "bs", "batchsize", "train_batch_size"),
    in_run_name=re.compile(
        r"(?:^|[/_\-. ,=])(?:batch(?:[_\-]?size)?|bs)[_\-=: ]?(\d{1,8})(?=$|[/_\-. ,])", re.IGNORECASE
    ),
    like="batch",
    whole=True,
)


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.runs is None:
        return
    for family in families(evidence.runs.runs, _SIZE):
        worse = family.worse(_FOLD, _LOST)
        if worse and math.isfinite(family.levels[family.best]):
            yield _finding(family, max(worse, key=lambda size: family.levels[size]))


def _finding(family: Family, worst: float) -> Finding:
    best, levels = family.best, family.levels
    larger = worst > best
    why = (
        "an epoch of larger batches makes fewer updates, and at the same rate it learns less"
        if larger
        else "updates from so few rows are noisy, and the rate is too large for them"
    )
    advice = (
        f" With batches of {worst:,.0f} try a rate {worst / best:.3g} times as large (with a warm-up), or as many more epochs."
        if larger and worst / best <= _MOST_TIMES
        else ""
    )
    ends = "break" if math.isinf(levels[worst]) else f"end at {levels[worst]:.3g}"
    ratio = levels[worst] / levels[best] if levels[best] > 0 and math.isfinite(levels[worst]) else math.inf
    return Finding(
        fault=Fault.BATCH_SIZE,
        severity=Severity.MEDIUM,
        confidence=0.6,
        where="runs",
        message=(
            f"After the same training, batches of {best:,.0f} rows end at a {family.measure} of {levels[best]:.3g}, batches of "
            f"{worst:,.0f} {ends}: {why}.{advice}"
        ),
        evidence=(
            Table(
                "Runs by batch size",
                ("batch size", "runs", f"{family.measure} at the end"),
                tuple((int(size), len(family.runs[size]), levels[size]) for size in family.runs),
            ),
            Number("loss of the worst size over that of the best", ratio, threshold=_FOLD),
        ),
        fix=SetBatchSize(batch_size=int(best), was=int(worst)),
        marks=family.spans({size: f"batches of {size:,.0f}" for size in (best, worst)}),
    )


CHECK = Check(needs=frozenset({Evidence.RUNS}), run=_run)

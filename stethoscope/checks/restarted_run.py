"""A run that began anew.

Why: steps that were written twice come from a training that was started again in the same folder or file. When it goes on from
saved weights, only the double steps are lost; when it does not, all that was learned before is, and two trainings look like one.
Example: a job that is killed at epoch 16 and starts again at epoch 9 with fresh weights.
Fix: load the last weights and name the epoch to go on with (`initial_epoch`), or give each start its own folder.
Limits: a restart after which the loss is where it was is a remark.
Source: keras.io, BackupAndRestore; TensorBoard's purging of overwritten steps. Thresholds: ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import losses_of, span
from stethoscope.checks.curves.log_shape import shape_of
from stethoscope.checks.findings import Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.curves import Restart

_NOISE = 2.0
_LOST = 0.3
"""Share of what the loss had gained that is lost with the restart."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is None or not evidence.logs.restarts:
        return
    curve = evidence.logs
    shape = shape_of(curve)
    highest = max(
        (*shape.loss[:1], *(one.after for one in curve.restarts if math.isfinite(one.after))), default=math.nan
    )
    lost = [(_share(one, highest), one) for one in curve.restarts]
    share, worst = max(lost, key=lambda item: item[0])
    count = f" ({len(lost)} times in all)" if len(lost) > 1 else ""
    anew = share >= _LOST and worst.after - worst.before > _NOISE * shape.jitter
    effect = (
        f"The loss goes from {worst.before:.3g} back to {worst.after:.3g}: what was learned until then is lost."
        if anew
        else f"The loss goes on at {worst.after:.3g} where it was {worst.before:.3g}."
    )
    yield Finding(
        fault=Fault.EPOCHS,
        severity=Severity.MEDIUM if anew else Severity.LOW,
        confidence=0.8 if anew else 0.6,
        where="fit",
        message=(
            f"The run had reached {curve.unit} {worst.reached:,.0f} and begins anew at {curve.unit} {worst.step:,.0f}{count}. {effect}"
        ),
        evidence=(
            losses_of(curve, Mark(worst.step, "began anew")),
            Number("share of the gain that was lost", share, threshold=_LOST),
        ),
        fix=Advice(
            text="Go on from the last weights and with the next epoch, or write each start into a folder of its own.",
            snippet="keras.callbacks.BackupAndRestore('backup')  # goes on where the last run stopped",
        ),
        marks=span(curve, "loss", worst.step, "began anew"),
    )


def _share(one: Restart, highest: float) -> float:
    gained = highest - one.before
    found = (one.after - one.before) / gained if gained > 0 else 0.0
    return found if math.isfinite(found) else 0.0


CHECK = Check(needs=frozenset({Evidence.LOGS}), run=_run, explains=frozenset({"loss-jump"}))

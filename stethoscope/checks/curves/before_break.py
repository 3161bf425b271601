"""Where a logged run stops being a number, and what rose just before."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass

from stethoscope.checks.curves.shapes import first_nonfinite
from stethoscope.logs.evidence.curves import CurveEvidence

_LOOK_BACK = 10
"""Points before the break that are looked at."""
_GREW = 3.0
"""A quantity whose last values are this many times its usual one was on its way."""


@dataclass(frozen=True)
class Break:
    """The first value that is no number."""

    role: str
    """"loss", "val_loss", "metric" or "val_metric"."""
    step: float
    value: float
    index: int
    recovers: bool
    """Whether finite values follow."""


@dataclass(frozen=True)
class Rise:
    """Something that had grown when the run broke."""

    name: str
    usual: float
    last: float


def first_break(curve: CurveEvidence) -> Break | None:
    """The first NaN or infinity in the losses or the metric: that of the training loss where there is one."""
    columns = {
        "loss": (curve.steps, curve.loss),
        "val_loss": (curve.val_steps, curve.val_loss),
        "metric": (curve.metric_at, curve.metric),
        "val_metric": (curve.val_metric_at, curve.val_metric),
    }
    for role, (steps, values) in columns.items():
        at = first_nonfinite(values)
        if at is not None and at < len(steps):
            after = any(math.isfinite(value) for value in values[at + 1 :])
            return Break(role, steps[at], values[at], at, after)
    return None


def rises_before(curve: CurveEvidence, found: Break) -> tuple[Rise, ...]:
    """What had grown just before: the loss itself, gradient norms, the learning rate; the largest growth first."""
    columns = {"the loss": (curve.steps, curve.loss)}
    if found.role != "loss":
        columns = {"the validation loss": (curve.val_steps, curve.val_loss)}
    columns["the learning rate"] = (curve.rate_at, curve.learning_rate)
    columns |= {name: (signal.steps, signal.values) for name, signal in curve.signals.items()}
    rises = [rise for name, (steps, values) in columns.items() if (rise := _rise(name, steps, values, found.step))]
    return tuple(sorted(rises, key=lambda rise: rise.last / rise.usual, reverse=True))


def _rise(name: str, steps: Sequence[float], values: Sequence[float], until: float) -> Rise | None:
    end = bisect.bisect_right(steps, until)
    finite = [value for value in values[:end] if math.isfinite(value)]
    if len(finite) < 2 or len(steps) != len(values):
        return None
    usual = abs(sorted(finite[: max(1, len(finite) - 1)])[max(0, (len(finite) - 2) // 2)])
    last = max(map(abs, finite[-_LOOK_BACK:]))
    return Rise(name, usual, last) if usual > 0 and last >= _GREW * usual and last > abs(finite[0]) else None

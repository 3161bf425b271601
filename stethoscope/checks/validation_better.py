"""Validation better than training.

Why: rows that were never trained on can hardly be easier for a network than those that were. Where they are, they are not
alike: noise, augmentation or dropout makes training harder than use; or the validation rows are an easy choice, repeat
training rows, or hold the answer.
Example: accuracy 0.78 in training and 0.91 in validation, epoch after epoch.
Fix: score the training rows with `model.evaluate`, where dropout is off. What difference is left comes from the rows.
Limits: the training score of an epoch is a mean over it, and so behind by half an epoch; that is allowed for. A little dropout
explains a small difference, which is not named.
Source: keras.io, FAQ, “Why is my training loss much higher than my testing loss?”; Kaufman et al., Leakage in data mining
(2012). Thresholds: ours.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import losses_of, scores_of, span
from stethoscope.checks.curves.log_shape import LogShape, shape_of
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_LEAST_POINTS = 5
_GAP, _LARGE_GAP = 0.05, 0.1
_ERRORS = 1.5
"""Times as many errors on training rows as on validation rows."""
_LOSS, _SMALL_LOSS = 0.8, 0.65
"""Validation loss over training loss."""
_ALWAYS = 0.9
_MANY_ERRORS, _FAR_LOWER = 4.0, 0.4
"""A gap that is not large is clear where both measures agree: times as many errors, and validation loss over training loss."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is None:
        return
    curve = evidence.logs
    shape = shape_of(curve)
    found = _by_score(shape) if shape.score_pairs else _by_loss(shape)
    if found is None:
        return
    train, held, clear = found
    name = curve.metric_name if shape.score_pairs else "loss"
    pairs = shape.score_pairs or shape.loss_pairs
    yield Finding(
        fault=Fault.VALIDATION,
        severity=Severity.MEDIUM if clear else Severity.LOW,
        confidence=0.55 if clear else 0.4,
        where="data",
        message=(
            f"The {name} is {train:.3g} on training rows and better, {held:.3g}, on validation rows, all along the second half: "
            "either training is made harder than use (dropout, augmentation, noise), or the validation rows are easier, repeat "
            "training rows or hold the answer."
        ),
        evidence=(
            scores_of(curve) if shape.score_pairs else losses_of(curve),
            Number("training over validation", train / held if held else 0.0, threshold=1.0),
        ),
        fix=Advice(
            text="Score the training rows without dropout. If they then score as the validation rows do, less dropout or "
            "augmentation would learn more. If not, look for rows that are in both, and how the validation rows were chosen.",
            snippet="model.evaluate(x_train, y_train)  # dropout and augmentation are off here",
        ),
        marks=span(curve, "val_loss", pairs[len(pairs) // 2].step, "validation is better", pairs[-1].step),
    )


def _by_score(shape: LogShape) -> tuple[float, float, bool] | None:
    later = shape.score_pairs[len(shape.score_pairs) // 2 :]
    if len(shape.score_pairs) < _LEAST_POINTS:
        return None
    train, held = statistics.median(one.train for one in later), statistics.median(one.held for one in later)
    better = sum(one.held - one.train >= _GAP / 2 for one in later) >= _ALWAYS * len(later)
    if not better or held - train < _GAP or (1 - train) < _ERRORS * (1 - held):
        return None
    agree = 1 - train >= _MANY_ERRORS * (1 - held) and _loss_ratio(shape) <= _FAR_LOWER
    return train, held, held - train >= _LARGE_GAP or agree


def _loss_ratio(shape: LogShape) -> float:
    """Median of validation loss over training loss in the second half; infinite where that is not known."""
    later = shape.loss_pairs[len(shape.loss_pairs) // 2 :]
    return statistics.median([one.held / one.train if one.train > 0 else math.inf for one in later] or [math.inf])


def _by_loss(shape: LogShape) -> tuple[float, float, bool] | None:
    later = shape.loss_pairs[len(shape.loss_pairs) // 2 :]
    if len(shape.loss_pairs) < _LEAST_POINTS or min((one.held for one in later), default=0.0) <= 0:
        return None
    ratios = [one.held / one.train for one in later if one.train > 0]
    if len(ratios) < len(later) or shape.fall < 0.05:
        return None
    if sum(ratio < (1 + _LOSS) / 2 for ratio in ratios) < _ALWAYS * len(ratios) or statistics.median(ratios) > _LOSS:
        return None
    clear = statistics.median(ratios) <= _SMALL_LOSS and later[-1].train > 0.1 * shape.start
    train, held = statistics.median(one.train for one in later), statistics.median(one.held for one in later)
    return train, held, clear


CHECK = Check(needs=frozenset({Evidence.LOGS}), run=_run)

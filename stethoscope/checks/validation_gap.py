"""Validation never follows the training.

Why: what a network learns from the training rows says nothing about the validation rows, from the first epoch on. Learning by
heart looks otherwise: there validation follows at first and falls behind later. So the rows themselves differ: scaled
otherwise, labels in another order, another kind of data, a split by class.
Example: training images divided by 255, validation images left as they are; accuracy 0.97 and 0.30 from the start.
Fix: one function that prepares all rows; a split that is shuffled.
Limits: labels that are pure chance, learned by heart, look the same.
Source: Karpathy, A recipe for training neural networks (2019), on looking at data as the network gets them; Sculley et al., Hidden
technical debt (2015), on skew. Thresholds: ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import losses_of, scores_of, span
from stethoscope.checks.curves.log_shape import LogShape, shape_of
from stethoscope.checks.curves.shapes import end_level
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_LEAST_POINTS = 3
_LEARNED = 0.3
"""Skill on training rows, or share of the training loss that is gone: below it there is nothing to follow."""
_FOLLOWS = 0.3
"""Share of the skill on training rows that validation rows have at their best when they follow at all."""
_IMPROVES = 0.15
"""A validation loss that falls by this share of its first value follows, whatever its score does."""
_BEHIND, _STAYS = 1.5, 0.6
"""Or: validation loss over training loss at every validation from the first on, and its last value over its first."""
_WORSE = 1.25
"""Validation loss at its best over the very first training loss."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is None:
        return
    curve = evidence.logs
    shape = shape_of(curve)
    by_score = _by_score(shape)
    ratio = _loss_ratio(shape)
    if by_score is None and ratio is None:
        return
    if by_score is not None:
        said = (
            f"{curve.metric_name} reaches {end_level(shape.score):.2f} on training rows and at best {max(shape.val_score):.2f} on "
            f"validation rows, where guessing gives about {shape.chance:.2f}"
        )
        item = Number("best skill on validation rows over that on training rows", by_score, threshold=_FOLLOWS)
        picture = scores_of(curve)
    else:
        said = (
            f"the validation loss starts at {shape.loss_pairs[0].held:.3g} and is at best {min(one.held for one in shape.loss_pairs):.3g}, "
            f"while the training loss goes from {shape.loss[0]:.3g} to {shape.end:.3g}"
        )
        item = Number("best validation loss over the first training loss", ratio or 0.0, threshold=_WORSE)
        picture = losses_of(curve)
    first = shape.loss_pairs[0].step if shape.loss_pairs else curve.steps[0]
    yield Finding(
        fault=Fault.PREPROCESSING,
        severity=Severity.MEDIUM,
        confidence=0.7 if by_score is not None and ratio is not None else 0.55,
        where="data",
        message=(
            f"Validation never follows: {said}. It did not fall behind, it never came along: the validation rows are prepared, "
            "labelled or chosen otherwise than the training rows."
        ),
        evidence=(picture, item),
        fix=Advice(
            text="Put some training rows into the validation data: if they score badly there too, the two are prepared in different "
            "ways; if they score well, the rows are of another kind. Shuffle before splitting.",
            snippet="model.evaluate(x_train[:500], y_train[:500])  # prepared as the validation rows are",
        ),
        marks=span(curve, "val_loss", first, "never follows", curve.val_steps[-1] if curve.val_steps else None),
    )


def _by_score(shape: LogShape) -> float | None:
    """Validation skill over training skill where that is next to nothing; None where validation follows or there is no score."""
    if len(shape.score_pairs) < _LEAST_POINTS or shape.skill is None or shape.val_skill is None:
        return None
    if shape.skill < _LEARNED:
        return None
    share = shape.val_skill / shape.skill
    held = [one.held for one in shape.loss_pairs]
    falls = bool(held) and min(held) < (1 - _IMPROVES) * held[0]
    return share if share < _FOLLOWS and not falls else None


def _loss_ratio(shape: LogShape) -> float | None:
    """Best validation loss over the first training loss, where that is above what a sound split gives."""
    pairs = shape.loss_pairs
    if len(pairs) < _LEAST_POINTS or shape.fall < _LEARNED or shape.loss[0] <= 0:
        return None
    if shape.val_skill is not None and shape.skill and shape.val_skill / shape.skill >= 2 * _FOLLOWS:
        return None
    ratio = min(one.held for one in pairs) / shape.loss[0]
    behind = all(one.held >= _BEHIND * one.train for one in pairs) and pairs[-1].held >= _STAYS * pairs[0].held
    return ratio if ratio >= _WORSE or behind else None


CHECK = Check(needs=frozenset({Evidence.LOGS}), run=_run, explains=frozenset({"overfitting", "overtraining"}))

"""What the curve of a logged run looks like: how far it came, whether it settled, how validation went beside it.

Everything is computed on the run's overview, in which long noisy curves are means over stretches of steps.
"""

from __future__ import annotations

import bisect
import collections
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from stethoscope.checks.curves.remedies import base_skill
from stethoscope.checks.curves.shapes import end_level, finite, noise, slope, start_level
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.logs.better import is_share
from stethoscope.logs.curves import CurveEvidence

SETTLED = 0.15
"""A curve whose second half brings at most this share of its whole fall has settled."""
_SOMETHING = 0.003
"""A loss that falls by less than this share over a whole run stands still."""
_BARELY = 0.05
"""A loss that has fallen by less than this share, in a run without a score, has not moved."""
_SOME_SKILL = 0.1
_TO_CHANCE = 0.3
_EVEN = 0.25
"""Each half of a run brings at least this share of what a steadily falling loss loses."""
_PERFECT = 0.95
_MOST_CHANCE = 0.5


@dataclass(frozen=True)
class Pair:
    """Training and validation at one validation. Training is what it was around that moment, not the epoch's mean."""

    step: float
    train: float
    held: float


@dataclass(frozen=True)
class LogShape:
    """Measures of one logged run; see `shape_of`."""

    curve: CurveEvidence

    @cached_property
    def points(self) -> tuple[tuple[float, float], ...]:
        """(step, loss) of the finite points."""
        found = zip(self.curve.steps, self.curve.loss, strict=False)
        return tuple((step, value) for step, value in found if math.isfinite(value))

    @cached_property
    def loss(self) -> tuple[float, ...]:
        """The finite losses."""
        return tuple(value for _, value in self.points)

    @cached_property
    def start(self) -> float:
        """Where the loss starts."""
        return start_level(self.loss)

    @cached_property
    def end(self) -> float:
        """Where the loss ends."""
        return end_level(self.loss)

    @cached_property
    def lowest(self) -> float:
        """The lowest level of the loss, single points smoothed away."""
        return min(smoothed(self.loss), default=math.nan)

    @cached_property
    def jitter(self) -> float:
        """Standard deviation of the loss from point to point."""
        return noise(self.loss)

    @cached_property
    def fall(self) -> float:
        """How far the loss fell, as a share of where it started."""
        if not self.loss or not self.start:
            return 0.0
        return (self.start - self.end) / abs(self.start)

    @cached_property
    def score(self) -> tuple[float, ...]:
        """The finite values of the training metric, where it is one from 0 to 1 and higher is better."""
        return _finite(self.curve.metric) if is_share(self.curve.metric_name) else ()

    @cached_property
    def val_score(self) -> tuple[float, ...]:
        """Likewise of the validation metric."""
        return _finite(self.curve.val_metric) if is_share(self.curve.metric_name) else ()

    @cached_property
    def chance(self) -> float:
        """What guessing scores, as far as the log shows: the lowest first score, at most one half."""
        first = [*self.score[:1], *self.val_score[:1], _MOST_CHANCE]
        return max(0.0, min(first))

    @cached_property
    def skill(self) -> float | None:
        """Training score at the end: 0 at chance, 1 perfect (from 0.95 on); None without a score."""
        return self._skill(end_level(self.score)) if self.score else None

    @cached_property
    def val_skill(self) -> float | None:
        """The best validation score, in the same terms; None without one."""
        return self._skill(max(smoothed(self.val_score))) if self.val_score else None

    def _skill(self, score: float) -> float:
        return 1.0 if score >= _PERFECT else max(0.0, (score - self.chance) / max(1e-9, 1 - self.chance))

    @cached_property
    def settled(self) -> bool:
        """Whether the second half of the run brings next to nothing."""
        if len(self.loss) < 6:
            return False
        later = self.loss[len(self.loss) // 2 :]
        depth = self.start - min(self.lowest, self.end)
        drop = start_level(later[:3]) - self.end
        return drop <= max(SETTLED * depth, 2 * self.jitter / math.sqrt(len(later) / 3))

    @cached_property
    def still(self) -> bool:
        """Whether the loss stays where it is from the second tenth of the run on, whatever it did before."""
        rest = self.loss[max(1, len(self.loss) // 10) :]
        if len(rest) < 4:
            return False
        level = statistics.median(abs(value) for value in rest)
        third = max(1, len(rest) // 3)
        moved = abs(statistics.median(rest[:third]) - statistics.median(rest[-third:]))
        return moved <= max(0.01 * level, min(noise(rest), 0.05 * level))

    @cached_property
    def loss_pairs(self) -> tuple[Pair, ...]:
        """Training and validation loss side by side."""
        return tuple(_pairs(self.curve.steps, self.curve.loss, self.curve.val_steps, self.curve.val_loss))

    @cached_property
    def score_pairs(self) -> tuple[Pair, ...]:
        """Training and validation score side by side; empty without scores."""
        if not self.score or not self.val_score:
            return ()
        curve = self.curve
        return tuple(_pairs(curve.metric_at, curve.metric, curve.val_metric_at, curve.val_metric))

    @cached_property
    def unit(self) -> str:
        """What steps count."""
        return self.curve.unit

    @cached_property
    def rates(self) -> tuple[float, ...]:
        """Learning rates that were logged or noted, in order; empty when none was."""
        logged = tuple(rate for rate in self.curve.learning_rate if math.isfinite(rate))
        if logged:
            return logged
        names = {
            name.lower().rsplit("/", 1)[-1].rsplit(".", 1)[-1]: value for name, value in self.curve.parameters.items()
        }
        noted = next((names[name] for name in ("learning_rate", "lr", "learningrate") if name in names), None)
        return (float(noted),) if isinstance(noted, int | float) and not isinstance(noted, bool) else ()

    @cached_property
    def rate(self) -> float | None:
        """The learning rate it was mostly trained with."""
        return statistics.median_high(self.rates) if self.rates else None


_LAST: collections.deque[LogShape] = collections.deque(maxlen=8)


def shape_of(curve: CurveEvidence) -> LogShape:
    """The measures of a run, on its overview. The checks ask for one run after the other: the last few are kept."""
    overview = curve.overview
    for known in tuple(_LAST):
        if known.curve is overview:
            return known
    made = LogShape(overview)
    _LAST.append(made)
    return made


def learns_nothing(shape: LogShape) -> bool:
    """Whether the loss stays where it is and no score rises above chance; without a score, whether it never left its start."""
    if len(shape.loss) < 5:
        return False
    if shape.skill is None:
        return shape.still and shape.fall < _BARELY
    # A last bias that finds the frequencies of the classes lowers the loss a little and knows nothing.
    rests = shape.still or (shape.settled and abs(shape.fall) < _TO_CHANCE)
    return rests and max(shape.skill, shape.val_skill or 0.0) < _SOME_SKILL


def falls_steadily(shape: LogShape) -> bool:
    """Whether the loss falls all along, as fast at the end as before, by more than its noise and more than nothing."""
    values = shape.loss
    if len(values) < 6 or shape.fall < _SOMETHING:
        return False
    middle = len(values) // 2
    first, second = fall_within(values[: middle + 1]), fall_within(values[middle:])
    whole = first + second
    certain = whole > 4 * shape.jitter / math.sqrt(max(1, len(values) // 10))
    return certain and min(first, second) >= _EVEN * whole


def fall_within(values: Sequence[float]) -> float:
    """How far a stretch falls along its trend."""
    return -slope(values) * (len(values) - 1)


def evenness(values: Sequence[float]) -> float:
    """How far the last third falls along its trend, over how far the first third does; NaN where the first does not fall.

    1 for a straight line. An exponential approach that ends after t of its time constants has exp(−2t/3).
    """
    third = len(values) // 3
    first = fall_within(values[: third + 1])
    return fall_within(values[-third - 1 :]) / first if third and first > 0 else math.nan


def smoothed(values: Sequence[float]) -> list[float]:
    """Median of three neighbours: single outliers disappear."""
    return [statistics.median(values[max(0, at - 1) : at + 2]) for at in range(len(values))]


def _finite(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(value for value in values if math.isfinite(value))


def _pairs(
    steps: Sequence[float], values: Sequence[float], held_steps: Sequence[float], held: Sequence[float]
) -> list[Pair]:
    """Validation beside training. What Keras calls the training loss of an epoch is its mean over the epoch, measured half
    an epoch before validation; the mean with the next epoch's is what holds when validation is measured."""
    found: list[Pair] = []
    if not steps or len(steps) != len(values) or len(held_steps) != len(held):
        return found
    for step, value in zip(held_steps, held, strict=True):
        at = min(bisect.bisect_left(steps, step), len(steps) - 1)
        train = values[at] if at + 1 >= len(values) else (values[at] + values[at + 1]) / 2
        if math.isfinite(train) and math.isfinite(value):
            found.append(Pair(step, train, value))
    return found


def learned_share(evidence: EvidenceSet, found: CurveEvidence) -> float | None:
    """Skill at the end (0 chance, 1 perfect); for a log the rise of its accuracy over the room it had; None when unknown."""
    if found.source == "short run":
        return base_skill(evidence.training) if evidence.training is not None else None
    known = finite(found.metric)
    if not known or not is_share(found.metric_name):
        return None
    if known[-1] >= 0.95:
        return 1.0
    return max(0.0, (known[-1] - known[0]) / max(1e-9, 1.0 - known[0]))

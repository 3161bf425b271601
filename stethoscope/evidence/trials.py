"""What simple models reach on the same data, same split, same metric; which layer lets no learning through.

Can the model overfit a few samples? If it cannot, something blocks it.

Which layer lets no learning through, and which of several is the one that blocks.

The overfit test measures it on a few rows, the instruments of a short run measure gradients by layer. Page, command, finding
and fix ask here which layer is to be named.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stethoscope.evidence.training import LayerTraining

NON_FINITE = "non-finite"
DEAD = "all units are dead"
CONSTANT = "output is constant"
GRADIENT_ZERO = "gradient is zero"
GRADIENT_VANISHES = "gradient vanishes"
SATURATED = "saturated"
FROZEN = "frozen"
GRAVEST_FIRST = (NON_FINITE, DEAD, CONSTANT, GRADIENT_ZERO, GRADIENT_VANISHES, SATURATED, FROZEN)
"""Reasons by what they rule out, the gravest first.

What is not finite spoils all numbers behind it, so that no other reading can be trusted. A dead or constant layer passes
nothing forward, whatever its neighbours do, and is why layers before it get no gradient. A zero gradient lets nothing be
learned there, a vanishing one little, a saturated layer somewhat more. A frozen layer only stays as it is: signals and
gradients pass through it, and it is often meant.
"""
VANISHED = 1e-3
"""Gradient of a layer over the largest behind it, root mean squares, below which it counts as vanishing.
Source: AUTOTRAINER (ICSE 2021)."""
_NOTHING_LEFT = 1e-7
"""A gradient this small vanishes whatever the others are. Source: SageMaker Debugger, rule VanishingGradient."""


@dataclass(frozen=True)
class BlockedLayer:
    """A layer through which no learning passes."""

    path: str
    reason: str
    """One of `GRAVEST_FIRST`."""
    value: float | None = None


@dataclass(frozen=True)
class WeakestLayer:
    """The layer of the first half that got the smallest gradients in a short run."""

    layer: LayerTraining
    ratio: float
    """Its gradient over the largest of the second half, median over the samples."""
    reason: str
    """`GRADIENT_ZERO`, `GRADIENT_VANISHES`, or "" where learning passes."""


def gravest_first(layers: Sequence[BlockedLayer]) -> tuple[BlockedLayer, ...]:
    """Each layer once, with its gravest reason; the one that blocks comes first.

    Args:
        layers: those of each reason in the model's order; a layer as often as it has reasons.

    Among layers with a like reason the first in the model's order leads: those behind it follow from it. With zero gradients
    it is the last one, because what blocks lies right behind it and those before it follow; with vanishing ones the weakest.
    """
    gravest: dict[str, BlockedLayer] = {}
    for layer in layers:
        known = gravest.get(layer.path)
        if known is None or _gravity(layer) < _gravity(known):
            gravest[layer.path] = layer
    ordered = {path: place for place, path in enumerate(dict.fromkeys(layer.path for layer in layers))}

    def rank(layer: BlockedLayer) -> tuple[int, float, int]:
        place = ordered[layer.path]
        weakness = layer.value or 0.0 if layer.reason == GRADIENT_VANISHES else 0.0
        return _gravity(layer), weakness, -place if layer.reason == GRADIENT_ZERO else place

    return tuple(sorted(gravest.values(), key=rank))


def blocking_layer(blocked: Sequence[BlockedLayer]) -> BlockedLayer | None:
    """The one to name of layers as `gravest_first` gives them; None when nothing blocks."""
    return min(blocked, key=_gravity, default=None)


def vanishing(strength: Mapping[str, float]) -> list[BlockedLayer]:
    """The layers whose gradient is a thousand times smaller than that of a layer behind them.

    Args:
        strength: root mean square of the gradient by layer, in the model's order.
    """
    found: list[BlockedLayer] = []
    largest = 0.0
    for path, size in reversed(list(strength.items())):
        if size < VANISHED * largest:
            found.append(BlockedLayer(path, GRADIENT_VANISHES, size / largest))
        largest = max(largest, size)
    return found[::-1]


def weakest_in_run(layers: Sequence[LayerTraining]) -> WeakestLayer | None:
    """The layer that got the least of the loss in a short run, and whether learning still passes it.

    Returns None for fewer than two layers or no sample with finite gradients.
    """
    if len(layers) < 2:
        return None
    half = len(layers) // 2
    ratios: list[float] = []
    weakest: list[int] = []
    for sample in range(min(len(layer.gradient_norm) for layer in layers)):
        norms = [layer.gradient_norm[sample] for layer in layers]
        if not all(map(math.isfinite, norms)) or max(norms) <= 0:
            continue
        early = min(range(half), key=lambda at: norms[at])
        late = max(norms[half:])
        if late > 0:
            ratios.append(norms[early] / late)
            weakest.append(early)
    if not ratios:
        return None
    layer, ratio = layers[statistics.mode(weakest)], statistics.median(ratios)
    norm = median_norm(layer)
    if norm == 0:
        return WeakestLayer(layer, ratio, GRADIENT_ZERO)
    vanishes = ratio < VANISHED or norm < _NOTHING_LEFT
    return WeakestLayer(layer, ratio, GRADIENT_VANISHES if vanishes else "")


def median_norm(layer: LayerTraining) -> float:
    """Median gradient of a layer over the samples; NaN without a finite one."""
    known = [value for value in layer.gradient_norm if math.isfinite(value)]
    return statistics.median(known) if known else math.nan


def _gravity(layer: BlockedLayer) -> int:
    return GRAVEST_FIRST.index(layer.reason)


SIMPLE_MODELS = ("majority class", "mean", "logistic regression", "linear regression", "gradient boosting")


@dataclass(frozen=True)
class Score:
    """One model's score on the held-out rows with a 95 % interval (bootstrap over rows)."""

    model: str
    """One of `SIMPLE_MODELS`, "this network", or the second model's name."""
    value: float
    low: float
    high: float
    fit_s: float = 0.0


@dataclass(frozen=True)
class BaselineEvidence:
    """Scores of the baselines. `metric` is "accuracy", "r2" or "mean label accuracy": higher is better."""

    metric: str
    scores: tuple[Score, ...]
    train_rows: int
    test_rows: int
    output: str = ""
    test_index: tuple[int, ...] = ()
    """The held-out rows (at most 5,000), so that another model can be scored on the same."""
    skipped: tuple[str, ...] = ()

    def score(self, model: str) -> Score | None:
        """The score of one model."""
        return next((score for score in self.scores if score.model == model), None)

    @property
    def simple(self) -> tuple[Score, ...]:
        """The baselines, without the networks beside them."""
        return tuple(score for score in self.scores if score.model in SIMPLE_MODELS)

    def scored_as(self, metric: str, output: str) -> bool:
        """Whether scores in this metric, of this output ("" where there is one only), can be compared with these."""
        return metric == self.metric and output in ("", self.output)

    @property
    def best(self) -> Score | None:
        """The best baseline."""
        return max(self.simple, key=lambda score: score.value, default=None)


@dataclass(frozen=True)
class NetworkScore:
    """The score and how it came about."""

    score: Score
    trained_here: bool
    """False: the file's weights were taken as they are."""
    complete: bool
    """Whether training here had all the epochs it was to have."""
    note: str = ""


def with_network(baseline: BaselineEvidence, *networks: NetworkScore) -> BaselineEvidence:
    """The baselines with networks beside them; one that ran out of time is only noted."""
    done = tuple(network.score for network in networks if network.complete)
    notes = tuple(network.note for network in networks if network.note)
    return replace(baseline, scores=(*baseline.scores, *done), skipped=(*baseline.skipped, *notes))


@dataclass(frozen=True)
class OverfitEvidence:
    """A few samples trained on again and again, regularisation switched off where that is possible."""

    samples: int
    steps: int
    loss: tuple[float, ...]
    """The loss at `loss_steps`."""
    loss_steps: tuple[int, ...]
    initial_loss: float
    final_loss: float
    floor: float
    """The lowest loss these targets allow (entropy of soft labels; else 0)."""
    fitted_fraction: float
    """Share of the samples it gets right at the end (within 5 % of the spread for regression)."""
    verdict: str
    """"fits", "partly", "cannot", "diverges", "crashes"."""
    blocked: tuple[BlockedLayer, ...] = ()
    """The one that blocks first."""
    reason: str = ""
    learning_rate: float = 0.0
    """The rate that was used in the end: the model's own, or one that was found to work better."""
    own_learning_rate: float | None = None
    regularisation_off: tuple[str, ...] = ()
    source: str = "data"
    """"data", or "random input and labels" when no data was given."""

    @property
    def blocking(self) -> BlockedLayer | None:
        """The layer that blocks; None when none was seen."""
        return blocking_layer(self.blocked)

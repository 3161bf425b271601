"""Loss and metric curves, from a log or from the short run.

Long noisy curves in few points: means over stretches of steps, all points used.

What a recording says of single layers late in a training.

The tags a recording uses beside Keras' own `epoch_…`: what each measures. Imports nothing, so readers can ask too.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Signal:
    """Another logged quantity that tells how a training fares: a gradient norm, a ratio of updates."""

    steps: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Restart:
    """A place where a run began anew below the step it had reached."""

    step: float
    """The step it went on with."""
    reached: float
    """The step it had reached."""
    before: float
    """Level of the loss at `reached`; NaN where it was no number."""
    after: float
    """Level of the loss when it had begun anew."""


@dataclass(frozen=True)
class CurveEvidence:
    """One training run's curves. All tuples of one kind have the same length; validation may be shorter or empty."""

    run: str
    source: str
    """"log" or "short run"."""
    unit: str
    """What `steps` counts: "step" or "epoch"."""
    steps: tuple[float, ...] = ()
    loss: tuple[float, ...] = ()
    metric: tuple[float, ...] = ()
    """At `metric_steps` where there are some, else at `steps`."""
    metric_name: str = ""
    val_steps: tuple[float, ...] = ()
    val_loss: tuple[float, ...] = ()
    val_metric: tuple[float, ...] = ()
    learning_rate: tuple[float, ...] = ()
    metric_steps: tuple[float, ...] = ()
    complete: bool = True
    """Whether the run got as far as it was meant to; False when time ran out."""
    problem: str = ""
    """What the reader had to skip: bad records, a cut tail."""
    wall_time: tuple[float, ...] = ()
    """Seconds since 1970 at each of `steps`; empty where the log has no times."""
    val_wall_time: tuple[float, ...] = ()
    """Likewise at each of `val_steps`."""
    val_scale: float = 1.0
    """What the logged steps of validation were multiplied by, where they count epochs and those of training batches."""
    rate_steps: tuple[float, ...] = ()
    """Steps of `learning_rate`."""
    val_metric_steps: tuple[float, ...] = ()
    """Steps of `val_metric`, where they are not `val_steps`."""
    restarts: tuple[Restart, ...] = ()
    signals: Mapping[str, Signal] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Hyper-parameters of the run by name, as its tracker kept them."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """The logged name behind each role: "loss", "metric", "val_loss", "val_metric", "learning_rate"."""
    silent_s: float | None = None
    """Seconds from its last point to when the log was read, of a run that its tracker says is still running; else None."""
    layers: tuple[LayerMeasure, ...] = ()
    """What was measured of single layers, where the log is a recording."""

    @property
    def metric_at(self) -> tuple[float, ...]:
        """Steps of `metric`."""
        return self.metric_steps or self.steps

    @property
    def val_metric_at(self) -> tuple[float, ...]:
        """Steps of `val_metric`."""
        return self.val_metric_steps or self.val_steps or self.metric_at

    @property
    def rate_at(self) -> tuple[float, ...]:
        """Steps of `learning_rate`."""
        return self.rate_steps or self.steps

    @cached_property
    def overview(self) -> CurveEvidence:
        """The same run in at most some hundred points, each the mean of a stretch; itself when it is that short.

        Where validation was logged again and again, a stretch is what lies between two validations: an epoch.
        Validation and single signals stay as they are unless they are as long.
        """
        ends = stretch_ends(self.steps, self.val_steps)
        if ends is None:
            return self
        steps, loss = means(self.steps, self.loss, ends)
        _, wall = means(self.steps, self.wall_time, ends)
        metric_steps, metric = means(self.metric_at, self.metric, ends)
        val_steps, val_loss, val_metric = self.val_steps, self.val_loss, self.val_metric
        held_ends = stretch_ends(val_steps, ())
        if held_ends is not None:
            val_steps, val_loss = means(self.val_steps, self.val_loss, held_ends)
            _, val_metric = means(self.val_metric_at, self.val_metric, held_ends)
        rate_steps, rate = means(self.rate_at, self.learning_rate, ends)
        return replace(
            self,
            steps=steps,
            loss=loss,
            metric=metric,
            metric_steps=metric_steps if metric_steps != steps else (),
            val_steps=val_steps,
            val_loss=val_loss,
            val_metric=val_metric,
            val_metric_steps=() if held_ends is not None else self.val_metric_steps,
            learning_rate=rate,
            rate_steps=rate_steps,
            wall_time=wall if len(wall) == len(steps) else (),
        )


_LONG = 200
"""Curves of up to this many points are judged as they are."""
_STRETCHES = 100
_LEAST_VALIDATIONS = 5
_POINTS_BETWEEN = 3
"""So many points between two validations make the stretch between them worth a mean."""


def stretch_ends(steps: Sequence[float], val_steps: Sequence[float]) -> tuple[float, ...] | None:
    """The last step of each stretch; None where the curve is short enough as it is.

    Args:
        steps: ascending steps of the curve.
        val_steps: ascending steps at which validation was logged.
    """
    if not steps:
        return None
    rounds = [step for step in val_steps if steps[0] <= step]
    if _LEAST_VALIDATIONS <= len(rounds) <= _LONG and len(steps) >= _POINTS_BETWEEN * len(rounds):
        return _whole(steps, rounds)
    if len(steps) <= _LONG:
        return None
    size = len(steps) / _STRETCHES
    return tuple(dict.fromkeys(steps[math.ceil(size * (at + 1)) - 1] for at in range(_STRETCHES)))


def _whole(steps: Sequence[float], rounds: Sequence[float]) -> tuple[float, ...]:
    """The rounds, a short stretch before the first or after the last of them joined to its neighbour."""
    places = [bisect.bisect_right(steps, end) for end in rounds]
    usual = sorted(after - before for before, after in itertools.pairwise(places))[(len(places) - 1) // 2]
    ends = list(rounds)
    if 2 * places[0] < usual:
        del ends[0]
    if steps[-1] > ends[-1]:
        if 2 * (len(steps) - places[-1]) < usual:
            ends[-1] = steps[-1]
        else:
            ends.append(steps[-1])
    return tuple(ends)


def means(
    steps: Sequence[float], values: Sequence[float], ends: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(last step, mean of the finite values) of each stretch that has a point; NaN where none of its values is finite."""
    import numpy as np

    if not values or len(steps) != len(values):
        return (), ()
    at, known = np.asarray(steps, np.float64), np.asarray(values, np.float64)
    place = np.searchsorted(np.asarray(ends, np.float64), at)
    inside = place < len(ends)
    at, known, place = at[inside], known[inside], place[inside]
    finite = np.isfinite(known)
    count = np.bincount(place[finite], minlength=len(ends))
    total = np.bincount(place[finite], weights=known[finite], minlength=len(ends))
    present = np.bincount(place, minlength=len(ends)) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
    return tuple(np.asarray(ends, np.float64)[present].tolist()), tuple(mean[present].tolist())


@dataclass(frozen=True)
class LayerMeasure:
    """One kind of measurement of one layer, over the last third of the steps that were looked at."""

    kind: str
    """Of `stethoscope.logs.curves`: "dead_fraction", "saturated_fraction", "gradient_norm" …"""
    layer: str
    tag: str
    """As it is logged."""
    looks: int
    """In the whole run."""
    since: float
    """The first step of the last third, in training steps."""
    until: float
    lowest: float
    highest: float


GRADIENT_NORM = "gradient_norm"
UPDATE_RATIO = "update_ratio"
ZERO_FRACTION = "zero_fraction"
DEAD_FRACTION = "dead_fraction"
SATURATED_FRACTION = "saturated_fraction"
ACTIVATION_STD = "activation_std"
WEIGHTS = "weights"
MEMORY = "memory"
TIME = "time"

LAYER_KINDS = {
    GRADIENT_NORM: "Root mean square of the gradient over the layer's weights",
    UPDATE_RATIO: "Norm of one update over norm of the weights",
    ZERO_FRACTION: "Share of outputs that are zero",
    DEAD_FRACTION: "Share of units that are zero on every row of the batch",
    SATURATED_FRACTION: "Share of outputs where the activation is nearly flat",
    ACTIVATION_STD: "Standard deviation of the outputs",
}
"""Tags `<kind>/<layer path>`: measured in single training steps, at the step's number."""

INSTRUMENTS = (*LAYER_KINDS, WEIGHTS, MEMORY, TIME)
"""First parts of every tag that is no loss, metric or learning rate."""


def of_layer(kind: str, layer: str) -> str:
    """The tag of one measurement of one layer."""
    return f"{kind}/{layer}"


def is_instrument(tag: str) -> bool:
    """Whether a tag of a recording measures the training's insides: never its loss or metric. "train/" may precede it."""
    kind, _, rest = tag.removeprefix("train/").partition("/")
    return bool(rest) and kind in INSTRUMENTS


def layer_of(tag: str) -> tuple[str, str] | None:
    """(kind, layer path) of a layer's tag, with or without "train/" before it; None for any other."""
    kind, _, layer = tag.removeprefix("train/").partition("/")
    return (kind, layer) if layer and kind in LAYER_KINDS else None

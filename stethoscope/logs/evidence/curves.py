"""Loss and metric curves, from a log or from the short run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from stethoscope.logs.evidence.recorded import LayerMeasure
from stethoscope.logs.evidence.stretches import means, stretch_ends


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

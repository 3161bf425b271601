"""Loss and metric curves, from a log or from the short run."""

from __future__ import annotations

from dataclasses import dataclass


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

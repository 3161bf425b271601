"""What a recording says of single layers late in a training."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LayerMeasure:
    """One kind of measurement of one layer, over the last third of the steps that were looked at."""

    kind: str
    """Of `stethoscope.logs.evidence.tags`: "dead_fraction", "saturated_fraction", "gradient_norm" …"""
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

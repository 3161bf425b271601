"""By how much a plan may be wrong, and what may therefore be said of a device: it fits, it does not, or it is too near to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stethoscope.memory.planner.parallelism import BytesPerDevice

Verdict = Literal["fits", "too_near", "does_not_fit"]
STEP_BYTES = 128 << 20
"""What tracing a step, its programs and the workspace of its kernels take besides what the plan counts, at most."""
STATES, COMPUTING, OVER = 0.75, 1.1, 0.1
"""By what share more may be needed than planned: of weights, gradients and optimizer, as an update makes copies of its largest
weight and loading holds some twice; of activations and buffers, of which frameworks keep more than the backward pass needs, in
pieces that do not fit into each other; and by what share of all less.

Source: `python -m benchmarks training_peaks`, docs/memory-accuracy.md.
"""


@dataclass(frozen=True)
class Margin:
    """Around what a plan says."""

    short_bytes: int
    """By how much more may be needed."""
    over_bytes: int
    """By how much less."""


def margin(planned: BytesPerDevice) -> Margin:
    """How wrong a plan may be."""
    computing = planned.activations + planned.buffers
    short = STATES * (planned.total - computing) + COMPUTING * computing
    return Margin(STEP_BYTES + int(short), int(OVER * planned.total))


def verdict(planned: BytesPerDevice, usable_bytes: int) -> Verdict:
    """What a plan allows to say of a device with so much memory."""
    around = margin(planned)
    if planned.total + around.short_bytes <= usable_bytes:
        return "fits"
    return "does_not_fit" if planned.total - around.over_bytes > usable_bytes else "too_near"

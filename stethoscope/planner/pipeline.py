"""Pipeline parallelism: cutting a model into stages that need about the same memory, and a batch into micro-batches."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

_MICRO_BATCHES_PER_STAGE = 4
"""With 4·p micro-batches the pipeline idles (p − 1)/(4·p) of the time, less than a quarter (GPipe, arXiv 1811.06965)."""


@dataclass(frozen=True)
class MicroBatches:
    """How a device's batch goes through the stages."""

    size: int
    """Samples in one."""
    number: int
    stages: int
    training: bool

    def in_flight(self, stage: int) -> int:
        """Micro-batches whose activations stage `stage` (0 is the first) holds at once.

        Source: the one-forward-one-backward schedule, PipeDream-2BW/Megatron, Narayanan et al. 2021, arXiv 2104.04473,
        section 2.2: at most p on the first stage, one on the last.
        """
        return min(self.stages - stage, self.number) if self.training else 1

    @property
    def bubble(self) -> float:
        """Idle time over useful time: (p − 1)/m. Source: arXiv 2104.04473, section 2.2.1."""
        return (self.stages - 1) / self.number


def micro_batches(batch: int, stages: int, training: bool) -> MicroBatches:
    """Cuts a batch of `batch` samples for `stages` pipeline stages."""
    if stages == 1:
        return MicroBatches(batch, 1, 1, training)
    size = -(-batch // (stages * _MICRO_BATCHES_PER_STAGE))
    return MicroBatches(size, -(-batch // size), stages, training)


def balanced_stages(
    fixed: Sequence[float], per_sample: Sequence[int], stages: int, micro: MicroBatches
) -> list[tuple[int, int]]:
    """Cuts layers into at most `stages` consecutive stretches so that the largest needs least.

    Args:
        fixed: bytes each layer needs whatever the batch (weights, optimizer).
        per_sample: bytes each layer stores per sample; a stage stores them for all micro-batches in flight.
        stages: how many stretches.
        micro: sizes of the micro-batches.

    Returns:
        (first, last + 1) for each stretch; fewer than `stages` when there are fewer layers.
    """

    count = len(fixed)
    sums: dict[int, list[float]] = {}

    def held(stage: int) -> list[float]:
        """Bytes of all layers before each, as stage `stage` would hold them."""
        samples = micro.size * micro.in_flight(stage)
        if samples not in sums:
            needs = (own + stored * samples for own, stored in zip(fixed, per_sample, strict=True))
            sums[samples] = list(itertools.accumulate(needs, initial=0.0))
        return sums[samples]

    def cut(limit: float) -> list[tuple[int, int]] | None:
        bounds: list[tuple[int, int]] = []
        start = 0
        while start < count:
            if len(bounds) == stages:
                return None
            before = held(len(bounds))
            end = bisect.bisect_right(before, before[start] + limit) - 1
            if end == start:
                return None
            bounds.append((start, end))
            start = end
        return bounds

    low, high, best = 0.0, held(0)[-1] * (1 + 1e-9), [(0, count)]
    for _ in range(30):
        middle = (low + high) / 2
        found = cut(middle)
        if found is None:
            low = middle
        else:
            high, best = middle, found
    return best

"""Peak memory as a straight line in the batch size, through a few measured small ones.

Source: activations grow linearly in the batch size while weights and workspace stay: peak(B) = a + c·B.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

_MARGIN = 0.05
"""Half width of an answer beyond the error seen at the measured points."""


class PeakFit:
    """A line through measured peaks.

    Args:
        probes: peak memory in bytes by batch size; at least one.
    """

    def __init__(self, probes: Mapping[int, int]) -> None:
        self.probes = dict(probes)
        sizes, peaks = np.array(list(probes), float), np.array(list(probes.values()), float)
        self.bytes_per_row = max(0.0, float(np.polyfit(sizes, peaks, 1)[0])) if len(probes) > 1 else 0.0
        self.start_bytes = float(peaks[-1] - self.bytes_per_row * sizes[-1])
        line = self.start_bytes + self.bytes_per_row * sizes
        self.error_fraction = float(np.max(np.abs(peaks - line)) / max(1.0, float(peaks.max())))

    def predict(self, batch_size: int) -> int:
        """The peak expected at a batch size, in bytes."""
        return int(self.start_bytes + self.bytes_per_row * batch_size)

    def largest(self, limit_bytes: int) -> dict[str, int] | None:
        """The batch sizes between which the largest that fits lies; `low` is safe, `high` optimistic.

        None when memory does not grow with the batch, or nothing fits.
        """
        if self.bytes_per_row <= 0 or self.start_bytes >= limit_bytes:
            return None
        best = (limit_bytes - self.start_bytes) / self.bytes_per_row
        margin = _MARGIN + self.error_fraction
        return {"low": max(0, math.floor(best * (1 - margin))), "high": max(0, math.floor(best * (1 + margin)))}

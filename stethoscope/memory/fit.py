"""Peak memory against the batch size, through a few measured small batches.

Source: activations grow linearly in the batch size while weights and workspace stay: peak(B) = a + c·B. The smallest
batches lie off the line (a kernel's workspace for each thread, tensors too small to be given back), so the line goes
through the largest probes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

POINTS = 3
"""Probes the line goes through: the largest ones."""
FLATTENING = 0.25
"""Of the fall from the last slope but one to the last, what the slope beyond falls by again."""
AHEAD = 2
"""Batches that `model.predict` has ready before they are asked for."""
_MARGIN = 0.02
"""Half width of an answer beyond the error seen at the measured points."""
_SLOPE_SHARE = 0.25
"""Of the disagreement between the last two slopes, what the next may differ by."""


class PeakFit:
    """A line through measured peaks.

    Args:
        probes: peak memory in bytes by batch size, of a process that holds the input of that batch only; at least one.
        input_row_bytes: bytes of one row of input.
        output_row_bytes: bytes of one row of output.
        loading_peak_bytes: peak of loading the model and of tracing it, below which no run stays.
        traced_anew: whether every new batch size is traced or compiled again, which then counts for its peak.
    """

    def __init__(
        self,
        probes: Mapping[int, int],
        *,
        input_row_bytes: float = 0.0,
        output_row_bytes: float = 0.0,
        loading_peak_bytes: int = 0,
        traced_anew: bool = False,
    ) -> None:
        self.probes = dict(sorted(probes.items()))
        self.input_row_bytes, self.output_row_bytes = input_row_bytes, output_row_bytes
        self.loading_peak_bytes, self.traced_anew = loading_peak_bytes, traced_anew
        sizes, peaks = np.array(list(self.probes), float), np.array(list(self.probes.values()), float)
        sizes, peaks = sizes[-POINTS:], peaks[-POINTS:]
        self.bytes_per_row, line = input_row_bytes, peaks
        if len(sizes) > 1:
            # The largest probes are nearest to what is asked about, and their noise is the smallest share of them.
            slope, start = np.polyfit(sizes, peaks, 1, w=sizes)
            self.bytes_per_row = max(float(slope), 0.0)
            line = start + slope * sizes
        slopes = np.diff(peaks) / np.diff(sizes) if len(sizes) > 1 else np.zeros(0)
        if len(slopes) > 1 and 0 <= slopes[-1] < slopes[-2]:
            # Still flattening: what the batch does not multiply is shared by ever more rows.
            self.bytes_per_row = float(max(slopes[-1] - FLATTENING * (slopes[-2] - slopes[-1]), slopes[-1] / 2))
        self.start_bytes = float(peaks[-1] - self.bytes_per_row * sizes[-1])
        self.largest_probe = int(sizes[-1])
        self.error_fraction = float(np.max(np.abs(peaks - line)) / max(1.0, float(peaks.max())))
        self._slope_spread = float(abs(slopes[-1] - slopes[-2])) if len(slopes) > 1 else 0.0

    def of(self, probes: Mapping[int, int], loading_peak_bytes: int | None = None) -> PeakFit:
        """The same model through other probes."""
        return PeakFit(
            probes,
            input_row_bytes=self.input_row_bytes,
            output_row_bytes=self.output_row_bytes,
            loading_peak_bytes=self.loading_peak_bytes if loading_peak_bytes is None else loading_peak_bytes,
            traced_anew=self.traced_anew,
        )

    def before(self, batch_size: int) -> PeakFit:
        """As it was known before a batch of this size was run; the smallest probe has nothing before it."""
        smaller = {rows: peak for rows, peak in self.probes.items() if rows < batch_size}
        return self.of(smaller or dict([min(self.probes.items())]))

    def predict(self, batch_size: int) -> int:
        """The peak expected of one call at a batch size, in bytes."""
        return max(0, int(self.start_bytes + self.bytes_per_row * batch_size))

    def predict_run(self, batch_size: int, samples: int, *, batches_itself: bool = False) -> int:
        """The peak expected of a whole run: loading, every batch, and collecting the outputs of all, in bytes.

        The input of all samples is held throughout, the outputs of the batches done until they are joined, and while
        they are joined twice. `batches_itself` is for `model.predict`, which copies all input into a tensor of its own and
        prepares batches ahead.

        Source: keras/src/trainers/data_adapters/array_data_adapter.py (`from_tensors`, `prefetch`).
        """
        batch_size = max(1, min(batch_size, samples))
        peak = self.predict(batch_size)
        if batches_itself:
            ahead = min(math.ceil(samples / batch_size) - 1, AHEAD) * batch_size
            peak += int((samples - batch_size + ahead) * self.input_row_bytes)
        if samples > batch_size:
            peak += int((samples - batch_size) * (self.input_row_bytes + self.output_row_bytes))
            inputs = (2 if batches_itself else 1) * samples * self.input_row_bytes
            peak = max(peak, int(self.start_bytes + inputs + 2 * samples * self.output_row_bytes))
        return max(self.loading_peak_bytes, peak)

    def margin_bytes(self, batch_size: int) -> int:
        """By how much the answer for a batch size may be wrong."""
        beyond = max(0, batch_size - self.largest_probe)
        share = _MARGIN + self.error_fraction
        return int(share * self.predict(batch_size) + _SLOPE_SHARE * self._slope_spread * beyond)

    def fits(self, batch_size: int, limit_bytes: int) -> bool | None:
        """Whether a batch fits; None while the limit lies within the margin."""
        expected, margin = self.predict(batch_size), self.margin_bytes(batch_size)
        if max(expected + margin, self.loading_peak_bytes) <= limit_bytes:
            return True
        return False if expected - margin > limit_bytes or self.loading_peak_bytes > limit_bytes else None

    def largest(self, limit_bytes: int) -> dict[str, int] | None:
        """The batch sizes between which the largest that fits lies; `low` is safe, `high` optimistic.

        None when memory does not grow with the batch, or nothing fits.
        """
        if self.bytes_per_row <= 0 or max(self.start_bytes, self.loading_peak_bytes) >= limit_bytes:
            return None
        low = _largest(lambda size: self.predict(size) + self.margin_bytes(size) <= limit_bytes)
        high = _largest(lambda size: self.predict(size) - self.margin_bytes(size) <= limit_bytes)
        best = math.floor((limit_bytes - self.start_bytes) / self.bytes_per_row)
        return {"low": min(low, best), "high": max(high, best)}


def _largest(fits: Callable[[int], bool], most: int = 1 << 30) -> int:
    """The largest size that fits, 0 when none does; `fits` turns false once."""
    low, high = 0, 1
    while high < most and fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low

"""Peak memory against the batch size, through a few measured small batches.

Source: activations grow linearly in the batch size while weights and workspace stay: peak(B) = a + c·B. The smallest
batches lie off the line (a kernel's workspace for each thread, tensors too small to be given back), so the line goes
through the largest probes.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.framework_errors import BatchInterval

POINTS = 3
"""Probes the line goes through: the largest ones."""
APART = 1.4
"""Probes nearer to each other than by this factor differ by noise as much as by rows."""
FLATTENING = 0.25
"""Of the fall from the last slope but one to the last, what the slope beyond falls by again."""
AHEAD = 2
"""Batches that `model.predict` has ready before they are asked for."""
_KINK = 0.25
"""A slope that changes by more than this share is another program, not a curve."""
_MARGIN = 0.03
"""Half width of an answer beyond the error seen at the measured points."""
_NOISE_BYTES = 6 << 20
"""What equal runs differ by: threads that run side by side, pieces an allocator keeps."""
_WANDERING_BYTES = 2 << 20
"""What one probe may be off by: little where the probes are far apart, all of the slope where they grow by less."""
_OTHER_ALGORITHM = 0.10
"""What else a program compiled for this size alone may be off by: XLA chooses its algorithms for each."""
_SLOPE_SHARE = 0.25
"""Of the disagreement between the last two slopes, what the next may differ by."""

_BEYOND_SHARE = 0.1
"""Of the growth beyond the largest probe: loops run ahead only so far, and kernels change."""


class PeakFit:
    """A line through measured peaks.

    Args:
        probes: peak memory in bytes by batch size, of a process that holds the input of that batch only; at least one.
        input_row_bytes: bytes of one row of input.
        output_row_bytes: bytes of one row of output.
        loading_peak_bytes: peak of loading the model and of tracing it, below which no run stays.
        tracing_bytes: what tracing or compiling adds where every new batch size needs it; part of the probes.
        held_bytes: what the process of the probes held besides the input.
        spread_bytes: by how much the call that needed most lay above the mean of equal calls.
        roughness: by what share peaks lie beside any line, 0 for those that follow the tensors.
    """

    def __init__(
        self,
        probes: Mapping[int, int],
        *,
        input_row_bytes: float = 0.0,
        output_row_bytes: float = 0.0,
        loading_peak_bytes: int = 0,
        tracing_bytes: int = 0,
        held_bytes: int = 0,
        spread_bytes: int = 0,
        roughness: float = 0.0,
    ) -> None:
        self.roughness = roughness
        self.probes = dict(sorted(probes.items()))
        self.input_row_bytes, self.output_row_bytes = input_row_bytes, output_row_bytes
        self.loading_peak_bytes, self.tracing_bytes, self.held_bytes = loading_peak_bytes, tracing_bytes, held_bytes
        self.spread_bytes = spread_bytes
        used = _apart(list(self.probes))[-POINTS:]
        sizes, peaks = np.array(used, float), np.array([self.probes[rows] for rows in used], float)
        self.bytes_per_row, line = input_row_bytes, peaks
        if len(sizes) > 1:
            # The largest probes are nearest to what is asked about, and their noise is the smallest share of them.
            slope, start = np.polyfit(sizes, peaks, 1, w=sizes)
            self.bytes_per_row = max(float(slope), 0.0)
            line = start + slope * sizes
        slopes = np.diff(peaks) / np.diff(sizes) if len(sizes) > 1 else np.zeros(0)
        if len(slopes) > 1 and abs(slopes[-1] - slopes[-2]) > _KINK * abs(slopes[-2]):
            self.bytes_per_row = self._beyond_a_kink(float(sizes[-1]), float(peaks[-1]), slopes)
        elif len(slopes) > 1 and 0 <= slopes[-1] < slopes[-2]:
            # Still flattening: what the batch does not multiply is shared by ever more rows.
            self.bytes_per_row = float(slopes[-1] - FLATTENING * (slopes[-2] - slopes[-1]))
        self.start_bytes = float(peaks[-1] - self.bytes_per_row * sizes[-1])
        self.largest_probe = int(sizes[-1])
        self.error_fraction = float(np.max(np.abs(peaks - line)) / max(1.0, float(peaks.max())))
        self._slope_spread = _SLOPE_SHARE * float(abs(slopes[-1] - slopes[-2])) if len(slopes) > 1 else 0.0
        if len(sizes) > 1:
            self._slope_spread += _WANDERING_BYTES / float(sizes[-1] - sizes[0])

    def _beyond_a_kink(self, rows: float, peak: float, slopes: npt.NDArray[Any]) -> float:
        """Bytes of each further row where the last slopes disagree: other kernels run than did for the smallest batches.

        The one buffer of a program that XLA compiled grows with its rows. Elsewhere what was the peak of small batches may
        hide what grows, or no longer grow itself: a fallen slope is too little, and growth with the rows too much.
        """
        proportional = max(0.0, (peak - self.held_bytes - self.tracing_bytes) / rows)
        if self.tracing_bytes:
            return proportional
        if slopes[-1] > slopes[-2]:
            return self.bytes_per_row
        return (max(0.0, float(slopes[-1])) + proportional) / 2

    def of(
        self, probes: Mapping[int, int], *, loading_peak_bytes: int | None = None, held_bytes: int | None = None
    ) -> PeakFit:
        """The same model through other probes."""
        return PeakFit(
            probes,
            input_row_bytes=self.input_row_bytes,
            output_row_bytes=self.output_row_bytes,
            loading_peak_bytes=self.loading_peak_bytes if loading_peak_bytes is None else loading_peak_bytes,
            tracing_bytes=self.tracing_bytes,
            held_bytes=self.held_bytes if held_bytes is None else held_bytes,
            spread_bytes=self.spread_bytes,
            roughness=self.roughness,
        )

    def holding(self, held_bytes: int) -> PeakFit:
        """The same model in a process that holds more, or less, besides the input."""
        more = held_bytes - self.held_bytes
        return self.of({rows: peak + more for rows, peak in self.probes.items()}, held_bytes=held_bytes)

    def before(self, batch_size: int) -> PeakFit:
        """As it was known before a batch of this size was run; without the two smallest probes nothing is known."""
        return self.of(
            {rows: peak for place, (rows, peak) in enumerate(self.probes.items()) if rows < batch_size or place < 2}
        )

    def predict(self, batch_size: int) -> int:
        """The peak expected of one call at a batch size, in bytes."""
        return max(0, int(self.start_bytes + self.bytes_per_row * batch_size))

    def between(self, batch_size: int) -> int:
        """As `predict`, but on the straight line between the probes around a batch where there are some, in bytes."""
        sizes = list(self.probes)
        place = bisect.bisect_left(sizes, batch_size)
        if place == len(sizes) or (place == 0 and sizes[0] != batch_size):
            return self.predict(batch_size)
        high = sizes[place]
        if high == batch_size:
            return self.probes[high]
        low = sizes[place - 1]
        share = (batch_size - low) / (high - low)
        return int(self.probes[low] + share * (self.probes[high] - self.probes[low]))

    def predict_run(self, batch_size: int, samples: int, *, batches_itself: bool = False) -> int:
        """The peak expected of a whole run: loading, every batch, and collecting the outputs of all, in bytes.

        The input of all samples is held throughout, the outputs of the batches done until they are joined, and while
        they are joined twice. `batches_itself` is for `model.predict`, which copies all input into a tensor of its own,
        for a while twice, and prepares batches ahead.

        Source: keras/src/trainers/data_adapters/array_data_adapter.py (`from_tensors`, `prefetch`); the second copy is
        measured: two convolutional models, 8 to 4,096 samples.
        """
        batch_size = max(1, min(batch_size, samples))
        peak, others = self.predict(batch_size), samples - batch_size
        if others:
            peak += self.spread_bytes  # the highest of several
            inputs, outputs = others * self.input_row_bytes, others * self.output_row_bytes
            joined = self.start_bytes + samples * (self.input_row_bytes + 2 * self.output_row_bytes)
            if batches_itself:
                ahead = min(math.ceil(samples / batch_size) - 1, AHEAD) * batch_size * self.input_row_bytes
                peak += int(inputs + ahead + max(2 * inputs, inputs + outputs))
                joined += samples * self.input_row_bytes
            else:
                peak += int(inputs + outputs)
            peak = max(peak, int(joined))
        return max(self.loading_peak_bytes, peak)

    def margin_bytes(self, batch_size: int) -> int:
        """By how much the answer for a batch size may be wrong."""
        beyond = max(0, batch_size - self.largest_probe)
        wandering = self._slope_spread + _BEYOND_SHARE * self.bytes_per_row
        share = (
            _MARGIN
            + self.roughness
            + self.error_fraction
            + (_OTHER_ALGORITHM if self.tracing_bytes and beyond else 0.0)
        )
        noise = max(_NOISE_BYTES, self.spread_bytes)
        return int(noise + share * self.predict(batch_size) + wandering * beyond)

    def fits(self, batch_size: int, limit_bytes: int) -> bool | None:
        """Whether a batch fits; None while the limit lies within the margin."""
        expected, margin = self.predict(batch_size), self.margin_bytes(batch_size)
        if max(expected + margin, self.loading_peak_bytes) <= limit_bytes:
            return True
        return False if expected - margin > limit_bytes or self.loading_peak_bytes > limit_bytes else None

    def largest(self, limit_bytes: int) -> BatchInterval | None:
        """The batch sizes between which the largest that fits lies; `low` is safe, `high` optimistic.

        None when memory does not grow with the batch, or nothing fits.
        """
        if self.bytes_per_row <= 0 or max(self.start_bytes, self.loading_peak_bytes) >= limit_bytes:
            return None
        low = _largest(lambda size: self.predict(size) + self.margin_bytes(size) <= limit_bytes)
        high = _largest(lambda size: self.predict(size) - self.margin_bytes(size) <= limit_bytes)
        best = math.floor((limit_bytes - self.start_bytes) / self.bytes_per_row)
        return BatchInterval(min(low, best), max(high, best))


def _apart(sizes: list[int]) -> list[int]:
    """Those that lie far enough below the next to tell a slope; the largest always."""
    kept: list[int] = []
    for size in reversed(sizes):
        if not kept or APART * size <= kept[-1]:
            kept.append(size)
    return kept[::-1]


def _largest(fits: Callable[[int], bool], most: int = 1 << 30) -> int:
    """The largest size that fits, 0 when none does; `fits` turns false once."""
    low, high = 0, 1
    while high < most and fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low

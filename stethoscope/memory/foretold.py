"""What a run is expected to need, from estimates alone: the peak, its margin, and the largest batch. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stethoscope.framework_errors import ShortageReport
from stethoscope.memory.estimate import Alive, Estimate
from stethoscope.memory.fit import PeakFit

ERROR = 0.08
"""By what share an estimate of a plain process may be off; see docs/memory-accuracy.md."""
_NOISE_BYTES = 6 << 20


@dataclass(frozen=True)
class Foretold:
    """Estimates of one call at a few batch sizes, and of the whole run at the last of them."""

    calls: tuple[Estimate, ...]
    """Of one batch each, ascending; the last is the batch asked about."""
    run: Estimate
    input_row_bytes: float

    @classmethod
    def of(cls, calls: Sequence[Estimate], run: Estimate, input_row_bytes: float) -> Foretold:
        """Without what only a picture needs."""
        return cls(tuple(item.slim for item in calls), run.slim, input_row_bytes)

    @property
    def margin_bytes(self) -> int:
        """By how much the peak may be off."""
        return int(_NOISE_BYTES + ERROR * self.run.peak_bytes)

    @property
    def fit(self) -> PeakFit:
        """The line through the calls."""
        last = self.calls[-1]
        return PeakFit(
            {item.batch_size: item.call_peak_bytes for item in self.calls},
            input_row_bytes=self.input_row_bytes,
            output_row_bytes=last.batch_output_bytes / max(1, last.batch_size),
            loading_peak_bytes=last.loading_peak_bytes,
            roughness=ERROR,
        )

    @property
    def largest(self) -> Alive | None:
        """The largest tensor alive at the peak; None where none is known."""
        return self.run.alive[0] if self.run.alive else None


def expected_tensor(tensor: Alive, report: ShortageReport) -> ShortageReport:
    """The report with the largest tensor expected at the peak: what asked last is chance, what holds most is the cause."""
    return replace(
        report,
        tensor_shape=tensor.shape,
        tensor_bytes=tensor.size_bytes,
        operator=tensor.layer or tensor.name,
        tensor_from="expected",
    )

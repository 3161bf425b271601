"""Record what one model answers, outputs and layers, for comparisons in other processes."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.compare.parity.recorded import recorded
from stethoscope.compare.parity.side import way_of
from stethoscope.task import TaskContext


@dataclass(frozen=True)
class Recorded:
    """What a recording holds: rows, layers whose answers were kept, and what the first call on all rows took."""

    rows: int
    layers: int
    time_s: float
    peak_bytes: int


class Record:
    """Files: "model", optionally "data". params: as the task `compare`, of which this is the first half."""

    kind = "record"
    answer = Recorded

    def run(self, context: TaskContext) -> Recorded:
        """Leaves the recording (see `parity.recording`).

        Raises:
            StethoscopeError: as `recorded`.
        """
        way = way_of(context, "model", alone=True)
        folder = context.folder / "out"
        made = recorded(context, way, folder)
        made.save(folder)
        return Recorded(len(made.places), len(made.layers), made.time_s, made.peak_bytes)


TASK = Record()

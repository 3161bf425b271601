"""Record what one model answers, outputs and layers, for comparisons in other processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stethoscope.task import TaskContext
from stethoscope.tasks.parity_recorded import recorded
from stethoscope.tasks.parity_ways import way_of


class Record:
    """Files: "model", optionally "data". params: as the task `compare`, of which this is the first half."""

    kind = "record"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Leaves the recording (see `parity.recording`); returns {"rows", "layers", "time_s", "peak_bytes"}.

        Raises:
            StethoscopeError: as `recorded`.
        """
        way = way_of(context, "model", alone=True)
        folder = context.folder / "out"
        made = recorded(context, way, folder)
        made.save(folder)
        return {
            "rows": len(made.places),
            "layers": len(made.layers),
            "time_s": made.time_s,
            "peak_bytes": made.peak_bytes,
        }


TASK = Record()

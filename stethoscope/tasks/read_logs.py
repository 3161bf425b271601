"""Read training logs: the curves of the run to diagnose, and the names of the others."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from stethoscope.codec import plain
from stethoscope.gathering.logs import gather_logs
from stethoscope.types import TaskContext


class ReadLogs:
    """Files: "logs", a folder or one log file. No params."""

    kind = "read_logs"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns the chosen run as `CurveEvidence`, and under "others" the names and last losses of the other runs."""
        file = context.files["logs"]
        context.report("read", message=f"reading {file.name}")
        found = gather_logs(file.path, file.name)
        others = [
            {"run": run.run, "points": len(run.steps), "last_loss": run.loss[-1] if run.loss else None}
            for run in found.runs
            if run is not found.chosen
        ]
        value: dict[str, Any] = plain({**dataclasses.asdict(found.chosen), "others": others[:1000]})
        return value


TASK = ReadLogs()

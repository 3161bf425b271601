"""Read training logs: the curves of the run to diagnose, and of other runs beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from stethoscope.codec import plain
from stethoscope.gathering.logs import gather_logs
from stethoscope.task import TaskContext
from stethoscope.tasks.log_place import log_place

_MAX_POINTS = 500_000
"""Points of other runs that are answered beside the chosen one."""


class ReadLogs:
    """Files: "logs", a folder or one log file. No params."""

    kind = "read_logs"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns the run to diagnose as `CurveEvidence`; under "others" other runs, newest first; under "left_out" how many more."""
        file = context.files["logs"]
        context.report("read", message=f"reading {file.name}")
        found = gather_logs(log_place(file, context.folder), file.name)
        runs, points = [found.chosen], len(found.chosen.steps)
        for run in reversed(found.runs):
            points += len(run.steps)
            if run is not found.chosen and points <= _MAX_POINTS:
                runs.append(run)
        others = [dataclasses.asdict(run) for run in runs[1:]]
        value: dict[str, Any] = plain(
            {**dataclasses.asdict(found.chosen), "others": others, "left_out": len(found.runs) - len(runs)}
        )
        return value


TASK = ReadLogs()

"""Read training logs: the curves of the run to diagnose."""

from __future__ import annotations

from stethoscope.logs.curves import CurveEvidence
from stethoscope.logs.walk import log_place
from stethoscope.task import TaskContext
from stethoscope.tasks.examine_runs import gather_logs


class ReadLogs:
    """Files: "logs", a folder or one log file. No params."""

    kind = "read_logs"
    answer = CurveEvidence

    def run(self, context: TaskContext) -> CurveEvidence:
        """Reads all runs and answers with the one to diagnose."""
        file = context.files["logs"]
        context.report("read", message=f"reading {file.name}")
        return gather_logs(log_place(file, context.folder), file.name)


TASK = ReadLogs()

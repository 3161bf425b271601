"""Judge training logs by themselves: what every run holds, and what is wrong with the trainings."""

from __future__ import annotations

import re
from typing import Any

from stethoscope.errors import BadInput
from stethoscope.logs.runs.export import write_points
from stethoscope.logs.walk import log_place
from stethoscope.task import TaskContext
from stethoscope.training.gathering.log_report import LogReport, examine_runs, gather_runs


class ExamineRuns:
    """Files: "logs", a folder, an archive or one file. params: {"runs", "tags": regular expressions, "points": bool}."""

    kind = "examine_runs"
    answer = LogReport

    def run(self, context: TaskContext) -> LogReport:
        """Judges every run; with "points" every point lies in points.csv beside the answer."""
        file = context.files["logs"]
        context.report("read", message=f"reading {file.name}")
        found = gather_runs(log_place(file, context.folder), file.name)
        names, tags = (_pattern(context.params.get(key)) for key in ("runs", "tags"))
        runs = [run for run in found if names.search(run.run)]
        report = examine_runs(runs, lambda fraction, message: context.report("judge", fraction, message), tags=tags)
        if context.params.get("points"):
            context.report("points", message="writing every point")
            out = context.folder / "out"
            out.mkdir(exist_ok=True)
            with (out / "points.csv").open("w", encoding="utf-8", newline="") as stream:
                write_points(runs, stream, tags)
        return report


def _pattern(text: Any) -> re.Pattern[str]:
    try:
        return re.compile(str(text or ""))
    except re.error as error:
        raise BadInput(f"Filter {text!r}: expected a regular expression, got an error: {error}. Correct it.") from error


TASK = ExamineRuns()

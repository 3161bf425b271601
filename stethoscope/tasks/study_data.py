"""Study data as a whole: every field, classes, pictures, marks, repeated rows. Executes nothing."""

from __future__ import annotations

from stethoscope.data import open_data
from stethoscope.data.study.study import TIME_S, StudiedData, Study
from stethoscope.errors import BadSetting
from stethoscope.task import TaskContext


class StudyData:
    """params: {"time_s": seconds to read for, "seed", "data_options"}; files: "data"."""

    kind = "study_data"
    answer = StudiedData

    def run(self, context: TaskContext) -> StudiedData:
        """Reads for that long, and studies what was read."""
        file = context.files["data"]
        time_s = float(context.params.get("time_s", TIME_S))
        if not 0 < time_s <= context.budget.timeout_s:
            raise BadSetting(f"Time to read for: expected up to {context.budget.timeout_s:g} s, got {time_s:g}.")
        context.report("read", message=f"opening {file.name}")
        with open_data(file, context.budget.memory_bytes, context.params.get("data_options") or {}) as data:
            study = Study(data, int(context.params.get("seed", 0)))
            study.run(time_s, lambda fraction, message: context.report("read", fraction, message))
            return study.result()


TASK = StudyData()

"""Profile the user's data against a model's inputs and outputs. Executes nothing."""

from __future__ import annotations

from stethoscope.data.profile.profiles import DataEvidence
from stethoscope.data.rows import data_of
from stethoscope.models.formats import detect
from stethoscope.task import TaskContext
from stethoscope.training.gathering.data import profile_data


class Profile:
    """params: none; files: "model", "data"."""

    kind = "profile"
    answer = DataEvidence

    def run(self, context: TaskContext) -> DataEvidence:
        """Reads both and profiles the data."""
        model, data = context.files["model"], context.files["data"]
        context.report("read", message=f"reading {model.name}")
        architecture = detect(model).describe(model)
        context.report("read", message=f"reading {data.name}")
        arrays = data_of(context)
        return profile_data(arrays, architecture, data.name, context.report)


TASK = Profile()

"""Profile the user's data against a model's inputs and outputs. Executes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from stethoscope.codec import plain
from stethoscope.data.rows import data_of
from stethoscope.formats import detect
from stethoscope.gathering.data import profile_data
from stethoscope.task import TaskContext


class Profile:
    """params: none; files: "model", "data"."""

    kind = "profile"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns `DataEvidence` as JSON."""
        model, data = context.files["model"], context.files["data"]
        context.report("read", message=f"reading {model.name}")
        architecture = detect(model).describe(model)
        context.report("read", message=f"reading {data.name}")
        arrays = data_of(context)
        found: Mapping[str, Any] = plain(asdict(profile_data(arrays, architecture, data.name, context.report)))
        return found


TASK = Profile()

"""Baselines: what the majority, a linear model and boosted trees reach on the same data. Runs no model of the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from stethoscope.codec import plain
from stethoscope.data.binding import bind_all
from stethoscope.data.rows import data_of
from stethoscope.formats import detect
from stethoscope.task import TaskContext

TIME_S = 10.0


class Baseline:
    """params: {"fit", "time_s"}; files: "model", "data"."""

    kind = "baseline"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns `BaselineEvidence` as JSON."""
        from stethoscope.gathering.baseline import compare_baselines
        from stethoscope.training.from_job import fit_settings

        model, data = context.files["model"], context.files["data"]
        context.report("read", message=f"reading {data.name}")
        architecture = detect(model).describe(model)
        bound = bind_all(data_of(context), architecture)
        fit = fit_settings(context.params.get("fit"))
        time_s = float(context.params.get("time_s", TIME_S))
        found: Mapping[str, Any] = plain(asdict(compare_baselines(bound, architecture, fit, time_s, context.report)))
        return found


TASK = Baseline()

"""Baselines: what the majority, a linear model and boosted trees reach on the same data. Runs no model of the user."""

from __future__ import annotations

from stethoscope.data.rows import bind_all, data_of
from stethoscope.evidence.baseline import BaselineEvidence
from stethoscope.models.formats import detect
from stethoscope.task import TaskContext

TIME_S = 10.0


class Baseline:
    """params: {"fit", "time_s"}; files: "model", "data"."""

    kind = "baseline"
    answer = BaselineEvidence

    def run(self, context: TaskContext) -> BaselineEvidence:
        """Trains the simple models and scores them on rows held back."""
        from stethoscope.training.from_job import fit_settings
        from stethoscope.training.gathering.baseline import compare_baselines

        model, data = context.files["model"], context.files["data"]
        context.report("read", message=f"reading {data.name}")
        architecture = detect(model).describe(model)
        bound = bind_all(data_of(context), architecture)
        fit = fit_settings(context.params.get("fit"))
        time_s = float(context.params.get("time_s", TIME_S))
        return compare_baselines(bound, architecture, fit, time_s, context.report)


TASK = Baseline()

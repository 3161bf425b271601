"""A short, instrumented training run of a copy of the model on the user's data, and what-if runs beside it."""

from __future__ import annotations

from stethoscope.evidence.training import TrainingEvidence
from stethoscope.task import TaskContext
from stethoscope.training.from_job import fit_settings, fitting_rows, setup_from_job
from stethoscope.training.gathering.training import Gatherer

TIME_S = 12.0
"""Seconds for everything after the model is loaded, unless params say otherwise."""


class Train:
    """params: {"fit": {…}, "time_s", "trials", "trusted"}; files: "model", "data"."""

    kind = "train"
    answer = TrainingEvidence

    def run(self, context: TaskContext) -> TrainingEvidence:
        """Trains; what is known so far is kept as the partial answer."""
        fit = fit_settings(context.params.get("fit"))
        _, setup, assumed = setup_from_job(context)
        setup, sentences = fitting_rows(setup, context.budget.memory_bytes)
        gatherer = Gatherer(
            setup,
            fit.epochs,
            (*assumed, *sentences),
            float(context.params.get("time_s") or TIME_S),
            say=context.report,
            keep=context.save_partial,
            warm=context.memory.enforce,
            trials=bool(context.params.get("trials", True)),
        )
        return gatherer.run()


TASK = Train()

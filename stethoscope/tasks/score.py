"""Score a network on the rows the baselines are scored on: as it is when it is trained, else after training it."""

from __future__ import annotations

from stethoscope.data.binding import bind_all
from stethoscope.data.rows import data_of
from stethoscope.errors import BadSetting
from stethoscope.evidence.baseline import NetworkScore
from stethoscope.task import TaskContext

TIME_S = 8.0


class ScoreNetwork:
    """params: {"fit", "time_s", "name", "test_index", "trusted"}; files: "model", "data". A second model is another job with its name."""

    kind = "score"
    answer = NetworkScore

    def run(self, context: TaskContext) -> NetworkScore:
        """Scores the network, after training it where it is not."""
        from stethoscope.training.from_job import fit_settings, setup_from_job
        from stethoscope.training.gathering.network_score import score_network

        index = context.params.get("test_index") or ()
        if not isinstance(index, list | tuple) or not all(isinstance(row, int) for row in index):
            raise BadSetting("Rows held back: expected a list of row numbers, got something else.")
        architecture, setup, _ = setup_from_job(context)
        fit = fit_settings(context.params.get("fit"))
        bound = bind_all(data_of(context), architecture)
        return score_network(
            setup,
            bound,
            architecture,
            fit,
            name=str(context.params.get("name", "this network"))[:80],
            time_s=float(context.params.get("time_s", TIME_S)),
            test_index=index,
            report=context.report,
        )


TASK = ScoreNetwork()

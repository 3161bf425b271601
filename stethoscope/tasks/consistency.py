"""Does the same input always give the same output, and what becomes of inputs at the edge?"""

from __future__ import annotations

from stethoscope.compare.consistency.report import ConsistencyReport
from stethoscope.compare.consistency.study import Study
from stethoscope.compare.consistency.subject import Subject
from stethoscope.data.feeds.dummy import model_input
from stethoscope.task import TaskContext


class Consistency:
    """params: {"runs", "seed", "batch_size", "atol", "trusted"}; files: "model", optionally "data"."""

    kind = "consistency"
    answer = ConsistencyReport

    def run(self, context: TaskContext) -> ConsistencyReport:
        """Runs all tests on the same input."""
        runs = max(2, int(context.params.get("runs", 5)))
        seed = int(context.params.get("seed", 0))
        batch_size = max(1, int(context.params.get("batch_size", 8)))
        atol = float(context.params.get("atol", 1e-5))
        architecture, opened = context.open_model()
        with opened as runner:
            given = model_input(context, architecture, runner, 0, seed, batch_size)
            feed = given.batching.take(given.feed, given.batching.fixed or batch_size)
            context.memory.enforce()
            return Study(Subject(context, architecture, runner, given, feed, atol, seed), runs).run()


TASK = Consistency()

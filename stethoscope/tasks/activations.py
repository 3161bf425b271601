"""What every layer puts out over all rows of the data: streamed statistics, dead and saturated units, who excites a unit most."""

from __future__ import annotations

from stethoscope.activations.study import LayerActivations, Study
from stethoscope.task import TaskContext


class Activations:
    """params: {"layers"|null, "rows"|null, "batch_size", "seed", "keep_rows", "times", "preparation", "data_options", "trusted"};
    files: "model", optionally "data" (random input without)."""

    kind = "activations"
    answer = LayerActivations

    def run(self, context: TaskContext) -> LayerActivations:
        """Runs the model over the rows.

        With "keep_rows" it leaves the whole outputs of so many first rows, with "times" it tells the time of each layer.
        """
        architecture, opened = context.open_model()
        with opened as runner:
            return Study(context, architecture, runner).run()


TASK = Activations()

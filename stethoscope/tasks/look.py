"""What chosen layers put out for chosen samples: feature maps, vectors, sequences, attention scores, as bounded arrays."""

from __future__ import annotations

from stethoscope.activations.looking import LayerLooks, Looking
from stethoscope.task import TaskContext


class LookTask:
    """params: {"layers": 1 … 12 paths, "also": further paths, looked at where there is room, "places": at most 8 rows of the
    data, "seed" (of random input), "preparation", "data_options", "trusted"}; files: "model", optionally "data".
    The same sample in two models takes one job each."""

    kind = "look"
    answer = LayerLooks

    def run(self, context: TaskContext) -> LayerLooks:
        """Runs the model on the samples."""
        architecture, opened = context.open_model()
        with opened as runner:
            return Looking(context, architecture, runner).run()


TASK = LookTask()

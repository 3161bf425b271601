"""Do weights fit a model? Each layer beside what is stored for it. Executes nothing, reads no values."""

from __future__ import annotations

from stethoscope.models.weights.fitting import WeightsFit, fit
from stethoscope.task import TaskContext


class FitWeights:
    """params: none; files: "model", "weights"."""

    kind = "fit_weights"
    answer = WeightsFit

    def run(self, context: TaskContext) -> WeightsFit:
        """Matches the layers.

        Raises:
            UnreadableFile, UnsafeFile, TooLarge: as `describe` of either.
        """
        model, weights = context.files["model"], context.files["weights"]
        context.report("match", message=f"matching {weights.name} with {model.name}")
        return fit(model, weights)


TASK = FitWeights()

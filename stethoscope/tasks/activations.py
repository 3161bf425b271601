"""What every layer puts out over all rows of the data: streamed statistics, dead and saturated units, who excites a unit most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stethoscope.activations.study import Study
from stethoscope.task import TaskContext


class Activations:
    """params: {"layers"|null, "rows"|null, "batch_size", "seed", "keep_rows", "times", "preparation", "data_options", "trusted"};
    files: "model", optionally "data" (random input without)."""

    kind = "activations"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns the `activations` shape of the command line, with the reasons of what cannot be seen, and files per layer:

        "units-<n>.npy": one row per unit (`layer_totals.UNIT_FIELDS`); "top-<n>.npy": for each unit the rows of the data
        with its largest values (`layer_totals.TOP_FIELDS`, -1 where there are fewer). With "keep_rows", "outputs-<n>.npy":
        the whole outputs of so many first rows. With "times", "time_s" of each layer where the format tells it.
        """
        architecture, opened = context.open_model()
        with opened as runner:
            return Study(context, architecture, runner).run()


TASK = Activations()

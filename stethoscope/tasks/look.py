"""What chosen layers put out for chosen samples: feature maps, vectors, sequences, attention scores, as bounded arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stethoscope.activations.looking import Looking
from stethoscope.task import TaskContext


class LookTask:
    """params: {"layers": 1 … 12 paths, "also": further paths, looked at where there is room, "places": at most 8 rows of the
    data, "seed" (of random input), "preparation", "data_options", "trusted"}; files: "model", optionally "data".
    The same sample in two models takes one job each."""

    kind = "look"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns {"looks": [{"layer", "output", "place", "kind", "shape", "axes", "file", "note", "min", "max", …}], "samples",
        "unreachable", …}; "file" names a .npy of float32, null where nothing could be kept, with the reason in "note".

        "kind": maps (channel, height, width), sequence (step, feature), vector, attention (head, query, key), or array.
        """
        architecture, opened = context.open_model()
        with opened as runner:
            return Looking(context, architecture, runner).run()


TASK = LookTask()

"""Estimate peak memory before anything is run: the model is loaded and traced, no operation of it is executed."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.architecture.open_sizes import Sizes, sizes_of_file, sizes_to_try
from stethoscope.data.dummy import shapes_in_data
from stethoscope.errors import BadSetting
from stethoscope.memory.configure import Configured, configured
from stethoscope.memory.estimate import Estimate, Estimates
from stethoscope.memory.estimator import Estimator, joined
from stethoscope.memory.growth import Growth, growth, sizes_below
from stethoscope.memory.precision import AS_SAVED, with_precision
from stethoscope.memory.run_settings import RunSettings
from stethoscope.task import TaskContext

BATCH_SIZES = (1, 8, 32, 64)
HEADROOM_BYTES = 512 << 20
"""Of the memory limit, to trace a model that has been run."""


@dataclass(frozen=True, kw_only=True)
class EstimatedPeaks(Estimates):
    """The same under settings; nothing was run."""

    call: str
    settings: RunSettings
    growth: Growth | None = None
    """Of the largest batch over sizes of the open dimensions; None where none is open."""


class EstimatePeak:
    """What files["model"] would need, at the sizes of files["data"] where there is some.

    params: {"settings", "batch_sizes", "sizes" (of open dimensions), "samples" (0 for one batch), "trusted"}.
    """

    kind = "estimate"
    answer = EstimatedPeaks

    def run(self, context: TaskContext) -> EstimatedPeaks:
        """Traces the graph and adds up what is alive, for each batch size."""
        batch_sizes = context.params.get("batch_sizes") or BATCH_SIZES
        if not all(isinstance(size, int) and size > 0 for size in batch_sizes):
            raise BadSetting(f"Batch sizes: expected whole numbers above 0, got {list(batch_sizes)}.")
        sizes = context.params.get("sizes") or [None]
        with configured(context) as opened:
            context.report("trace", message="reading the graph")
            if opened.settings.precision != AS_SAVED:
                opened.runner = with_precision(opened.runner, opened.settings.precision)
            samples = int(context.params.get("samples", 0))
            data = shapes_in_data(context, opened.runner.inputs)
            told = [
                sizes_to_try(opened.runner.inputs, Sizes.every(size), data, sizes_of_file(opened.architecture.layers))
                for size in sizes
            ]
            estimator = Estimator(opened)
            made = joined(estimator.of(sorted(set(batch_sizes)), given, samples) for given in told)
            found = None
            if len(told) == 1 and made.estimates and made.estimates[-1].size:
                found = self._growth(context, opened, estimator, made.estimates[-1], samples)
            return EstimatedPeaks(call=opened.settings.call, settings=opened.settings, growth=found, **vars(made))

    def _growth(
        self, context: TaskContext, opened: Configured, estimator: Estimator, last: Estimate, samples: int
    ) -> Growth | None:
        assert last.size is not None
        smaller = [size for size in sizes_below(last.size) if size != last.size]
        made = [last]
        for place, size in enumerate(smaller):
            context.report("trace", place / len(smaller), f"the same at size {size:,}")
            told = sizes_to_try(opened.runner.inputs, Sizes.every(size))
            made += estimator.of([last.batch_size], told, samples).estimates
        return growth(made)


TASK = EstimatePeak()
"""See `EstimatePeak`."""

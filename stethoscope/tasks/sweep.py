"""Peak memory and time over batch sizes, predicted before each run and measured by it; what cannot fit is not started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stethoscope.architecture.open_sizes import OpenSizes, Sizes, sizes_of_file, sizes_to_try
from stethoscope.codec import decode
from stethoscope.data.dummy import shapes_in_data
from stethoscope.errors import BadSetting
from stethoscope.memory.configure import Configured, configured, settings_of
from stethoscope.memory.estimate import Estimates
from stethoscope.memory.estimator import Estimator, joined
from stethoscope.memory.one_process import LARGEST_ROWS, MOST_CHECKS, OneProcess, opening
from stethoscope.memory.plain_sweep import ESTIMATE, KeptSweep, begun, gone_on
from stethoscope.memory.points import Swept
from stethoscope.memory.run_settings import RunSettings
from stethoscope.task import InNewProcess, TaskContext
from stethoscope.tasks.estimate import HEADROOM_BYTES

BATCH_SIZES = (1, 8, 32, 64)


class Sweep:
    """Runs one call style over batch sizes, and over sizes of the open dimensions where asked.

    params: {"settings", "batch_sizes", "sizes" (of open dimensions; [] for what the model takes first), "check" (run just
    below and just above the largest batch), "estimate" (false: leave it out), "seed", "trusted"}. The memory budget is the job's.
    """

    kind = "sweep"
    answer = Swept

    def run(self, context: TaskContext) -> Swept | InNewProcess:
        """Predicts each batch, runs those that can fit, and says where the largest lies."""
        batch_sizes = ascending(context.params.get("batch_sizes") or BATCH_SIZES, "Batch sizes")
        sizes = ascending(context.params.get("sizes") or (), "Sizes")
        settings = settings_of(context)
        if settings.allocator != "pool":
            return self._in_one_process(context, batch_sizes, sizes)
        # One batch is one call, whatever its size: `model.predict` must not cut it.
        settings = replace(settings, batch_size=LARGEST_ROWS)
        if context.before is None:
            return begun(context, replace(settings, allocator="system"), batch_sizes, sizes)
        limit = context.budget.memory_bytes
        kept = decode(KeptSweep, context.before.state).settled(context.before, limit)
        wanted = kept.sweep.wanted(limit)
        if wanted is not None:
            return gone_on(context, settings, kept, wanted)
        value = kept.value(settings.call, limit)
        estimated = kept.under_way == ESTIMATE or kept.estimate is not None or not context.params.get("estimate", True)
        return value if estimated else _estimated(context, settings, kept, value)

    def _in_one_process(self, context: TaskContext, batch_sizes: list[int], sizes: list[int]) -> Swept:
        with configured(context) as opened:
            # Each call is one batch, whatever its size: `model.predict` must not cut it.
            opened.settings = replace(opened.settings, batch_size=LARGEST_ROWS)
            begin = opening(context, opened, sizes)
            fixed = begin.given.batching.fixed
            if fixed is not None:
                batch_sizes = [fixed]
            feeds = [(told.size, feed) for told, feed in begin.fed]
            state = OneProcess(
                context,
                opened.settings.call,
                begin.call,
                begin.given,
                batch_sizes,
                len(batch_sizes) * len(feeds),
                begin.size_from,
            )
            for size, feed in feeds:
                state.over(size, feed)
            for size, feed in feeds if fixed is None else ():
                state.reach(size, feed)
            checked = feeds if context.params.get("check") and fixed is None else []
            for size, feed in checked:
                state.check(size, feed, above=False)
            state.take_times(dict(feeds))  # after what it would disturb, before what may end the process
            for size, feed in checked:
                for _ in range(MOST_CHECKS):
                    if not state.check(size, feed, above=True, last=size == feeds[-1][0]):
                        break
            return _with_estimates(state.value(), opened, context, batch_sizes, [told for told, _ in begin.fed])


def _with_estimates(
    swept: Swept, opened: Configured, context: TaskContext, batch_sizes: Sequence[int], sizes: Sequence[OpenSizes]
) -> Swept:
    """With what would have been said without running, in every point too.

    It is made when all is measured, as tracing leaves memory behind, and left out where little of the limit remains.
    """
    if not context.params.get("estimate", True):
        return swept
    if context.budget.memory_bytes - context.memory.added_bytes() < HEADROOM_BYTES:
        return replace(swept, estimate=Estimates(cannot="Too little of the memory limit is left to trace it."))
    context.save_partial(swept)
    context.report("estimate", 1.0, "what would have been said without running it")
    estimator = Estimator(opened)
    made = joined(estimator.of(batch_sizes, [told]) for told in sizes)
    found = {(one.batch_size, one.size): one.peak_bytes for one in made.estimates}
    points = (replace(one, estimated_peak_bytes=found.get((one.batch_size, one.size))) for one in swept.points)
    return replace(swept, points=tuple(points), estimate=made)


def ascending(values: Any, what: str) -> list[int]:
    """Whole numbers in order, each once.

    Raises:
        BadSetting: something else, or a number below 1.
    """
    if not all(isinstance(value, int) and value > 0 for value in values):
        raise BadSetting(f"{what}: expected whole numbers above 0, got {list(values)}.")
    return sorted(set(values))


def _estimated(context: TaskContext, settings: RunSettings, kept: KeptSweep, value: Swept) -> Swept:
    """With what would have been said without running, which leaves memory behind and may need much."""
    context.save_partial(value)
    context.entrust(replace(kept, under_way=ESTIMATE))
    with configured(context, settings) as opened:
        inputs = opened.runner.inputs
        data, file = shapes_in_data(context, inputs), sizes_of_file(opened.architecture.layers)
        told = [
            next(
                made
                for made in sizes_to_try(inputs, Sizes.every(at.size), data, file)
                if made.attempt == at.attempt or not made.are_assumed
            )
            for at in kept.sweep.sizes
        ]
        return _with_estimates(value, opened, context, kept.sweep.batch_sizes, told)


TASK = Sweep()

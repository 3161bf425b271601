"""One batch in a process like the user's own: the model made ready, its input, the call and what it took. Worker only."""

from __future__ import annotations

import time
from collections.abc import Callable

from stethoscope.architecture.open_sizes import Sizes, sizes_of_file, sizes_to_try
from stethoscope.data.batching import Batching, bind
from stethoscope.data.dummy import ModelInput, dummy_feed
from stethoscope.data.rows import data_of
from stethoscope.memory.call_styles import Caller, caller
from stethoscope.memory.configure import Configured
from stethoscope.memory.plain import AtSize
from stethoscope.memory.plain_run import PlainRun, Wanted
from stethoscope.memory.points import best_time
from stethoscope.memory.precision import AS_SAVED, with_precision
from stethoscope.task import TaskContext


def input_of(context: TaskContext, opened: Configured, at: AtSize, rows: int, seed: int) -> ModelInput:
    """All of the data, or so many random rows of the sizes that an earlier process chose; nothing is run to find out."""
    inputs, batching = opened.runner.inputs, Batching.of(opened.runner.inputs)
    batching = batching if at.together is None else batching.together(at.together)
    if "data" in context.files:
        feed = bind(data_of(context), inputs)
        shapes = {name: array.shape for name, array in feed.items()}
        return ModelInput(feed, context.files["data"].name, batching, next(sizes_to_try(inputs, data=shapes)))
    tried = sizes_to_try(inputs, Sizes.every(at.size), of_file=sizes_of_file(opened.architecture.layers))
    told = next(made for made in tried if made.attempt == at.attempt)
    return ModelInput(dummy_feed(opened.architecture, batching.free(inputs), rows, seed, told), "dummy", batching, told)


def ready(opened: Configured, on_batch: Callable[[int], None] | None = None) -> Caller:
    """The model in the precision and call style of the settings; nothing of it has run."""
    if opened.settings.precision != AS_SAVED:
        opened.runner = with_precision(opened.runner, opened.settings.precision)
    return caller(opened.runner, opened.settings, on_batch=on_batch)


def measured(context: TaskContext, opened: Configured, at: AtSize, wanted: Wanted, seed: int) -> PlainRun:
    """Runs one batch in this process, which has run nothing yet.

    Raises:
        Exception: as the framework raises it, when memory runs out.
    """
    loading = context.memory.peak_bytes()
    call = ready(opened)
    given = input_of(context, opened, at, wanted.rows, seed)
    feed = given.batching.take(given.feed, wanted.rows)
    del given
    context.memory.reset()
    start = time.perf_counter()
    call(feed)
    first_s = time.perf_counter() - start
    peak = context.memory.peak_bytes()
    return PlainRun(wanted.rows, wanted.purpose, peak, loading, best_time(call, feed, first_s))

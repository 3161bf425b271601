"""Estimate peak memory before anything is run: the model is loaded and traced, no operation of it is executed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stethoscope.architecture.open_sizes import TRIED, OpenSizes, Sizes, sizes_of_file, sizes_to_try
from stethoscope.data.batching import Batching
from stethoscope.data.dummy import shapes_in_data
from stethoscope.errors import BadSetting, CannotRun, StethoscopeError
from stethoscope.memory.configure import Configured, configured
from stethoscope.memory.estimate import Estimate, Estimates, Facts, estimate, runtime_of
from stethoscope.memory.layer_estimate import LayerFacts
from stethoscope.memory.precision import AS_SAVED, with_precision
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.capabilities import Inlined, LiveModel
from stethoscope.models.formats import format_of
from stethoscope.task import TaskContext
from stethoscope.types import Refusal

BATCH_SIZES = (1, 8, 32, 64)
HEADROOM_BYTES = 512 << 20
"""Of the memory limit, to trace a model that has been run."""


@dataclass(frozen=True, kw_only=True)
class EstimatedPeaks(Estimates):
    """The same under settings; nothing was run."""

    call: str
    settings: RunSettings


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
            made = joined(estimates(opened, sorted(set(batch_sizes)), given, samples) for given in told)
            return EstimatedPeaks(call=opened.settings.call, settings=opened.settings, **vars(made))


def estimates(
    opened: Configured, batch_sizes: Sequence[int], sizes: Iterable[OpenSizes], samples: int = 0
) -> Estimates:
    """Estimates of an opened model.

    Args:
        opened: the model; nothing of it is run.
        batch_sizes: rows in a batch.
        sizes: of open dimensions; the first that the graph takes counts.
        samples: rows in all; 0 for one batch.
    """
    try:
        return Estimates(tuple(_estimate(opened, facts, samples) for facts in _facts(opened, batch_sizes, sizes)))
    except StethoscopeError as error:
        return Estimates(cannot=str(error))


def joined(parts: Iterable[Estimates]) -> Estimates:
    """The estimates of several sizes of open dimensions as one."""
    made = list(parts)
    return Estimates(
        tuple(estimate for part in made for estimate in part.estimates),
        next((part.cannot for part in made if part.cannot), ""),
    )


def _facts(
    opened: Configured, batch_sizes: Sequence[int], sizes: Iterable[OpenSizes]
) -> list[tuple[int, OpenSizes, Facts]]:
    """(batch size, sizes of open dimensions, facts): of the first sizes that the graph takes."""
    fixed = Batching.of(opened.runner.inputs).fixed
    rows = [fixed] if fixed is not None else list(batch_sizes)
    inputs, graph = opened.runner.inputs, _graph(opened)
    if graph is None:
        layers = LayerFacts(opened.architecture)
        first = next(iter(sizes))
        return [(batch, first, layers.at(batch, first.size or TRIED[0])) for batch in rows]
    failure: CannotRun | None = None
    for tried in sizes:
        try:
            return [(batch, tried, graph.at([tried.shape(spec, batch) for spec in inputs])) for batch in rows]
        except CannotRun as error:
            failure = failure or error
    assert failure is not None
    raise failure


def _graph(opened: Configured) -> Any:
    """The traced graph; None where the file's own list of operators is what there is (ONNX, TFLite, TensorFlow 1)."""
    traced: LiveModel | Inlined | Refusal = opened.runner.can(LiveModel)
    if isinstance(traced, Refusal):
        traced = opened.runner.can(Inlined)
    if isinstance(traced, Refusal):
        return None
    from stethoscope.memory.graph_estimate import GraphFacts

    return GraphFacts(traced, opened.settings.call, threads(opened.settings))


def _estimate(opened: Configured, found: tuple[int, OpenSizes, Facts], samples: int) -> Estimate:
    batch, sizes, facts = found
    return estimate(
        facts,
        runtime_of(format_of(opened.architecture), opened.settings),
        batch_size=batch,
        samples=max(samples, batch),
        call=opened.settings.call,
        sizes=sizes,
    )


def threads(settings: RunSettings) -> tuple[int, int]:
    """Operations at a time, and threads within one: as set, else one for each core that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return settings.inter_threads or cores, settings.intra_threads or cores


TASK = EstimatePeak()
"""See `EstimatePeak`."""

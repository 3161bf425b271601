"""Estimate peak memory before anything is run: the model is loaded and traced, no operation of it is executed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stethoscope.architecture.open_sizes import TRIED, OpenSizes, Sizes, sizes_of_file, sizes_to_try
from stethoscope.data.batching import Batching
from stethoscope.data.dummy import shapes_in_data
from stethoscope.errors import BadSetting, CannotRun, StethoscopeError
from stethoscope.memory.configure import Configured, configured
from stethoscope.memory.estimate import Estimate, Estimates, Facts, estimate
from stethoscope.memory.growth import Growth, growth, sizes_below
from stethoscope.memory.layer_estimate import LayerFacts
from stethoscope.memory.precision import AS_SAVED, with_precision
from stethoscope.memory.run_settings import RunSettings
from stethoscope.memory.runtime_needs import runtime_of
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


class Estimator:
    """Estimates of an opened model, which is traced once; nothing of it is run."""

    def __init__(self, opened: Configured) -> None:
        self._opened = opened

    def of(self, batch_sizes: Sequence[int], sizes: Iterable[OpenSizes], samples: int = 0) -> Estimates:
        """One for each batch size.

        Args:
            batch_sizes: rows in a batch.
            sizes: of open dimensions; the first that the graph takes counts.
            samples: rows in all; 0 for one batch.
        """
        try:
            return Estimates(tuple(self._estimate(facts, samples) for facts in self._facts(batch_sizes, sizes)))
        except StethoscopeError as error:
            return Estimates(cannot=str(error))

    def _facts(self, batch_sizes: Sequence[int], sizes: Iterable[OpenSizes]) -> list[tuple[int, OpenSizes, Facts]]:
        """(batch size, sizes of open dimensions, facts): of the first sizes that the graph takes."""
        fixed = Batching.of(self._opened.runner.inputs).fixed
        rows = [fixed] if fixed is not None else list(batch_sizes)
        inputs, graph = self._opened.runner.inputs, self._graph
        if graph is None:
            layers = LayerFacts(self._opened.architecture)
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

    @cached_property
    def _graph(self) -> Any:
        """The traced graph; None where the file's own list of operators is what there is (ONNX, TFLite, TensorFlow 1)."""
        opened = self._opened
        traced: LiveModel | Inlined | Refusal = opened.runner.can(LiveModel)
        if isinstance(traced, Refusal):
            traced = opened.runner.can(Inlined)
        if isinstance(traced, Refusal):
            return None
        from stethoscope.memory.graph_estimate import GraphFacts

        return GraphFacts(traced, opened.settings.call, threads(opened.settings))

    def _estimate(self, found: tuple[int, OpenSizes, Facts], samples: int) -> Estimate:
        batch, sizes, facts = found
        return estimate(
            facts,
            runtime_of(format_of(self._opened.architecture), self._opened.settings),
            batch_size=batch,
            samples=max(samples, batch),
            call=self._opened.settings.call,
            sizes=sizes,
        )


def joined(parts: Iterable[Estimates]) -> Estimates:
    """The estimates of several sizes of open dimensions as one."""
    made = list(parts)
    return Estimates(
        tuple(estimate for part in made for estimate in part.estimates),
        next((part.cannot for part in made if part.cannot), ""),
    )


def threads(settings: RunSettings) -> tuple[int, int]:
    """Operations at a time, and threads within one: as set, else one for each core that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return settings.inter_threads or cores, settings.intra_threads or cores


TASK = EstimatePeak()
"""See `EstimatePeak`."""

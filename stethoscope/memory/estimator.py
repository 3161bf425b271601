"""Estimates of an opened model. Used in a worker; the model is traced, and nothing of it is run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from stethoscope.architecture.open_sizes import TRIED, OpenSizes
from stethoscope.data.batching import Batching
from stethoscope.errors import CannotRun, StethoscopeError
from stethoscope.memory.configure import Configured
from stethoscope.memory.estimate import Estimate, Estimates, Facts, estimate
from stethoscope.memory.layer_estimate import LayerFacts
from stethoscope.memory.run_settings import RunSettings
from stethoscope.memory.runtime_needs import Runtime, runtime_of
from stethoscope.models.capabilities import Inlined, LiveModel
from stethoscope.models.formats import format_of
from stethoscope.types import Refusal


class Estimator:
    """Estimates of an opened model, which is traced once; nothing of it is run."""

    def __init__(self, opened: Configured) -> None:
        self._opened = opened

    @property
    def pooled(self) -> bool:
        """Whether TensorFlow's pool holds the tensors under these settings."""
        return self._runtime.pooled

    @property
    def _runtime(self) -> Runtime:
        return runtime_of(format_of(self._opened.architecture), self._opened.settings)

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
            self._runtime,
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

"""Look into a loaded model: statistics of its weights, then of every layer's output.

What every layer puts out on some rows of the data, or on random input: one pass, statistics kept, tensors not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from stethoscope import framework_errors
from stethoscope.architecture.endings import activation_behind
from stethoscope.codec import plain
from stethoscope.data.dummy import ModelInput, model_input
from stethoscope.errors import BadInput, CannotRun, OutOfMemory, OverBudget, StethoscopeError
from stethoscope.evidence.model import ActivationEvidence, WeightEvidence
from stethoscope.framework_errors import gist
from stethoscope.models.capabilities import Observable
from stethoscope.models.formats import format_of
from stethoscope.task import TaskContext
from stethoscope.training.gathering.layer_statistics import LayerStatistics, OutputStatistics
from stethoscope.training.gathering.weights import gather_weights
from stethoscope.types import Architecture, Feed, Layer, Runner, TensorSpec

MOST_ROWS = 256
_FEW_ROWS = 8
_CHUNK_BYTES = 192 << 20
"""What the outputs of all layers together may take in one call, where they cannot be looked at one by one."""


def gather_activations(
    context: TaskContext, architecture: Architecture, runner: Runner, *, time_s: float = 4.0
) -> ActivationEvidence:
    """Runs the model in inference mode on at most `MOST_ROWS` evenly spaced rows, in batches, until `time_s` is over.

    Data that does not fit the model's inputs is replaced by random input; another check says why it does not fit.

    Raises:
        BadInput: the model takes no random input that its specs allow.
        OutOfMemory: one row is too much.
    """
    context.memory.watch()
    watched = _Watched(architecture, runner)
    context.report("activations", 0.0, "first rows")
    given = _input(context, architecture, watched)
    context.memory.enforce()
    feed = _spaced(given, min(MOST_ROWS, given.batching.rows(given.feed)))
    rows = given.batching.rows(feed)
    size = given.batching.fixed or min(rows, _chunk(architecture, watched.streams))
    started, done, chunk = time.monotonic(), 0, given.batching.fixed or min(size, _FEW_ROWS)
    while done < rows:
        part = given.batching.part(feed, done, done + chunk)
        count = given.batching.rows(part)
        if given.batching.fixed and count < given.batching.fixed:
            break
        watched.add(part, count)
        done += count
        context.report("activations", done / rows, f"{done} of {rows} rows")
        used = time.monotonic() - started
        if used > time_s:
            break
        # Never more rows at once than the time that is left allows at the speed seen so far.
        allowed = max(_FEW_ROWS, int(done * (time_s - used) / max(used, 1e-3)))
        chunk = given.batching.fixed or max(1, min(size, allowed))
    return watched.result("random input" if given.source == "dummy" else "data", done)


class _Watched:
    """A runner whose calls show every layer's output; it also stands in for the runner while an input is looked for."""

    def __init__(self, architecture: Architecture, runner: Runner) -> None:
        self._runner, self._channels_first = runner, format_of(architecture).channels_first
        self.inputs: tuple[TensorSpec, ...] = runner.inputs
        self.outputs: tuple[TensorSpec, ...] = runner.outputs
        self._observable = runner.can(Observable)
        self.streams = isinstance(self._observable, Observable)
        self._layers: dict[str, LayerStatistics] = {}
        self._outputs: dict[str, OutputStatistics] = {}
        self._known = {layer.path: layer for layer in architecture.layers}
        self._first_bad = ""
        self._unreachable = ""
        self._rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        """The runner is closed by whoever opened it."""

    def predict(self, feed: Feed, *, training: bool = False) -> Feed:
        """One call without looking; eager where that is possible, because tracing a large model takes seconds."""
        if isinstance(self._observable, Observable) and not training:
            return self._observable.observe(feed, lambda path, array: None)
        return self._runner.predict(feed, training=training)

    def activations(self, feed: Feed, layers: Sequence[str] | None = None) -> Feed:
        """See `Runner.activations`."""
        return self._runner.activations(feed, layers)

    def add(self, feed: Feed, rows: int) -> None:
        """Merges one batch."""
        self._rows = rows
        if isinstance(self._observable, Observable):
            outputs = self._observable.observe(feed, self._saw)
        else:
            try:
                for path, array in self._runner.activations(feed).items():
                    self._saw(path, array)
            except CannotRun as error:
                self._unreachable = str(error)
            outputs = self._runner.predict(feed)
        for name, array in outputs.items():
            self._outputs.setdefault(name, OutputStatistics.named(name)).add(array, rows)

    def _saw(self, path: str, array: npt.NDArray[Any]) -> None:
        # "path#2" is a layer's second call, "path:1" its second output (the state of a recurrent layer).
        if path not in self._layers:
            base = path if path in self._known else path.split("#", maxsplit=1)[0].rsplit(":", 1)[0]
            layer = self._known.get(base)
            axis = 1 if self._channels_first and array.ndim >= 3 else -1
            self._layers[path] = LayerStatistics(
                path, layer.type if layer else "", activation_behind(layer, first=path == base), axis
            )
        statistics = self._layers[path]
        statistics.add(array, self._rows)
        if statistics.nonfinite and not self._first_bad:
            self._first_bad = path

    def result(self, source: str, rows: int) -> ActivationEvidence:
        """The evidence."""
        return ActivationEvidence(
            source=source,
            rows=rows,
            layers=tuple(item.result() for item in self._layers.values() if item.shape),
            outputs=tuple(item.result() for item in self._outputs.values() if item.layer.shape),
            first_nonfinite=self._first_bad,
            unreachable=self._unreachable,
        )


def _input(context: TaskContext, architecture: Architecture, watched: _Watched) -> ModelInput:
    if "data" in context.files:
        try:
            return model_input(context, architecture, watched, MOST_ROWS, 0, MOST_ROWS)
        except (BadInput, CannotRun):
            context.report("activations", message="the data does not fit: trying random input")
    without = replace(context, files={role: file for role, file in context.files.items() if role != "data"})
    return model_input(without, architecture, watched, MOST_ROWS, 0, MOST_ROWS)


def _spaced(given: ModelInput, count: int) -> Feed:
    """Evenly spaced rows: data in the order of its classes must not show one class only."""
    rows = given.batching.rows(given.feed)
    if count >= rows:
        return given.feed
    index = np.linspace(0, rows - 1, count).round().astype(np.intp)
    return {
        name: array[index] if name in given.batching.names and array.ndim else array
        for name, array in given.feed.items()
    }


def _chunk(architecture: Architecture, streams: bool) -> int:
    """Rows in one call, so that what must be held at once stays bounded."""
    sizes = [_values(layer) for layer in architecture.layers]
    held = 8 * max(sizes, default=0) if streams else sum(sizes)
    return max(1, min(MOST_ROWS, _CHUNK_BYTES // max(1, 4 * held)))


def _values(layer: Layer) -> int:
    total = 1
    for size in (layer.output_shape or ())[1:]:
        total *= size if size else 64
    return total


E = TypeVar("E")


@dataclass(frozen=True)
class Examination:
    """What is known of a model's weights and of its layers' outputs; where one is None, `problems` says why."""

    weights: WeightEvidence | None = None
    activations: ActivationEvidence | None = None
    problems: dict[str, str] = field(default_factory=dict)
    """By "weights" and "activations"."""


class Examine:
    """params: {"trusted", "time_s"}; files: "model", optionally "data". Loads the model once."""

    kind = "examine"
    answer = Examination

    def run(self, context: TaskContext) -> Examination:
        """Examines the weights, then the outputs; what is known after the first is kept, should the second end the process."""
        time_s = float(context.params.get("time_s", 4.0))
        architecture, opened = context.open_model()
        problems: dict[str, str] = {}
        with opened as runner:
            context.report("weights", 0.0, "reading the weights")
            file = context.files["model"]
            short: list[Exception] = []
            weights = _tried(problems, short, "weights", lambda: gather_weights(file, architecture, runner))
            half = Examination(weights, problems=problems)
            died = "The process ended while the layers' outputs were being computed."
            context.save_partial(replace(half, problems={**problems, "activations": died}))
            seen = _tried(
                problems, short, "activations", lambda: gather_activations(context, architecture, runner, time_s=time_s)
            )
        found = replace(half, activations=seen)
        cause = framework_errors.explain(short[0]) if short else None
        if cause is not None:
            raise OutOfMemory("", {**plain(found), "oom": framework_errors.named_by(cause)}) from short[0]
        return found


def _tried(problems: dict[str, str], short: list[Exception], kind: str, gather: Callable[[], E]) -> E | None:
    """The evidence; None, with the reason noted, where it cannot be had, in `short` too where that is memory."""
    try:
        return gather()
    except OverBudget:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a framework says to one half must not cost the other
        cause = framework_errors.explain(error)
        if cause is not None:
            problems[kind] = f"Not gathered: {cause.sentence}"
            short.append(error)
        else:
            problems[kind] = str(error) if isinstance(error, StethoscopeError) else f"Not gathered: {gist(error)}"
    return None


TASK = Examine()

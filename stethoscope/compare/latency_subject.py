"""One of the models that are timed: opened alone, measured, and its calls made ready for each batch size.

The rows that all models are timed on: those of the first that could be opened, turned into what each other takes.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np

from stethoscope import devices
from stethoscope.activations.model_rows import ModelRows
from stethoscope.architecture.open_sizes import is_open
from stethoscope.compare import timed_calls
from stethoscope.compare.latency_row import TimedModel
from stethoscope.compare.parity.edge_cases import TurnedInputs
from stethoscope.compare.parity.inputs_and_outputs import pair_inputs
from stethoscope.compare.parity.side import Side
from stethoscope.data.batching import Batching
from stethoscope.errors import BadInput, StethoscopeError
from stethoscope.framework_errors import explain, gist
from stethoscope.memory.call_styles import caller
from stethoscope.memory.run_settings import RunSettings, give_back
from stethoscope.models.capabilities import LiveModel
from stethoscope.models.formats import detect
from stethoscope.models.formats.feed import checked
from stethoscope.models.model_format import Format
from stethoscope.task import TaskContext
from stethoscope.types import Feed, ModelFile, Refusal, Runner, TensorSpec

THE_ONE_WAY = "run"
"""What the call of a model is that can be called in one way only."""
_WHOLE = 1 << 30
"""Rows that `model.predict` does not cut."""


def reason_of(error: Exception, file: ModelFile) -> str:
    """Why a model gave no time, for people."""
    if isinstance(error, StethoscopeError) and str(error):
        return str(error)
    cause = explain(error)
    return f"{file.name}: {cause.sentence if cause else gist(error)}"


@dataclass
class Subject:
    """A model and what is known about it. Use `open` within the stack that holds it."""

    role: str
    file: ModelFile
    threads: int | None
    """Asked for; None for each runtime's own."""
    styles: Sequence[str] = ("function",)
    """Call styles asked for; for Keras models only."""
    format: Format | None = None
    runtime: str = ""
    device: str = ""
    size_bytes: int | None = None
    """On disk, with the weights that lie beside it; None where it cannot be read."""
    parameters: int | None = None
    load_s: float | None = None
    peak_bytes: int | None = None
    failure: Exception | None = None
    traced: bool = False
    """Whether it was run before its first timed call."""
    calls: dict[str, Callable[[Feed], Callable[[], object]]] = field(default_factory=dict)
    """By call style: what makes the call on a feed."""
    batching: Batching = field(default_factory=lambda: Batching(frozenset(), 1))
    _feed: Feed = field(default_factory=dict)
    _held_bytes: int = 0
    _was_called: bool = False

    def open(self, context: TaskContext, rows: SharedRows, stack: ExitStack) -> None:
        """Loads it, with the time and memory that takes; what goes wrong is kept as its failure.

        Its runtime is started before. Closed with the stack.
        """
        try:
            self.format = found = detect(self.file)
            self.size_bytes = found.size_bytes(self.file)
            self.runtime = timed_calls.start(found.runtime)
            self.device = timed_calls.device(found.runtime)
            stack.callback(self._close)
            give_back()
            before = context.memory.added_bytes()
            context.memory.reset()
            self._load(context, rows, stack)
            give_back()
            self._held_bytes = max(
                0, context.memory.added_bytes() - before - sum(one.nbytes for one in self._feed.values())
            )
            self._note_peak(context.memory.peak_bytes() - before)
        except Exception as error:  # noqa: BLE001 - of this model: the others are timed all the same
            self.failure = error

    def _load(self, context: TaskContext, rows: SharedRows, stack: ExitStack) -> None:
        start = time.perf_counter()
        found = detect(self.file)
        found.describe(self.file)
        read_s = time.perf_counter() - start
        start = time.perf_counter()
        architecture, opened = context.open_model(self.role)
        # Opening describes the file once more, which is no part of loading.
        self.load_s = max(0.0, time.perf_counter() - start - read_s)
        self.parameters = architecture.parameters
        own = stack.enter_context(ExitStack())
        runner = own.enter_context(opened)
        side = Side(self.file, architecture, runner)
        self.batching = side.batching
        self._feed, self.traced = rows.of(side)
        load = timed_calls.loader(found, self.file, runner.inputs)
        if load is None:
            self.calls = self._of_runner(runner, own)
            return
        own.close()
        del runner, side, opened
        give_back()
        context.memory.reset()
        start = time.perf_counter()
        plain = load()
        self.load_s = time.perf_counter() - start
        stack.callback(plain.close)
        self.calls, self.traced = {THE_ONE_WAY: plain.ready}, False

    def _of_runner(self, runner: Runner, stack: ExitStack) -> dict[str, Callable[[Feed], Callable[[], object]]]:
        live = runner.can(LiveModel)
        if isinstance(live, Refusal):
            return {THE_ONE_WAY: lambda feed: lambda: runner.predict(feed)}
        found: dict[str, Callable[[Feed], Callable[[], object]]] = {}
        for style in self.styles:
            plain = timed_calls.traced(live) if style == "function" else None
            if plain is not None:
                found[style], self.traced = plain, False
                continue
            called = caller(runner, RunSettings(batch_size=_WHOLE, call=style))
            stack.callback(called.close)
            found[style] = lambda feed, called=called: lambda: called(feed)  # type: ignore[misc]
        return found

    @property
    def format_id(self) -> str:
        """The id of its format; "" where that was not recognised."""
        return "" if self.format is None else self.format.id

    @property
    def reason(self) -> str:
        """Why it could not be opened; "" where it could."""
        return "" if self.failure is None else reason_of(self.failure, self.file)

    @property
    def threads_used(self) -> int:
        """Threads within one operation."""
        if self.threads is None and self.format is not None and self.format.runtime == "tensorflow":
            return timed_calls.cores()
        return self.threads or devices.chosen()

    def takes(self, asked: Sequence[int]) -> list[int]:
        """The batch sizes it is timed with: those asked for, or its own where it insists on one."""
        return [self.batching.fixed] if self.batching.fixed else list(asked)

    def ready(self, style: str, batch_size: int) -> Callable[[], object]:
        """The call of a style on a batch."""
        return self.calls[style](self.batching.take(self._feed, batch_size))

    def first_call(self, context: TaskContext, style: str, call: Callable[[], object]) -> tuple[float | None, int]:
        """Calls it twice; returns the seconds of the first call, and the memory at the peak of both with what the model holds.

        The seconds are None where the model was run before, to find its input.

        Raises:
            Exception: what the model raises.
        """
        give_back()
        context.memory.reset()
        before = context.memory.added_bytes()
        start = time.perf_counter()
        call()
        first_s = time.perf_counter() - start
        call()
        peak = self._held_bytes + max(0, context.memory.peak_bytes() - before)
        give_back()
        self._held_bytes += max(0, context.memory.added_bytes() - before)
        self._note_peak(peak)
        known = self.traced and not self._was_called and style in ("function", THE_ONE_WAY)
        self._was_called = self._was_called or style in ("function", THE_ONE_WAY)
        return None if known else first_s, peak

    def _close(self) -> None:
        """Lets go of what keeps the model in memory; what is known of it stays."""
        self.calls, self._feed = {}, {}
        gc.collect()

    def _note_peak(self, peak_bytes: int) -> None:
        self.peak_bytes = max(self.peak_bytes or 0, peak_bytes, 0)

    def about(self) -> TimedModel:
        """What is known of the model as a whole."""
        return TimedModel(
            self.role,
            self.file.name,
            self.format_id,
            self.runtime,
            self.size_bytes,
            self.parameters,
            self.load_s,
            self.peak_bytes,
            self.reason,
        )


MOST_ROWS = 32
"""Different rows in a batch; larger batches repeat them."""


class Unasked:
    """A model that is run to find input only where its open dimensions must be tried: its first call is to be timed."""

    def __init__(self, side: Side) -> None:
        self._runner, self.inputs = side.runner, side.runner.inputs
        self.tried = False

    def predict(self, feed: Feed) -> Feed:
        """Nothing, unless there is something to try."""
        if not is_open(self.inputs):
            return {}
        self.tried = True
        found: Feed = self._runner.predict(feed)
        return found


class SharedRows:
    """The rows, by model."""

    def __init__(self, context: TaskContext, rows: int, seed: int) -> None:
        self._context, self._rows, self._seed = context, max(1, min(rows, MOST_ROWS)), seed
        self._specs: Sequence[TensorSpec] = ()
        self._feed: Feed | None = None
        self._first = ""
        self.source = "dummy"
        self.notes: list[str] = []

    def of(self, side: Side) -> tuple[Feed, bool]:
        """Rows as a model takes them (its names, layout, dtypes, integers), and whether it has been run to find them.

        Called while the model can be run. The first caller decides what the rows are.

        Raises:
            BadInput: the data does not fit, or the model takes other inputs than the first.
            StethoscopeError: as `ModelRows`.
        """
        if self._feed is None:
            self._feed, tried = self._drawn(side)
            self._specs, self._first = side.runner.inputs, side.file.name
            return self._fitting(side, self._feed), tried
        try:
            return self._fitting(side, self._turned(side, self._feed)), False
        except BadInput:
            if self.source != "dummy":
                raise
            feed, tried = self._drawn(side)
            self.notes.append(
                f"{side.file.name} takes other inputs than {self._first}: it was timed on random input of its own."
            )
            return self._fitting(side, feed), tried

    def _drawn(self, side: Side) -> tuple[Feed, bool]:
        unasked = Unasked(side)
        with ModelRows(self._context, side.architecture, unasked, dummy_rows=self._rows, seed=self._seed) as rows:
            self.source = rows.source
            parts = [feed for _, feed in rows.calls(range(min(self._rows, rows.rows)))]
            names = rows.batching.names
        joined = {
            name: np.concatenate([part[name] for part in parts]) if name in names else array
            for name, array in parts[0].items()
        }
        return joined, unasked.tried

    def _turned(self, side: Side, feed: Feed) -> Feed:
        specs = side.runner.inputs
        inputs = pair_inputs(self._specs, specs)
        missing = [spec.name for spec in specs if spec.name not in inputs]
        if missing:
            raise BadInput(
                f"{side.file.name}: input {missing[0]!r} has no counterpart in {self._first}. Time models that take the same inputs."
            )
        return TurnedInputs(inputs, specs).feed(feed)

    def _fitting(self, side: Side, feed: Feed) -> Feed:
        """Checked once, so that no call needs to."""
        batching = Batching.of(side.runner.inputs)
        fed = side.fed(feed)
        checked(batching.take(fed, batching.fixed or 1), side.runner.inputs, side.file.name)
        return fed

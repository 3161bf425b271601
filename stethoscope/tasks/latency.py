"""How long models take for the same input, side by side: percentiles per batch size, load time, size and memory."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from stethoscope import devices
from stethoscope.codec import plain
from stethoscope.compare import timed_calls
from stethoscope.compare.latency_row import Row, Spread, TimedModel, about_threads
from stethoscope.compare.latency_subject import SharedRows, Subject, reason_of
from stethoscope.compare.timed_calls import Timing, take_turns
from stethoscope.errors import BadInput, BadSetting, OutOfMemory, StethoscopeError
from stethoscope.framework_errors import explain, named_by
from stethoscope.memory.configure import configure
from stethoscope.memory.run_settings import CALLS, RunSettings, give_back_at_once, keeping_freed
from stethoscope.models.formats import detect
from stethoscope.models.model_format import on_disk
from stethoscope.task import TaskContext
from stethoscope.types import ModelFile

BATCH_SIZES = (1, 8, 32)
SECONDS = 2.0
"""Of counted calls in each row."""
MOST_SECONDS, LARGEST_BATCH = 600.0, 1 << 20
HELD_PER_BYTE, HELD_SHARE = 4, 0.5
"""What an opened model holds for each byte of its file, at most; and the share of the budget up to which all are held at once."""
BUSY_SHARE = 0.5
"""Of the cores: more work than this, as the job begins, is told."""
KEPT_EVERY_S = 2.0
"""Between turns, what was timed so far is kept so often: for a run that is cancelled."""
OTHER = "other-"
"""Roles of the models beside the first."""


@dataclass(frozen=True)
class Latencies:
    """How long models take for the same input."""

    rows: tuple[Row, ...] = ()
    """By model, call style and batch size."""
    models: tuple[TimedModel, ...] = ()
    threads: int | None = None
    """Asked for; None for each runtime's own."""
    cores: int = 1
    device: str = "CPU"
    source: str = "dummy"
    """"dummy" or the data file's name."""
    together: bool = True
    """Whether all models were held at once and called in turns."""
    seconds: float = 0.0
    """Of counted calls in each row."""
    notes: tuple[str, ...] = ()


class Latency:
    """Files: "model", and any number of others as "other-1", "other-2", …; optionally "data".

    params: {"batch_sizes" ([1, 8, 32]), "threads" (null: each runtime's own), "device" ("auto"), "calls" (of Keras models:
    ["function"]), "seconds" (2.0, of counted calls in a row), "seed", "preparation", "data_options", "trusted",
    "trusted_<role>"}.
    """

    kind = "latency"
    answer = Latencies

    def run(self, context: TaskContext) -> Latencies:
        """Times all models; one that fails has its reason in a row for each batch size.

        Raises:
            BadSetting: a setting makes no sense here.
            StethoscopeError: no model could be timed; what spoke against the first.
        """
        return _Latency(context).run()


class _Latency:
    """One job."""

    def __init__(self, context: TaskContext) -> None:
        params = context.params
        self._context = context
        self._batch_sizes = _batch_sizes(params.get("batch_sizes") or BATCH_SIZES)
        self._seconds = _seconds(params.get("seconds") or SECONDS)
        self._styles = _styles(params.get("calls") or ("function",))
        self._settings = RunSettings(
            device=str(params.get("device") or "auto"),
            intra_threads=params.get("threads"),
            inter_threads=None if params.get("threads") is None else 1,
        )
        self._rows = SharedRows(context, max(self._batch_sizes), int(params.get("seed") or 0))
        threads = self._settings.intra_threads
        self._subjects = [Subject(role, file, threads, self._styles) for role, file in _models(context.files)]
        self._found: dict[tuple[str, str, int], Row] = {}
        self._errors: list[tuple[Row, Exception]] = []
        self._together = True
        self._notes: list[str] = _busy()

    def run(self) -> Latencies:
        self._start_runtimes()
        sizes = sum(_size_or_nothing(one.file) for one in self._subjects)
        self._together = HELD_PER_BYTE * sizes <= HELD_SHARE * self._context.budget.memory_bytes
        groups = [self._subjects] if self._together else [[one] for one in self._subjects]
        for place, group in enumerate(groups):
            self._time(group, place / len(groups), 1 / len(groups))
        self._ran_out()
        if all(row.p50_s is None for row in self._found.values()):
            self._raise()
        return self._value()

    def _start_runtimes(self) -> None:
        give_back_at_once()
        devices.choose(self._settings.intra_threads)
        if any(_needs_tensorflow(one.file) for one in self._subjects):
            self._context.report("configure", message="setting TensorFlow up")
            configure(self._settings)
        elif self._settings.device == "gpu":
            raise BadSetting("Device: expected cpu, got gpu. ONNX Runtime and LiteRT compute on the CPU here.")

    def _time(self, group: Sequence[Subject], done: float, share: float) -> None:
        """Everything about models that are held at once."""
        context = self._context
        with ExitStack() as stack:
            context.memory.watch()
            for one in group:
                one.open(context, self._rows, stack)
            there = [one for one in group if not one.reason]
            for one in group:
                if one.reason:
                    self._failed(one)
            stages = sorted({size for one in there for size in one.takes(self._batch_sizes)})
            for place, size in enumerate(stages):
                at = done + share * place / len(stages)
                self._stage(
                    [one for one in there if size in one.takes(self._batch_sizes)], size, at, share / len(stages)
                )
                context.save_partial(self._value())

    def _stage(self, subjects: Sequence[Subject], size: int, done: float, share: float) -> None:
        """One batch size: each call's first time and memory, then all of them in turns."""
        context = self._context
        rows: list[Row] = []
        timings: list[Timing] = []
        files: list[ModelFile] = []
        context.memory.watch()
        for one in subjects:
            for style in one.calls:
                context.report("warm", done, f"{one.file.name}, {_rows(size)}")
                row = self._row(one, style, size)
                self._keep(row)
                try:
                    call = one.ready(style, size)
                    first_s, peak = one.first_call(context, style, call)
                except Exception as error:  # noqa: BLE001 - of this model: the others are timed all the same
                    self._note(replace(row, reason=reason_of(error, one.file)), error)
                    continue
                rows.append(replace(row, first_call_s=first_s, peak_bytes=peak))
                self._keep(rows[-1])
                timings.append(Timing(call))
                files.append(one.file)
        context.memory.enforce()
        context.memory.rest()

        kept_at = time.monotonic()

        def said(part: float) -> None:
            nonlocal kept_at
            context.report("time", done + share * part, f"{_rows(size)}, {len(timings)} in turns")
            if time.monotonic() - kept_at >= KEPT_EVERY_S:
                for row, timing in zip(rows, timings, strict=True):
                    if timing.times_ns:
                        self._note(row.timed(Spread.of(timing.times_ns)))
                context.save_partial(self._value())
                kept_at = time.monotonic()

        with keeping_freed():
            take_turns(timings, self._seconds, said)
        for row, timing, file in zip(rows, timings, files, strict=True):
            if timing.failure is not None:
                self._note(replace(row, reason=reason_of(timing.failure, file)), timing.failure)
            else:
                self._note(row.timed(Spread.of(timing.times_ns)))

    def _row(self, one: Subject, style: str, size: int) -> Row:
        return Row(
            one.file.name,
            one.role,
            one.format_id,
            one.runtime,
            style,
            one.device,
            one.threads_used,
            size,
            reason=f"{one.file.name}, {_rows(size)} a call: under way when the run ended.",
        )

    def _failed(self, one: Subject) -> None:
        for size in one.takes(self._batch_sizes):
            self._note(replace(self._row(one, "", size), reason=one.reason), one.failure)

    def _keep(self, row: Row) -> None:
        """Keeps it in the answer that stays if the process ends here."""
        self._note(row)
        self._context.save_partial(self._value())

    def _note(self, row: Row, error: Exception | None = None) -> None:
        self._found[row.role, row.call, row.batch_size] = row
        if error is not None:
            self._errors.append((row, error))

    def _ran_out(self) -> None:
        """Ends the job where memory ran out for some of the times; what was timed is its partial answer."""
        for row, error in self._errors:
            cause = explain(error)
            if cause is not None:
                report = named_by(cause, row.batch_size)
                raise OutOfMemory(
                    f"{row.reason} Give smaller --batch-sizes, or raise the memory limit.",
                    {**plain(self._value()), "oom": report},
                ) from error

    def _raise(self) -> None:
        _, first = self._errors[0]
        if isinstance(first, StethoscopeError):
            raise first
        raise BadInput(next(row.reason for row in self._found.values())) from first

    def _value(self) -> Latencies:
        traced = [
            f"{one.file.name}: its first call went into finding a size that its open dimensions take, and is not told."
            for one in self._subjects
            if one.traced
        ]
        order = {one.role: place for place, one in enumerate(self._subjects)}
        rows = sorted(self._found.values(), key=lambda row: order[row.role])
        return Latencies(
            rows=tuple(rows),
            models=tuple(one.about() for one in self._subjects),
            threads=self._settings.intra_threads,
            cores=timed_calls.cores(),
            device=next((row.device for row in rows if row.device == "GPU"), "CPU"),
            source=self._rows.source,
            together=self._together,
            seconds=self._seconds,
            notes=(*self._notes, *self._rows.notes, *traced, *about_threads(rows)),
        )


def _models(files: Mapping[str, ModelFile]) -> list[tuple[str, ModelFile]]:
    others = [role for role in files if role.startswith(OTHER) and role.removeprefix(OTHER).isdecimal()]
    return [(role, files[role]) for role in ("model", *sorted(others, key=lambda role: int(role.removeprefix(OTHER))))]


def _needs_tensorflow(file: ModelFile) -> bool:
    with contextlib.suppress(StethoscopeError):
        return detect(file).worker == "tensorflow"
    return False


def _size_or_nothing(file: ModelFile) -> int:
    with contextlib.suppress(OSError):
        return on_disk(file)
    return 0


def _busy() -> list[str]:
    """A note where other programs keep the machine busy."""
    with contextlib.suppress(OSError, AttributeError):
        load, cores = os.getloadavg()[0], timed_calls.cores()
        if load > BUSY_SHARE * cores:
            return [
                f"The machine was busy as this began (load {load:.1f} on {cores} {'core' if cores == 1 else 'cores'}): times are "
                "longer than on a quiet one, p99 above all. Compare them with each other only."
            ]
    return []


def _rows(size: int) -> str:
    return f"{size:,} {'row' if size == 1 else 'rows'}"


def _batch_sizes(values: Any) -> list[int]:
    if not all(isinstance(one, int) and 0 < one <= LARGEST_BATCH for one in values):
        raise BadSetting(f"Batch sizes: expected whole numbers from 1 to {LARGEST_BATCH:,}, got {list(values)}.")
    return sorted(set(values))


def _seconds(value: Any) -> float:
    if not isinstance(value, int | float) or not 0 < value <= MOST_SECONDS:
        raise BadSetting(f"Seconds: expected more than 0 and at most {MOST_SECONDS:g}, got {value!r}.")
    return float(value)


def _styles(values: Any) -> list[str]:
    unknown = [one for one in values if one not in CALLS]
    if unknown:
        raise BadSetting(f"Call {unknown[0]!r}: expected {', '.join(CALLS)}.")
    return list(dict.fromkeys(values))


TASK = Latency()

"""What a prediction says, and the run of all its rows: outputs, peak and time; running out is a report, not a death."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.open_sizes import OpenSize
from stethoscope.codec import plain
from stethoscope.data.dummy import FedInput, ModelInput, dtype_of
from stethoscope.errors import OutOfMemory
from stethoscope.framework_errors import BatchInterval, ShortageReport, explain, named_by
from stethoscope.memory.batch_outputs import Batches, Value, declared_shape, join, preview
from stethoscope.memory.call_styles import Caller
from stethoscope.memory.configure import Configured
from stethoscope.memory.fit import PeakFit
from stethoscope.memory.foretold import Foretold, expected_tensor
from stethoscope.memory.points import best_time
from stethoscope.memory.run_settings import UsedSettings, give_back
from stethoscope.task import TaskContext
from stethoscope.types import Feed


@dataclass(frozen=True)
class Output:
    """One output array, joined over all batches."""

    shape: tuple[int, ...]
    dtype: str
    path: str
    """Its .npy among the files of the job."""


@dataclass(frozen=True)
class Prediction:
    """What a model yields, how fast, and in how much memory; what has a default is known once it has run."""

    settings: UsedSettings
    configured: tuple[str, ...]
    """What was set up, in sentences."""
    precision_difference: Mapping[str, float | None]
    """By output, the largest difference that another precision makes to the first row; None for values not finite."""
    input: Mapping[str, FedInput]
    loaded_bytes: int
    predicted_peak_bytes: int | None
    """From small batches, before the run; None where none could be run."""
    predicted_margin_bytes: int | None
    loading_peak_bytes: int
    probes: Mapping[int, int] = field(default_factory=dict)
    """Peak in bytes by batch size, of the batches that the prediction of the peak is made from."""
    batches: int = 0
    time_per_sample_s: float | None = None
    time_per_batch_s: float | None = None
    """The median."""
    measured_peak_bytes: int | None = None
    oom: ShortageReport | None = None
    outputs: Mapping[str, Output] = field(default_factory=dict)
    preview: Mapping[str, tuple[tuple[Value, ...], ...]] = field(default_factory=dict)
    """By output, the first values of the first rows: numbers or text."""
    traces: int | None = None
    """How often the function was traced; None where nothing is."""
    open_sizes: tuple[OpenSize, ...] = ()
    """Every dimension that the model leaves open besides the batch, and who says its size."""
    at_once: bool = False
    """Whether the graph was found to take its inputs only together, whatever has how many rows."""
    lean_predicted_peak_bytes: int | None = None
    """With the settings that make memory follow the tensors (`run_settings.VARIABLES`); None where that is what was measured."""


@dataclass(frozen=True)
class PredictionRun:
    """All rows through an opened model, in this process."""

    context: TaskContext
    opened: Configured
    call: Caller
    given: ModelInput
    batch_size: int
    fit: PeakFit | None
    progress: Batches
    loaded_bytes: int
    foretold: Foretold | None = None
    """What the graph says, where that is what the peak is predicted from."""

    def whole(self, precision_difference: Mapping[str, float | None], lean_bytes: int | None = None) -> Prediction:
        """The answer; what is known of it before the run is kept first."""
        context, opened, given, fit = self.context, self.opened, self.given, self.fit
        rows = given.batching.rows(given.feed)
        predicted, margin = self._expected(rows)
        known = Prediction(
            settings=UsedSettings(
                **vars(opened.settings)
                | {
                    "batch_size": self.batch_size,
                    "samples": rows,
                    "seed": int(context.params.get("seed", 0)),
                    "memory_limit_bytes": context.budget.memory_bytes,
                    "dynamic_size": given.dynamic_size,
                }
            ),
            configured=tuple(opened.done),
            precision_difference=precision_difference,
            input=given.about(given.feed),
            open_sizes=given.sizes.dimensions,
            loaded_bytes=self.loaded_bytes,
            predicted_peak_bytes=predicted,
            predicted_margin_bytes=margin,
            loading_peak_bytes=max(context.memory.peak_bytes(), fit.loading_peak_bytes if fit else 0),
            probes=fit.probes if fit and self.foretold is None else {},
            at_once=given.together == 0,
            lean_predicted_peak_bytes=lean_bytes,
        )
        context.save_partial({**plain(known), "oom": self._shortage(ShortageReport())})
        return replace(self._predicted(known), traces=self.call.traces)

    def _expected(self, rows: int) -> tuple[int | None, int | None]:
        """(peak, by how much it may be off) in bytes."""
        if self.foretold is not None:
            return self.foretold.run.peak_bytes, self.foretold.margin_bytes
        if self.fit is None:
            return None, None
        itself = self.call.batches_itself
        return self.fit.predict_run(self.batch_size, rows, batches_itself=itself), self.fit.margin_bytes(
            self.batch_size
        )

    def _predicted(self, known: Prediction) -> Prediction:
        batching, feed = self.given.batching, self.given.feed
        rows = batching.rows(feed)
        batches = math.ceil(rows / self.batch_size)
        if self.opened.settings.allocator == "system":
            give_back()
        self.opened.runner.forget()  # what warming up and measuring left in it
        self.context.memory.reset()
        self.progress.begin(batches)
        if self.call.batches_itself and batching.fixed is None and batching.names:
            start = time.perf_counter()
            merged = self._guarded(lambda: self.call(feed), min(rows, self.batch_size))
            times = [(time.perf_counter() - start) / batches] * batches
            peak = self.context.memory.peak_bytes()
        else:
            parts, times = self._by_batch()
            merged = self._guarded(lambda: {name: join(arrays) for name, arrays in parts.items()}, rows)
            peak = self.context.memory.peak_bytes()
        if self.opened.settings.allocator == "pool":  # the first call of this process traced the model
            times[0] = self._again(times[0])
        self.context.report("save", 1.0, "writing the outputs")
        return replace(
            known,
            batches=batches,
            time_per_sample_s=sum(times) / max(1, rows),
            time_per_batch_s=float(np.median(times)),
            measured_peak_bytes=max(peak, known.loading_peak_bytes),
            outputs={name: self._saved(place, array) for place, (name, array) in enumerate(merged.items())},
            preview={name: preview(array) for name, array in merged.items()},
        )

    def _again(self, first_s: float) -> float:
        """How long the first batch takes once more; as long as it took where that was slow, or memory runs out now."""
        batch = self.given.batching.take(self.given.feed, self.given.batching.fixed or self.batch_size)
        try:
            return best_time(self.call, batch, first_s)
        except Exception as error:
            if explain(error) is None:
                raise
            return first_s

    def _by_batch(self) -> tuple[dict[str, list[npt.NDArray[Any]]], list[float]]:
        batching = self.given.batching
        parts: dict[str, list[npt.NDArray[Any]]] = {}
        times: list[float] = []
        for index, part in enumerate(batching.cut(self.given.feed, self.batch_size)):
            kept = batching.rows(part)
            batch = part if batching.fixed is None else batching.take(part, batching.fixed)
            start = time.perf_counter()
            outputs = self._guarded(functools.partial(self.call, batch), kept)
            times.append(time.perf_counter() - start)
            for name, array in outputs.items():
                padded = array.ndim > 0 and kept < batching.rows(batch) == array.shape[0]
                parts.setdefault(name, []).append(array[:kept] if padded else array)
            self.progress.finished(index + 1)
        return parts, times

    def _shortage(self, named: ShortageReport) -> ShortageReport:
        """What to report when memory ran out: what asked for it, as the framework named it, and what would fit."""
        largest = self.foretold and self.foretold.largest
        if largest:
            named = expected_tensor(largest, named)
        return replace(
            named,
            tensor_shape=named.tensor_shape
            or declared_shape(self.opened.architecture, named.operator, self.batch_size),
            batch_size=self.batch_size,
            largest_batch_estimate=self._largest(),
            largest_samples_estimate=self._most_samples(),
        )

    def _largest(self) -> BatchInterval | None:
        if self.fit is None or self.given.batching.fixed is not None:
            return None
        return self.fit.largest(self.context.budget.memory_bytes)

    def _most_samples(self) -> int | None:
        """The rows that are expected to fit with their outputs, in batches of this size; None where they are not the trouble."""
        rows, limit = self.given.batching.rows(self.given.feed), self.context.budget.memory_bytes
        if self.fit is None or self.given.batching.fixed is not None:
            return None
        while rows > self.batch_size:
            rows = max(self.batch_size, rows * 9 // 10)
            if self.fit.predict_run(self.batch_size, rows, batches_itself=self.call.batches_itself) <= limit:
                return rows
        return None

    def _guarded(self, do: Callable[[], Feed], rows: int) -> Feed:
        try:
            return do()
        except Exception as error:
            cause = explain(error)
            if cause is None:
                raise
            report = self._shortage(named_by(cause))
            fits = report.largest_batch_estimate
            if fits:  # whatever the line says, this batch did not fit
                fits = BatchInterval(min(fits.low, self.batch_size - 1), min(fits.high, self.batch_size - 1))
                report = replace(report, largest_batch_estimate=fits)
            if self.progress.collecting:
                advice = "Every batch fitted; their outputs together do not. Predict fewer rows at a time."
            elif fits and fits.low:
                advice = f"A batch of {fits.low:,} is estimated to fit."
            else:
                advice = "Raise the memory limit or shrink the input."
            raise OutOfMemory(
                f"{self.progress.current} ({rows:,} rows): {cause.sentence} {advice}", {"oom": report}
            ) from error

    def _saved(self, place: int, array: npt.NDArray[Any]) -> Output:
        return Output(array.shape, dtype_of(array), self.context.save(f"output-{place}", array))

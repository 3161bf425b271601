"""Predict under a memory limit: outputs, peak and time; running out is a report, not a death."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.errors import OutOfMemory
from stethoscope.memory.fit import PeakFit
from stethoscope.out_of_memory import explain
from stethoscope.tasks.inputs import ModelInput, model_input
from stethoscope.types import Architecture, Feed, Runner, TaskContext

PROBE_BATCHES = (1, 2, 4, 8)
PROBE_STEP = 4
"""Beyond the first, probes grow by this factor while memory has not yet grown enough to fit a line through."""
PROBE_SIGNAL_BYTES = 32 << 20
"""Growth over the smallest probe below which a slope would be noise of the allocator."""
PROBE_FRACTION = 0.6
"""Probing stops before the batch expected to need more than this share of the memory limit."""
PROBE_S = 5.0
"""Probing stops when one batch took longer."""
PREVIEW_ROWS, PREVIEW_VALUES = 5, 12


class Predict:
    """Predicts on files["data"], or on random input.

    params: {"batch_size", "samples", "seed", "trusted"}. Leaves one .npy for each output.
    """

    kind = "predict"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns settings, outputs, times, and peak memory predicted from small batches."""
        batch_size = max(1, int(context.params.get("batch_size", 32)))
        samples = int(context.params.get("samples", 0))
        seed = int(context.params.get("seed", 0))
        architecture, opened = context.open_model()
        with opened as runner:
            loaded_bytes = context.memory.added_bytes()
            given = model_input(context, architecture, runner, samples, seed, batch_size)
            batch_size = given.batching.fixed or min(batch_size, given.batching.rows(given.feed))
            fit = _probe(context, runner, given, batch_size)
            value: dict[str, Any] = {
                "settings": {
                    "batch_size": batch_size,
                    "samples": given.batching.rows(given.feed),
                    "seed": seed,
                    "memory_limit_bytes": context.budget.memory_bytes,
                    "dynamic_size": given.dynamic_size,
                },
                "input": {
                    name: {"shape": list(array.shape), "dtype": _dtype(array), "source": given.source}
                    for name, array in given.feed.items()
                },
                "loaded_bytes": loaded_bytes,
                "predicted_peak_bytes": fit.predict(batch_size) if fit else None,
                "probes": fit.probes if fit else {},
            }
            prediction = _Prediction(context, architecture, runner, given, batch_size, fit)
            context.save_partial(value | {"oom": prediction.shortage([], "")})
            context.memory.enforce()
            return value | prediction.run()


def _probe(context: TaskContext, runner: Runner, given: ModelInput, batch_size: int) -> PeakFit | None:
    """Measures the peak of small batches, each run twice so that building the program for it is not counted."""
    if given.batching.fixed is not None:
        return None
    probes: dict[int, int] = {}
    size = 1
    while size <= batch_size:
        context.report("measure", message=f"peak memory at batch {size}")
        feed = given.batching.take(given.feed, size)
        try:
            runner.predict(feed)
            held = context.memory.added_bytes()
            context.memory.reset()
            start = time.perf_counter()
            runner.predict(feed)
        except Exception as error:
            if explain(error) is None:
                raise
            break
        probes[size] = context.memory.peak_bytes()
        following = size * (2 if size < PROBE_BATCHES[-1] else PROBE_STEP)
        growth = probes[size] - min(probes.values())
        expected = 2 * probes[size] - held if len(probes) == 1 else PeakFit(probes).predict(following)
        enough = size >= PROBE_BATCHES[-1] and growth >= PROBE_SIGNAL_BYTES
        too_much = expected > PROBE_FRACTION * context.budget.memory_bytes
        if enough or too_much or time.perf_counter() - start > PROBE_S:
            break
        size = following
    return PeakFit(probes) if probes else None


@dataclass(frozen=True)
class _Prediction:
    context: TaskContext
    architecture: Architecture
    runner: Runner
    given: ModelInput
    batch_size: int
    fit: PeakFit | None

    def run(self) -> dict[str, Any]:
        batching, done = self.given.batching, 0
        batches = math.ceil(batching.rows(self.given.feed) / self.batch_size)
        parts: dict[str, list[npt.NDArray[Any]]] = {}
        times: list[float] = []
        self.context.memory.reset()
        for index, part in enumerate(batching.cut(self.given.feed, self.batch_size)):
            self.context.report("predict", index / batches, f"batch {index + 1} of {batches}")
            kept = batching.rows(part)
            batch = part if batching.fixed is None else batching.take(part, batching.fixed)
            start = time.perf_counter()
            outputs = self._guarded(batch, f"Batch {index + 1} of {batches} ({batching.rows(batch):,} rows)")
            times.append(time.perf_counter() - start)
            for name, array in outputs.items():
                padded = array.ndim > 0 and kept < batching.rows(batch) == array.shape[0]
                parts.setdefault(name, []).append(array[:kept] if padded else array)
            done += kept
        peak = self.context.memory.peak_bytes()
        self.context.report("save", 1.0, "writing the outputs")
        merged = {name: _join(arrays) for name, arrays in parts.items()}
        return {
            "batches": batches,
            "time_per_sample_s": sum(times) / max(1, done),
            "time_per_batch_s": float(np.median(times)),
            "measured_peak_bytes": peak,
            "oom": None,
            "outputs": {name: self._saved(place, array) for place, (name, array) in enumerate(merged.items())},
            "preview": {name: _preview(array) for name, array in merged.items()},
        }

    def shortage(self, tensor_shape: list[int], operator: str) -> dict[str, Any]:
        """What to report when memory ran out: what asked for it, and what would fit."""
        return {
            "tensor_shape": tensor_shape or self._declared_shape(operator),
            "operator": operator,
            "batch_size": self.batch_size,
            "largest_batch_estimate": self.fit.largest(self.context.budget.memory_bytes) if self.fit else None,
        }

    def _guarded(self, batch: Feed, subject: str) -> Feed:
        try:
            return self.runner.predict(batch)
        except Exception as error:
            cause = explain(error)
            if cause is None:
                raise
            details = self.shortage(cause.tensor_shape or [], cause.operator)
            fits = details["largest_batch_estimate"]
            if fits:  # whatever the line says, this batch did not fit
                fits = {end: min(size, self.batch_size - 1) for end, size in fits.items()}
                details["largest_batch_estimate"] = fits
            advice = (
                f"A batch of {fits['low']:,} is estimated to fit."
                if fits and fits["low"]
                else "Raise the memory limit or shrink the input."
            )
            raise OutOfMemory(f"{subject}: {cause.sentence} {advice}", {"oom": details}) from error

    def _declared_shape(self, operator: str) -> list[int] | None:
        """The output shape the file declares for an operator, for frameworks whose message has none."""
        for layer in self.architecture.layers:
            shape = layer.output_shape
            if operator and layer.path == operator and shape and None not in shape[1:]:
                return [self.batch_size if size is None else size for size in shape]
        return None

    def _saved(self, place: int, array: npt.NDArray[Any]) -> dict[str, Any]:
        path = self.context.save(f"output-{place}", array)
        return {"shape": list(array.shape), "dtype": _dtype(array), "path": path}


def _join(arrays: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if len(arrays) == 1:
        return arrays[0]
    if arrays[0].ndim == 0:
        return np.stack(arrays)
    if len({array.shape[1:] for array in arrays}) == 1:
        return np.concatenate(arrays)
    return arrays[-1]


def _preview(array: npt.NDArray[Any]) -> list[Any]:
    rows = array.reshape(array.shape[0], -1) if array.ndim > 1 else array.reshape(-1, 1)
    return [[_value(item) for item in row[:PREVIEW_VALUES]] for row in rows[:PREVIEW_ROWS]]


def _value(item: Any) -> Any:
    if isinstance(item, bytes):
        return item.decode("utf-8", "replace")[:200]
    return item.item() if hasattr(item, "item") else str(item)[:200]


def _dtype(array: npt.NDArray[Any]) -> str:
    return "string" if array.dtype.kind in "OSU" else str(array.dtype)


TASK = Predict()

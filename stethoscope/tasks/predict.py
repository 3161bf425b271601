"""Predict under a memory limit: outputs, peak and time; running out is a report, not a death."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from stethoscope.errors import OutOfMemory, StethoscopeError
from stethoscope.out_of_memory import explain
from stethoscope.tasks.inputs import ModelInput, model_input
from stethoscope.types import Feed, Runner, TaskContext

PROBE_BATCHES = (1, 2, 4, 8)
PREVIEW_ROWS, PREVIEW_VALUES = 5, 12


class Predict:
    """params: {"batch_size", "samples", "seed", "trusted"}; files: "model", optionally "data". Leaves one .npy per output."""

    kind = "predict"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns settings, outputs, times, and peak memory predicted from small batches."""
        batch_size = max(1, int(context.params.get("batch_size", 32)))
        samples = max(1, int(context.params.get("samples", batch_size)))
        seed = int(context.params.get("seed", 0))
        architecture, opened = context.open_model()
        with opened as runner:
            loaded_bytes = context.memory.added_bytes()
            given = model_input(context, architecture, runner, samples, seed)
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
            context.save_partial(value | {"oom": _oom(None, batch_size, fit, context)})
            context.memory.enforce()
            return value | _run(context, runner, given, batch_size, fit)


class _Fit:
    """Peak memory as a straight line in the batch size, through measured small batches: peak(B) = a + c·B."""

    def __init__(self, probes: dict[int, int]) -> None:
        self.probes = probes
        sizes, peaks = np.array(list(probes), float), np.array(list(probes.values()), float)
        self.slope = max(0.0, float(np.polyfit(sizes, peaks, 1)[0])) if len(probes) > 1 else 0.0
        self.start = float(peaks[-1] - self.slope * sizes[-1])
        line = self.start + self.slope * sizes
        self.error = float(np.max(np.abs(peaks - line)) / max(1.0, float(peaks.max())))

    def predict(self, batch_size: int) -> int:
        return int(self.start + self.slope * batch_size)

    def largest(self, limit_bytes: int) -> dict[str, int] | None:
        """The batch sizes between which the largest that fits lies: `low` is safe, `high` optimistic."""
        if self.slope <= 0 or self.start >= limit_bytes:
            return None
        best = (limit_bytes - self.start) / self.slope
        margin = 0.05 + self.error
        return {"low": max(0, math.floor(best * (1 - margin))), "high": max(0, math.floor(best * (1 + margin)))}


def _probe(context: TaskContext, runner: Runner, given: ModelInput, batch_size: int) -> _Fit | None:
    """Measures the peak of small batches, each run twice so that building the program for it is not counted."""
    if given.batching.fixed is not None:
        return None
    probes: dict[int, int] = {}
    for size in [size for size in PROBE_BATCHES if size <= batch_size]:
        context.report("measure", message=f"peak memory at batch {size}")
        feed = given.batching.take(given.feed, size)
        try:
            runner.predict(feed)
            context.memory.reset()
            runner.predict(feed)
        except StethoscopeError:
            raise
        except Exception as error:
            if explain(error) is None:
                raise
            break
        probes[size] = context.memory.peak_bytes()
        next_peak = (
            probes[size] + max(0, probes[size] - min(probes.values())) + (probes[size] - context.memory.added_bytes())
        )
        if next_peak > context.budget.memory_bytes:
            break
    return _Fit(probes) if probes else None


def _run(context: TaskContext, runner: Runner, given: ModelInput, batch_size: int, fit: _Fit | None) -> dict[str, Any]:
    total, done = given.batching.rows(given.feed), 0
    batches = math.ceil(total / batch_size)
    parts: dict[str, list[Any]] = {}
    times: list[float] = []
    context.memory.reset()
    for index, part in enumerate(given.batching.cut(given.feed, batch_size)):
        context.report("predict", index / batches, f"batch {index + 1} of {batches}")
        kept = given.batching.rows(part)
        batch = part if given.batching.fixed is None else given.batching.take(part, given.batching.fixed)
        start = time.perf_counter()
        outputs = _guarded(context, runner, batch, batch_size, fit, index)
        times.append(time.perf_counter() - start)
        for name, array in outputs.items():
            padded = (
                kept < given.batching.rows(batch) and array.ndim > 0 and array.shape[0] == given.batching.rows(batch)
            )
            parts.setdefault(name, []).append(array[:kept] if padded else array)
        done += kept
    peak = context.memory.peak_bytes()
    context.report("save", 1.0, "writing the outputs")
    merged = {name: _join(arrays) for name, arrays in parts.items()}
    return {
        "batches": batches,
        "time_per_sample_s": sum(times) / max(1, done),
        "time_per_batch_s": float(np.median(times)),
        "measured_peak_bytes": peak,
        "oom": None,
        "outputs": {name: _saved(context, f"{place}", array) for place, (name, array) in enumerate(merged.items())},
        "preview": {name: _preview(array) for name, array in merged.items()},
    }


def _guarded(context: TaskContext, runner: Runner, batch: Feed, batch_size: int, fit: _Fit | None, index: int) -> Feed:
    try:
        return runner.predict(batch)
    except StethoscopeError:
        raise
    except Exception as error:
        cause = explain(error)
        if cause is None:
            raise
        detail = _oom(cause.tensor_shape, batch_size, fit, context)
        fits = detail["largest_batch_estimate"]
        advice = (
            f" An estimated batch of {fits['low']} fits."
            if fits and fits["low"]
            else " Raise the memory limit or shrink the input."
        )
        sentence = cause.sentence[:1].upper() + cause.sentence[1:]
        raise OutOfMemory(f"Batch {index + 1} of {batch_size} rows: {sentence}{advice}", {"oom": detail}) from error


def _oom(shape: list[int] | None, batch_size: int, fit: _Fit | None, context: TaskContext) -> dict[str, Any]:
    return {
        "tensor_shape": shape,
        "batch_size": batch_size,
        "largest_batch_estimate": fit.largest(context.budget.memory_bytes) if fit else None,
    }


def _join(arrays: list[Any]) -> np.ndarray[Any, Any]:
    if len(arrays) == 1 or arrays[0].ndim == 0:
        return np.asarray(arrays[0] if len(arrays) == 1 else np.stack(arrays))
    if len({array.shape[1:] for array in arrays}) == 1:
        return np.concatenate(arrays)
    return np.asarray(arrays[-1])


def _saved(context: TaskContext, name: str, array: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {"shape": list(array.shape), "dtype": _dtype(array), "path": context.save(f"output-{name}", array)}


def _preview(array: np.ndarray[Any, Any]) -> list[Any]:
    flat = array.reshape(array.shape[0], -1) if array.ndim > 1 else array.reshape(-1, 1)
    return [[_value(item) for item in row[:PREVIEW_VALUES]] for row in flat[:PREVIEW_ROWS]]


def _value(item: Any) -> Any:
    if isinstance(item, bytes):
        return item.decode("utf-8", "replace")[:200]
    return item.item() if hasattr(item, "item") else str(item)[:200]


def _dtype(array: np.ndarray[Any, Any]) -> str:
    return "string" if array.dtype.kind in "OSU" else str(array.dtype)


TASK = Predict()

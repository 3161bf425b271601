"""How far predicted peak memory is from measured: architectures × batch sizes × call styles, and the largest batch."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.peak_memory_models import ARCHITECTURES

BATCH_SIZES = (4, 16, 64)
CALLS = ("function", "predict", "call")
EVERY_CALL = ("dense", "unet", "lstm", "bert_mini", "branches")
"""Architectures measured in every call style; the others in the first."""
LIMITED = ("unet", "vit", "autoencoder")
"""Architectures whose largest batch is looked for: the limit is what a batch of `LIMIT_BATCH` is measured to need."""
LIMIT_BATCH = 40
MEDIAN, WORST = 0.05, 0.15
_BUILD = "import sys; from benchmarks.peak_memory_models import build; build(sys.argv[1], sys.argv[2])"
_MEMORY_BYTES = 8 << 30


def run(folder: Path) -> dict[str, Any]:
    """Errors by case, their median and worst, wrong answers about what fits, and intervals that hold the truth."""
    from stethoscope.jobs.job_engine import Engine

    engine = Engine(folder / "engine", {"light": 1, "tensorflow": 1}, 1 << 62)
    errors: dict[str, float] = {}
    failed: dict[str, str] = {}
    intervals: dict[str, Any] = {}
    try:
        for name in ARCHITECTURES:
            path = folder / f"{name}.keras"
            subprocess.run([sys.executable, "-c", _BUILD, name, str(path)], check=True, capture_output=True)
            for call in CALLS if name in EVERY_CALL else CALLS[:1]:
                for batch_size in BATCH_SIZES:
                    case = f"{name}, {call}, {batch_size}"
                    value = _predicted(engine, path, call, batch_size, _MEMORY_BYTES)
                    if value["status"] == "ok":
                        errors[case] = round(value["predicted_peak_bytes"] / value["peak_rss_bytes"] - 1, 4)
                    else:
                        failed[case] = value["reason"]
                    print(f"  {case}: {errors.get(case, failed.get(case))}", file=sys.stderr, flush=True)
            if name in LIMITED:
                intervals[name] = _interval(engine, path)
                print(f"  {name}: {intervals[name]}", file=sys.stderr, flush=True)
            path.unlink()
    finally:
        engine.stop()
    sizes = sorted(abs(error) for error in errors.values())
    inside = [item["low"] <= item["largest"] <= item["high"] for item in intervals.values()]
    return {
        "median_error": statistics.median(sizes),
        "worst_error": sizes[-1],
        "within_5_percent": round(sum(size <= MEDIAN for size in sizes) / len(sizes), 3),
        "errors": errors,
        "failed": failed,
        "largest_batch": intervals,
        "holds": statistics.median(sizes) <= MEDIAN and sizes[-1] <= WORST and not failed and all(inside),
    }


def _predicted(engine: Any, path: Path, call: str, batch_size: int, memory_bytes: int) -> dict[str, Any]:
    params = {"settings": {"batch_size": batch_size, "call": call}}
    return _done(engine, "predict", path, params, memory_bytes)


def _interval(engine: Any, path: Path) -> dict[str, int]:
    """The interval a sweep names for a limit, and the largest batch that really ran under it (by bisection)."""
    needed = int(_predicted(engine, path, "function", LIMIT_BATCH, _MEMORY_BYTES)["measured_peak_bytes"])
    params = {"settings": {"call": "function"}, "batch_sizes": [1, LIMIT_BATCH // 2]}
    found = _done(engine, "sweep", path, params, needed)["largest_batch"]
    low, high = LIMIT_BATCH // 2, 2 * LIMIT_BATCH
    while high - low > 1:
        middle = (low + high) // 2
        fits = _predicted(engine, path, "function", middle, needed)["status"] == "ok"
        low, high = (middle, high) if fits else (low, middle)
    return {"low": found["low"], "high": found["high"], "largest": low}


def _done(engine: Any, kind: str, path: Path, params: Mapping[str, Any], memory_bytes: int) -> dict[str, Any]:
    from stethoscope.types import Budget, Job, ModelFile

    job = Job(kind, {"model": ModelFile.at(path)}, params, Budget(memory_bytes, 600), "tensorflow")
    result = engine.wait(engine.submit(job))
    return {
        **result.value,
        "status": result.status.value,
        "reason": result.reason,
        "peak_rss_bytes": result.peak_rss_bytes,
    }


BENCHMARK = Benchmark(
    "peak_memory", "predicted peak memory within 5 % (median) and 15 % (worst) of what is measured", run
)

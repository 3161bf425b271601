"""How far an estimate made before anything is run is from the measured peak: architectures × call styles × batch sizes."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.peak_memory_models import ARCHITECTURES, built

BATCH_SIZES = (4, 16, 64)
CALLS = ("function", "call")
LARGEST_EAGER_BATCH = 16
"""An eager call of a large network at 64 rows needs several GiB."""
COUNTED_BYTES = 100 << 20
"""Peaks below are mostly the framework's own; they are listed, and not scored."""
MEDIAN = 0.15
_MEMORY_BYTES = 8 << 30


def run(folder: Path) -> dict[str, Any]:
    """Errors by case, of the peaks above `COUNTED_BYTES`; the median and the worst."""
    from stethoscope.jobs.job_engine import Engine

    engine = Engine(folder / "engine", {"light": 1, "tensorflow": 1}, 1 << 62)
    errors: dict[str, float] = {}
    small: dict[str, float] = {}
    failed: dict[str, str] = {}
    try:
        for name in ARCHITECTURES:
            path = built(name, folder)
            for call in CALLS:
                sizes = [size for size in BATCH_SIZES if call != "call" or size <= LARGEST_EAGER_BATCH]
                params = {"settings": {"call": call}, "batch_sizes": sizes}
                guess = _done(engine, "estimate", path, params)
                if guess["status"] != "ok" or guess["cannot"]:
                    failed[f"{name}, {call}"] = guess["reason"] or guess["cannot"]
                    continue
                for one in guess["estimates"]:
                    case = f"{name}, {call}, {one['batch_size']}"
                    settings = {"settings": {"batch_size": one["batch_size"], "call": call}}
                    measured = _done(engine, "predict", path, settings)
                    if measured["status"] != "ok":
                        failed[case] = measured["reason"]
                        continue
                    peak = measured["measured_peak_bytes"]
                    kept = errors if peak >= COUNTED_BYTES else small
                    kept[case] = round(one["peak_bytes"] / peak - 1, 4)
                    print(f"  {case}: {kept[case]}", file=sys.stderr, flush=True)
            path.unlink()
    finally:
        engine.stop()
    sizes = sorted(abs(error) for error in errors.values())
    median = statistics.median(sizes) if sizes else 1.0
    return {
        "median_error": median,
        "worst_error": max(sizes, default=1.0),
        "errors": errors,
        "below_100_mib": small,
        "failed": failed,
        "holds": median <= MEDIAN and not failed,
    }


def _done(engine: Any, kind: str, path: Path, params: dict[str, Any]) -> dict[str, Any]:
    from stethoscope.types import Budget, Job, ModelFile

    job = Job(kind, {"model": ModelFile.at(path)}, params, Budget(_MEMORY_BYTES, 600), "tensorflow")
    result = engine.wait(engine.submit(job))
    return {**result.value, "status": result.status.value, "reason": result.reason}


BENCHMARK = Benchmark(
    "static_estimate", "peak memory estimated before anything is run within 15 % (median) of what is measured", run
)

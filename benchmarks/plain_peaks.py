"""Peaks that a sweep tells against those of a process like the user's own: architectures × batch sizes, and the largest batch.

The other process is a Python that loads the file and calls it once; nothing of ours is in it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.peak_memory_models import HELD_OUT, built

RULES_FROM = ("unet", "mobilenet", "vit", "lstm", "bert_mini")
"""Looked at while the method was made; told apart from the others."""
BATCH_SIZES = (4, 16, 48)
CALLS = ("predict", "function")
MEMORY_BYTES, SMALL_BYTES = 6 << 30, 100 << 20
REPEATS = 3
MEDIAN, WORST = 0.03, 0.15
KEPT = """
def kept(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name)) << 10
"""
"""`kept("VmHWM")` is that line of the process's status, in bytes."""
PLAIN = (
    KEPT
    + """
import sys
import numpy as np, tensorflow as tf, keras
path, call, rows, length = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
before = kept("RssAnon")
model = keras.saving.load_model(path)
draw = np.random.default_rng(0)
x = {}
for given in model.inputs:
    shape = (rows, *(length if size is None else size for size in given.shape[1:]))
    whole = "int" in given.dtype
    x[given.name] = draw.integers(0, 2, shape).astype(given.dtype) if whole else draw.random(shape, dtype="float32")
x = x if len(x) > 1 else next(iter(x.values()))
made = model.predict(x, batch_size=rows, verbose=0) if call == "predict" else tf.function(model)(x)
print(kept("VmHWM") - kept("RssFile") - before)
"""
)
"""The peak is the kernel's mark; libraries are taken off as they are at the end."""


def run(folder: Path) -> dict[str, Any]:
    """Errors of what was measured and of what was predicted, and whether the lower end of each interval runs."""
    from stethoscope.jobs.job_engine import Engine

    engine = Engine(folder / "engine", {"light": 1, "tensorflow": 1}, 1 << 62)
    cases: dict[str, dict[str, Any]] = {}
    intervals: dict[str, dict[str, Any]] = {}
    try:
        for name in (*RULES_FROM, *HELD_OUT):
            path = built(name, folder)
            for call in CALLS:
                value = _swept(engine, path, call, BATCH_SIZES, MEMORY_BYTES)
                for point in value["points"]:
                    cases[f"{name}, {call}, {point['batch_size']}"] = _case(path, call, point, value["open_sizes"])
            needed = next(
                (p["measured_peak_bytes"] for p in value["points"] if p["batch_size"] == BATCH_SIZES[1]), None
            )
            intervals[name] = _interval(engine, path, int(needed * 1.3)) if needed else {"why": value["reason"]}
            print(f"  {name}: {intervals[name]}", file=sys.stderr, flush=True)
            path.unlink()
    finally:
        engine.stop()
    told = {case: found for case, found in cases.items() if "measured_error" in found}
    unseen = {case: found for case, found in told.items() if case.split(",")[0] not in RULES_FROM}
    large = {case: found for case, found in unseen.items() if found["plain_bytes"] >= SMALL_BYTES}
    tried = [found["low_runs"] for found in intervals.values() if "low_runs" in found]
    measured = _summary([found["measured_error"] for found in large.values()])
    return {
        "measured": {
            "all": _summary([found["measured_error"] for found in told.values()]),
            "unseen_from_100_mib": measured,
        },
        "predicted": {
            "all": _summary([found["predicted_error"] for found in told.values()]),
            "unseen_from_100_mib": _summary([found["predicted_error"] for found in large.values()]),
        },
        "lower_ends_that_run": f"{sum(tried)} of {len(tried)}",
        "cases": cases,
        "largest_batch": intervals,
        "holds": measured["median"] <= MEDIAN and measured["worst"] <= WORST and all(tried),
    }


def _summary(errors: Sequence[float | None]) -> dict[str, Any]:
    sizes = sorted(abs(error) for error in errors if error is not None)
    if not sizes:
        return {"cases": 0, "median": 1.0, "worst": 1.0}
    return {"cases": len(sizes), "median": round(statistics.median(sizes), 4), "worst": sizes[-1]}


def _case(path: Path, call: str, point: Mapping[str, Any], sizes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if point["measured_peak_bytes"] is None:
        return {"status": point["status"], "why": point["reason"]}
    taken = plain(path, call, point["batch_size"], _length(sizes))
    predicted = None if point["calibration"] else round(point["predicted_peak_bytes"] / taken - 1, 4)
    found = {
        "plain_bytes": taken,
        "measured_error": round(point["measured_peak_bytes"] / taken - 1, 4),
        "predicted_error": predicted,
        "lean_share": round((point["lean_peak_bytes"] or 0) / taken, 3),
    }
    print(f"  {path.stem}, {call}, {point['batch_size']}: {found}", file=sys.stderr, flush=True)
    return found


def _length(sizes: Sequence[Mapping[str, Any]]) -> int:
    return max((found["size"] for found in sizes), default=16)


def plain(path: Path, call: str, rows: int, length: int = 16, repeats: int = REPEATS) -> int:
    """What a plain process adds, in bytes: the median of a few. `length` is the size of what the model leaves open."""
    words = [sys.executable, "-c", PLAIN, str(path), call, str(rows), str(length)]
    runs = [subprocess.run(words, capture_output=True, text=True, check=True).stdout for _ in range(repeats)]
    return int(statistics.median(int(text.split()[-1]) for text in runs))


def _interval(engine: Any, path: Path, limit: int) -> dict[str, Any]:
    """The interval for a limit that some batch fits, and whether its lower end stays within it in plain processes."""
    value = _swept(engine, path, CALLS[-1], (1, 8), limit)
    found = value["largest_batch"]
    if not found or not found["low"]:
        return {"why": "memory hardly grows with the batch, or loading needs all"}
    peak = plain(path, CALLS[-1], found["low"], _length(value["open_sizes"]))
    return {**found, "plain_bytes": peak, "low_runs": peak <= limit}


def _swept(engine: Any, path: Path, call: str, rows: Sequence[int], limit: int) -> dict[str, Any]:
    from stethoscope.types import Budget, Job, ModelFile

    params = {"settings": {"call": call, "allocator": "pool"}, "batch_sizes": list(rows), "estimate": False}
    result = engine.wait(
        engine.submit(Job("sweep", {"model": ModelFile.at(path)}, params, Budget(limit, 900), "tensorflow"))
    )
    return {"points": [], "largest_batch": None, "open_sizes": [], **result.value, "reason": result.reason}


BENCHMARK = Benchmark(
    "plain_peaks",
    "peaks of a sweep within 3 % (median) and 15 % (worst) of a plain process, the lower end always runs",
    run,
)

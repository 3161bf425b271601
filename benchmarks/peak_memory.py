"""How far predicted peak memory is from measured: architectures × batch sizes × call styles, and the largest batch."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.peak_memory_models import ARCHITECTURES, HELD_OUT, built

BATCH_SIZES = (4, 16, 64)
CALLS = ("function", "predict", "predict_on_batch", "call", "compiled")
EVERY_CALL = ("dense", "branches", "lstm", "gru", "unet", "vit", "mobilenet", "bert_mini", "conv1d", "recommender")
"""Architectures measured in every call style; the others in the first two."""
MANY_BATCHES = ("dense", "branches", "unet", "autoencoder", "bert_mini", "generator")
"""Architectures that also predict four batches of 16 rows in one run, by `model.predict` and batch by batch."""
LIMIT_BATCH, LIMIT_FACTOR = 24, 1.25
"""The largest batch is looked for under so many times the memory that a batch of this size is measured to need."""
MEDIAN, WORST, FITS, INSIDE = 0.05, 0.15, 0.02, 0.95
SMALL_BYTES = 100 << 20
"""Below, the framework's own few MiB are a large share; counted, and told apart."""
_MEMORY_BYTES = 8 << 30


def run(folder: Path) -> dict[str, Any]:
    """Errors by case, their median and worst, wrong answers about what fits, and intervals that hold the truth."""
    from stethoscope.jobs.job_engine import Engine

    engine = Engine(folder / "engine", {"light": 1, "tensorflow": 1}, 1 << 62)
    cases: dict[str, dict[str, Any]] = {}
    intervals: dict[str, Any] = {}
    try:
        for name in ARCHITECTURES:
            path = built(name, folder)
            for call in CALLS if name in EVERY_CALL else CALLS[:2]:
                for rows in BATCH_SIZES:
                    cases[f"{name}, {call}, {rows}"] = _case(engine, path, call, rows, rows)
            for call in ("function", "predict") if name in MANY_BATCHES else ():
                cases[f"{name}, {call}, 4 batches of 16"] = _case(engine, path, call, 16, 64)
            intervals[name] = _interval(engine, path)
            print(f"  {name}: {intervals[name]}", file=sys.stderr, flush=True)
            path.unlink()
    finally:
        engine.stop()
    told = {case: found for case, found in cases.items() if "error" in found}
    held_out = {case: found for case, found in told.items() if case.split(",")[0] in HELD_OUT}
    large = {case: found for case, found in told.items() if found["measured_bytes"] >= SMALL_BYTES}
    known = [item["holds"] for item in intervals.values() if item["holds"] is not None]
    all_of = _summary(told.values())
    return {
        **all_of,
        "held_out": _summary(held_out.values()),
        "from_100_mib": _summary(large.values()),
        "by_call": {call: _summary(found for case, found in told.items() if f", {call}," in case) for call in CALLS},
        "largest_batch_inside": round(sum(known) / max(1, len(known)), 3),
        "cases": cases,
        "largest_batch": intervals,
        "holds": all_of["median_error"] <= MEDIAN
        and all_of["worst_error"] <= WORST
        and all_of["worst_wrong_fit"] <= FITS
        and sum(known) >= INSIDE * len(known)
        and all("refused" in found or "error" in found for found in cases.values()),
    }


def _summary(cases: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    found = list(cases)
    sizes = sorted(abs(case["error"]) for case in found)
    if not sizes:
        return {"cases": 0}
    return {
        "cases": len(sizes),
        "median_error": round(statistics.median(sizes), 4),
        "worst_error": sizes[-1],
        "within_5_percent": round(sum(size <= MEDIAN for size in sizes) / len(sizes), 3),
        "within_15_percent": round(sum(size <= WORST for size in sizes) / len(sizes), 3),
        "worst_wrong_fit": max(case["wrong_fit"] for case in found),
    }


def _case(engine: Any, path: Path, call: str, batch_size: int, samples: int) -> dict[str, Any]:
    params = {"settings": {"batch_size": batch_size, "call": call}, "samples": samples}
    value = _done(engine, "predict", path, params, _MEMORY_BYTES)
    expected = value.get("predicted_peak_bytes")
    if value["status"] == "out_of_memory" and expected and expected > _MEMORY_BYTES:
        found = {"refused": "more than the 8 GiB of the benchmark, as predicted", "predicted_bytes": expected}
    elif value["status"] != "ok":
        found = {"failed": value["reason"]}
    else:
        measured, margin = value["peak_rss_bytes"], value["predicted_margin_bytes"]
        found = {
            "predicted_bytes": expected,
            "measured_bytes": measured,
            "error": round(expected / measured - 1, 4),
            "wrong_fit": round(_wrong_fit(expected, margin, measured), 4),
        }
    print(f"  {path.stem}, {call}, {batch_size} of {samples}: {found}", file=sys.stderr, flush=True)
    return found


def _wrong_fit(expected: int, margin: int, measured: int) -> float:
    """By which share of a budget the answer about it is wrong, for the budget where it is most.

    From `expected + margin` on the answer is that it fits, below `expected - margin` that it does not, between them none.
    """
    certain, hopeless = expected + margin, expected - margin
    return max(0.0, measured / certain - 1, 1 - measured / hopeless if hopeless > 0 else 0.0)


def _interval(engine: Any, path: Path) -> dict[str, Any]:
    """The interval a sweep names for a limit, and whether its lower end ran and the batch above its upper end did not."""
    params = {"settings": {"batch_size": LIMIT_BATCH, "call": "function"}}
    needed = _done(engine, "predict", path, params, _MEMORY_BYTES)
    if needed["status"] != "ok":
        return {"holds": None, "why": needed["reason"]}
    limit = int(LIMIT_FACTOR * needed["peak_rss_bytes"])
    params = {"settings": {"call": "function"}, "batch_sizes": [1, LIMIT_BATCH // 2], "check": True, "estimate": False}
    value = _done(engine, "sweep", path, params, limit)
    checks, found = value.get("checks") or [], value.get("largest_batch")
    if not found or len(checks) < 2:
        return {"holds": None, "why": value["reason"] or "memory does not grow with the batch, or loading needs all"}
    # As it was before a batch above it was tried: that one may move it.
    below, above = checks[:2]
    return {
        "limit_bytes": limit,
        "low": below["batch_size"],
        "high": above["batch_size"] - 1,
        "holds": below["status"] == "ok" and above["status"] == "out_of_memory",
        "holds_after_checking": below["status"] == "ok" and checks[-1]["status"] == "out_of_memory",
    }


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

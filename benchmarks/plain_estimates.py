"""Peaks estimated before anything is run against those of a process like the user's own: architectures × call styles × batch sizes.

The other process is a Python that loads the file and calls it once; nothing of ours is in it. One for each case.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.peak_memory_models import ARCHITECTURES, built
from benchmarks.plain_peaks import SMALL_BYTES, plain

LOOKED_AT = ("unet", "vit", "mobilenet", "dense", "autoencoder", "seq2seq", "bert_tiny")
"""Their processes were looked into while the rules were made; told apart from the others."""
BATCH_SIZES = (16, 64)
CALLS = ("predict", "function")
MOST_BYTES = 6 << 30
MEDIAN, WORST = 0.08, 0.25
_MEMORY_BYTES = 8 << 30


def run(folder: Path) -> dict[str, Any]:
    """Errors of estimates of TensorFlow's pool, and of those of lean settings, by case."""
    from stethoscope.jobs.job_engine import Engine

    engine = Engine(folder / "engine", {"light": 1, "tensorflow": 1}, 1 << 62)
    cases: dict[str, dict[str, Any]] = {}
    failed: dict[str, str] = {}
    try:
        for name in ARCHITECTURES:
            path = built(name, folder)
            for call in CALLS:
                made = _estimated(engine, path, call)
                if made["cannot"]:
                    failed[f"{name}, {call}"] = made["cannot"]
                for estimate in made["estimates"]:
                    case = f"{name}, {call}, {estimate['batch_size']}"
                    if estimate["peak_bytes"] < MOST_BYTES:
                        cases[case] = _case(path, call, estimate)
                        print(f"  {case}: {cases[case]}", file=sys.stderr, flush=True)
            path.unlink()
    finally:
        engine.stop()
    unseen = {case: found for case, found in cases.items() if case.split(",")[0] not in LOOKED_AT}
    large = {case: found for case, found in unseen.items() if found["plain_bytes"] >= SMALL_BYTES}
    scored = _summary(large)
    return {
        "all": _summary(cases),
        "unseen": _summary(unseen),
        "unseen_from_100_mib": scored,
        "lean_unseen_from_100_mib": _summary(large, "lean_error"),
        "cases": cases,
        "failed": failed,
        "holds": scored["median"] <= MEDIAN and scored["worst"] <= WORST and not failed,
    }


def _case(path: Path, call: str, estimate: Mapping[str, Any]) -> dict[str, Any]:
    taken = plain(path, call, estimate["batch_size"], estimate["size"] or 16, repeats=1)
    return {
        "plain_bytes": taken,
        "error": round(estimate["peak_bytes"] / taken - 1, 4),
        "lean_error": round((estimate["lean_peak_bytes"] or 0) / taken - 1, 4),
        "phase": estimate["phase"],
    }


def _summary(cases: Mapping[str, Mapping[str, Any]], of: str = "error") -> dict[str, Any]:
    sizes = sorted(abs(found[of]) for found in cases.values())
    return {
        "cases": len(sizes),
        "median": round(statistics.median(sizes), 4) if sizes else 1.0,
        "worst": max(sizes, default=1.0),
    }


def _estimated(engine: Any, path: Path, call: str) -> dict[str, Any]:
    from stethoscope.types import Budget, Job, ModelFile

    params = {"settings": {"call": call, "allocator": "pool"}, "batch_sizes": list(BATCH_SIZES)}
    job = Job("estimate", {"model": ModelFile.at(path)}, params, Budget(_MEMORY_BYTES, 600), "tensorflow")
    result = engine.wait(engine.submit(job))
    return {"estimates": [], "cannot": result.reason, **result.value}


BENCHMARK = Benchmark(
    "plain_estimates",
    "peaks estimated without a run within 8 % (median) and 25 % (worst) of a plain process, above 100 MiB",
    run,
)

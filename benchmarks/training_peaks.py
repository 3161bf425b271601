"""Peaks of training that a sweep measures, and that `plan` predicts, against a plain process that calls `model.fit`.

The other process is a Python that loads the compiled file and trains on three batches; nothing of ours is in it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.plain_peaks import KEPT
from benchmarks.training_peaks_models import ARCHITECTURES

BATCH_SIZES = (4, 32)
MEMORY_BYTES, SMALL_BYTES = 10 << 30, 100 << 20
MEDIAN, WORST = 0.03, 0.15
PLAIN = (
    KEPT
    + """
import json, sys
import numpy as np, tensorflow as tf, keras
path, rows = sys.argv[1], int(sys.argv[2])
before = kept("RssAnon")
model = keras.saving.load_model(path)
draw = np.random.default_rng(0)
x = []
for given in model.inputs:
    shape = (3 * rows, *given.shape[1:])
    whole = "int" in given.dtype
    x.append(draw.integers(0, 100, shape).astype(given.dtype) if whole else draw.random(shape, dtype="float32"))
out = model.output_shape[1:]
y = draw.random((3 * rows, *out), dtype="float32") if model.loss == "mse" else draw.integers(0, out[-1], (3 * rows, *out[:-1]))
model.fit(x if len(x) > 1 else x[0], y, batch_size=rows, verbose=0)
print(json.dumps({"peak": kept("VmHWM") - kept("RssFile") - before, "parameters": model.count_params()}))
"""
)
"""The peak is the kernel's mark; libraries are taken off as they are at the end."""


def run(folder: Path) -> dict[str, Any]:
    """For each architecture and batch: the plain peak, by how much the sweep's and the plan's differ from it."""
    from stethoscope.jobs.job_engine import Engine

    engine = Engine(folder / "engine", {"light": 1, "tensorflow": 1}, 1 << 62)
    cases: dict[str, dict[str, Any]] = {}
    try:
        for name in ARCHITECTURES:
            path = folder / f"{name}.keras"
            code = "import sys; from benchmarks.training_peaks_models import build; build(sys.argv[1], sys.argv[2])"
            subprocess.run([sys.executable, "-c", code, name, str(path)], check=True, capture_output=True)
            swept, planned = _swept(engine, path), _planned(engine, path)
            for rows in BATCH_SIZES:
                plain = _plain(path, rows)
                found = {
                    "parameters": plain["parameters"],
                    "plain_bytes": plain["peak"],
                    "measured_bytes": swept[rows],
                    "measured_error": round(swept[rows] / plain["peak"] - 1, 4) if swept[rows] else None,
                    "planned_bytes": planned[rows].total,
                    "planned_ratio": round(plain["peak"] / planned[rows].total, 4),
                    "states_bytes": planned[rows].total - planned[rows].activations - planned[rows].buffers,
                    "within_the_margin": _within(planned[rows], plain["peak"]),
                }
                cases[f"{name}, {rows}"] = found
                print(f"  {name}, {rows}: {found}", file=sys.stderr, flush=True)
            path.unlink()
    finally:
        engine.stop()
    measured = _summary([c["measured_error"] for c in cases.values() if c["plain_bytes"] >= SMALL_BYTES])
    ratios = [case["planned_ratio"] for case in cases.values()]
    return {
        "measured_from_100_mib": measured,
        "plan": {
            "cases": len(ratios),
            "median_ratio": round(statistics.median(ratios), 3),
            "highest_ratio": max(ratios),
            "lowest_ratio": min(ratios),
            "within_the_margin": f"{sum(case['within_the_margin'] for case in cases.values())} of {len(cases)}",
        },
        "cases": cases,
        "holds": measured["median"] <= MEDIAN
        and measured["worst"] <= WORST
        and all(case["within_the_margin"] for case in cases.values()),
    }


def _within(planned: Any, plain_bytes: int) -> bool:
    """Whether the margin that the plan says was wide enough."""
    from stethoscope.memory.planner.margin import margin

    around = margin(planned)
    return bool(planned.total - around.over_bytes <= plain_bytes <= planned.total + around.short_bytes)


def _summary(errors: Sequence[float | None]) -> dict[str, Any]:
    sizes = sorted(abs(error) for error in errors if error is not None)
    if not sizes:
        return {"cases": 0, "median": 1.0, "worst": 1.0}
    return {"cases": len(sizes), "median": round(statistics.median(sizes), 4), "worst": sizes[-1]}


def _plain(path: Path, rows: int) -> dict[str, Any]:
    words = [sys.executable, "-c", PLAIN, str(path), str(rows)]
    found: dict[str, Any] = json.loads(
        subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\n")[-2]
    )
    return found


def _swept(engine: Any, path: Path) -> dict[int, int | None]:
    from stethoscope.types import Budget, Job, ModelFile

    params = {"batch_sizes": list(BATCH_SIZES), "changes": [], "compare": False, "largest": False}
    job = Job("sweep_training", {"model": ModelFile.at(path)}, params, Budget(MEMORY_BYTES, 900), "tensorflow")
    result = engine.wait(engine.submit(job))
    return {point["batch_size"]: point["measured_peak_bytes"] for point in result.value["points"]}


def _planned(engine: Any, path: Path) -> dict[int, Any]:
    from stethoscope.codec import answer_of
    from stethoscope.memory.planner.plan import Settings, for_model, plan
    from stethoscope.memory.planner.presets import device
    from stethoscope.tasks.describe import Description
    from stethoscope.types import Budget, Job, ModelFile

    job = Job("describe", {"model": ModelFile.at(path)}, {}, Budget(MEMORY_BYTES, 120), "light")
    architecture = answer_of(engine.wait(engine.submit(job)), Description).architecture
    sizes = {}
    for rows in BATCH_SIZES:
        asked = for_model(architecture, Settings(device("1TB"), optimizer="auto", precision="auto", batch_size=rows))
        single = next(one for one in plan(architecture, asked) if one.kind == "single")
        sizes[rows] = single.bytes_per_device
    return sizes


BENCHMARK = Benchmark(
    "training_peaks",
    "peaks of training within 3 % (median) and 15 % (worst) of a plain process; a plan's error within the margin it says",
    run,
)

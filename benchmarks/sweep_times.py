"""What it costs the times of a sweep that its worker gives memory back: against a process with TensorFlow's own pool."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.peak_memory_models import built

ARCHITECTURES = ("unet", "dense", "mobilenet", "lstm")
BATCH_SIZES = (8, 32, 64)
CALLS = 8
MOST = 2.0
_TIME = """
import contextlib, json, sys, time
from stethoscope.memory import run_settings
path, sizes, how = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
if how != "pool":
    run_settings.give_back_at_once()
import keras, numpy as np, tensorflow as tf
model = keras.models.load_model(path, compile=False)
run = tf.function(lambda *x: model(list(x) if len(x) > 1 else x[0], training=False), reduce_retracing=True)
times = {}
with run_settings.keeping_freed() if how == "kept" else contextlib.nullcontext():
    for rows in sizes:
        feed = [tf.zeros((rows, *[size or 64 for size in one.shape[1:]]), one.dtype) for one in model.inputs]
        run(*feed)
        taken = []
        for _ in range(int(sys.argv[4])):
            start = time.perf_counter()
            run(*feed)
            taken.append(time.perf_counter() - start)
        times[rows] = min(taken)
print(json.dumps(times))
"""


def run(folder: Path) -> dict[str, Any]:
    """Times by batch as ratios to those with TensorFlow's pool: freed memory kept, and given back as while peaks are measured."""
    ratios: dict[str, dict[str, float]] = {"kept": {}, "given_back": {}}
    for name in ARCHITECTURES:
        path = built(name, folder)
        pool = _times(path, "pool")
        for how, found in ratios.items():
            for rows, time_s in _times(path, how).items():
                found[f"{name}, {rows}"] = round(time_s / pool[rows], 2)
    return {
        "ratio_kept": ratios["kept"],
        "ratio_given_back": ratios["given_back"],
        "holds": max(ratios["kept"].values()) <= MOST,
    }


def _times(path: Path, how: str) -> dict[str, float]:
    command = [sys.executable, "-c", _TIME, str(path), json.dumps(BATCH_SIZES), how, str(CALLS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


BENCHMARK = Benchmark(
    "sweep_times", "a sweep's times, taken with freed memory kept, within 2 times those of TensorFlow's own pool", run
)

"""Cancelling a model that never returns, against killing a plain process that runs it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.benchmark import Benchmark, median
from stethoscope.jobs.job_engine import Engine
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.small_models import endless_onnx
from tests.waiting import until

ROUNDS = 10
MOST_S = 1.0
_PLAIN = """
import sys, numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1])
print("runs", flush=True)
session.run(None, {"x": numpy.ones((1, 2), numpy.float32)})
"""


def run(folder: Path) -> dict[str, Any]:
    """Alternates the two, so that both see the same machine."""
    model = endless_onnx(folder / "endless.onnx")
    engine = Engine(folder / "engine", {"light": 1, "tensorflow": 1}, 1 << 62)
    cancelled, killed = [], []
    try:
        for _ in range(ROUNDS):
            cancelled.append(_cancelled_s(engine, model))
            killed.append(_killed_s(model))
    finally:
        engine.stop()
    return {
        "cancelled_s": median(cancelled),
        "slowest_cancelled_s": round(max(cancelled), 4),
        "killed_s": median(killed),
        "slower_by_s": round(median(cancelled) - median(killed), 4),
        "rounds": ROUNDS,
        "holds": max(cancelled) <= MOST_S,
    }


def _cancelled_s(engine: Engine, model: Path) -> float:
    """From the call of `cancel` until the job has ended and its worker is gone."""
    params = {"batch_size": 1, "samples": 1}
    job_id = engine.submit(Job("predict", {"model": ModelFile.at(model)}, params, Budget(1 << 30, 120), "light"))
    until(lambda: engine.state(job_id).progress.phase not in ("starting", "queued"), every_s=0.002)
    workers = psutil.Process(engine.server_pids()["light"]).children()
    time.sleep(0.5)
    start = time.perf_counter()
    engine.cancel(job_id)
    result = engine.wait(job_id, 60)
    until(lambda: not any(worker.is_running() for worker in workers), every_s=0.002)
    assert result.status is Status.CANCELLED, result.reason
    return time.perf_counter() - start


def _killed_s(model: Path) -> float:
    """From the signal until the process is reaped."""
    with subprocess.Popen([sys.executable, "-c", _PLAIN, model], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "runs\n"
        time.sleep(0.5)
        start = time.perf_counter()
        process.kill()
        process.wait(60)
        return time.perf_counter() - start


BENCHMARK = Benchmark("cancel_time", f"a model that never returns is ended within {MOST_S:g} s of its cancel", run)

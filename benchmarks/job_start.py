"""Starting a contained TensorFlow job, against importing TensorFlow in a fresh process."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark, median, process
from stethoscope.jobs.job_engine import Engine
from stethoscope.types import Budget, Job, Status


def run(folder: Path) -> dict[str, Any]:
    """Alternates the two, so that both see the same machine."""
    engine = Engine(folder, {"light": 1, "tensorflow": 1}, 1 << 62)
    job = Job("devices", {}, {}, Budget(1 << 30, 60), "tensorflow")
    try:
        engine.wait(engine.submit(job), 180)
        contained, imported = [], []
        for _ in range(5):
            imported.append(process(sys.executable, "-c", "import tensorflow")["wall_s"])
            for _ in range(4):
                start = time.perf_counter()
                result = engine.wait(engine.submit(job), 60)
                contained.append(time.perf_counter() - start)
                assert result.status is Status.OK, result.reason
    finally:
        engine.stop()
    ratio = median(contained) / median(imported)
    return {
        "contained_job_s": median(contained),
        "import_tensorflow_s": median(imported),
        "ratio": round(ratio, 4),
        "holds": ratio <= 1 / 20,
    }


BENCHMARK = Benchmark("job_start", "a contained job starts and ends in at most 1/20 of `import tensorflow`", run)

"""How long a diagnosis takes on a small model, with the workers' imports done: without training, with the short run, with proofs."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark, median

SAMPLES = ("cancer_softmax_one_unit", "wine_unscaled", "digits_deep_sigmoid")
REPEATS = 3
LIMITS = {"without_training_s": 3.0, "with_run_s": 20.0, "with_proofs_s": 90.0}


def run(folder: Path) -> dict[str, Any]:
    """Median of `REPEATS` per sample and kind; the longest of the medians counts."""
    from stethoscope.evidence.fit import FitSettings
    from stethoscope.jobs.job_engine import Engine
    from stethoscope.studies.diagnosis.report import Request
    from stethoscope.studies.diagnosis.run import Diagnosis
    from stethoscope.types import ModelFile

    built = Path(__file__).resolve().parents[1] / "sample_models" / "built"
    entries = {entry["id"]: entry for entry in json.loads((built / "manifest.json").read_text())}
    engine = Engine(folder, {"light": 2, "tensorflow": 2}, 1 << 62)
    figures: dict[str, Any] = {}
    try:
        for name in SAMPLES:
            entry = entries[name]
            model, data = ModelFile.at(built / entry["file"]), ModelFile.at(built / entry["data"])
            fit = FitSettings.from_mapping(entry["fit"])
            asked = {
                "without_training_s": Request(model, data),
                "with_run_s": Request(model, data, fit=fit),
                "with_proofs_s": Request(model, data, fit=fit, prove=True),
            }
            Diagnosis(engine, asked["without_training_s"]).run()
            figures[name] = {
                kind: _seconds(lambda one=one: Diagnosis(engine, one).run()) for kind, one in asked.items()
            }
    finally:
        engine.stop()
    longest = {kind: max(figures[name][kind] for name in SAMPLES) for kind in LIMITS}
    return {**figures, "longest": longest, "holds": all(longest[kind] <= limit for kind, limit in LIMITS.items())}


def _seconds(work: Any) -> float:
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return median(times)


BENCHMARK = Benchmark(
    "diagnosis_time",
    "on a small model at most 3 s without training, 20 s with the short run, 90 s with proofs, once the workers are warm",
    run,
)

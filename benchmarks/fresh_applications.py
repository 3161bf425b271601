"""False alarms on networks that nobody has touched: each family of keras.applications with fresh weights, diagnosed without data."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark

FAMILIES = (
    "ConvNeXtTiny",
    "DenseNet121",
    "EfficientNetB0",
    "EfficientNetV2B0",
    "InceptionResNetV2",
    "InceptionV3",
    "MobileNet",
    "MobileNetV2",
    "MobileNetV3Small",
    "NASNetMobile",
    "ResNet50",
    "ResNet50V2",
    "VGG16",
    "Xception",
)
"""The smallest of each family: the larger ones repeat its blocks."""
_BUILD = """
import sys, keras
keras.utils.set_random_seed(0)
getattr(keras.applications, sys.argv[1])(weights=None).save(sys.argv[2])
"""
_MOST_BYTES = 700_000_000
"""A file larger than this needs more memory than a usual machine for development has."""


def run(folder: Path) -> dict[str, Any]:
    """Findings at HIGH and above, and MEDIUM ones, by model."""
    from stethoscope.checks.findings import Severity
    from stethoscope.jobs.job_engine import Engine
    from stethoscope.studies.diagnosis.report import Request
    from stethoscope.studies.diagnosis.run import Diagnosis
    from stethoscope.types import ModelFile

    engine = Engine(folder / "engine", {"light": 1, "tensorflow": 1}, 1 << 62)
    alarms: dict[str, list[str]] = {}
    remarks: dict[str, list[str]] = {}
    seconds: dict[str, float] = {}
    left_out: dict[str, str] = {}
    try:
        for name in FAMILIES:
            path = folder / f"{name}.keras"
            subprocess.run([sys.executable, "-c", _BUILD, name, str(path)], check=True, capture_output=True)
            if path.stat().st_size > _MOST_BYTES:
                left_out[name] = f"{path.stat().st_size / 1e6:,.0f} MB"
                path.unlink()
                continue
            begin = time.perf_counter()
            report = Diagnosis(engine, Request(ModelFile.at(path))).run()
            seconds[name] = round(time.perf_counter() - begin, 1)
            found = [f"{one.check_id}: {one.message}" for one in report.at_or_above(Severity.HIGH)]
            alarms |= {name: found} if found else {}
            noted = [one.check_id for one in report.findings if one.severity is Severity.MEDIUM]
            remarks |= {name: noted} if noted else {}
            left_out |= {f"{name}, {one.id}": one.reason for one in report.stages if one.status == "failed"}
            print(f"  {name}: {len(found)} alarms, {seconds[name]} s", file=sys.stderr, flush=True)
            path.unlink()
    finally:
        engine.stop()
    return {
        "models": len(seconds),
        "alarms": alarms,
        "medium": remarks,
        "left_out": left_out,
        "seconds": seconds,
        "holds": bool(seconds) and not alarms,
    }


BENCHMARK = Benchmark("fresh_applications", "no finding at HIGH or above on fresh keras.applications models", run)

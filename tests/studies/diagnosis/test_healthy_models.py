"""No grave finding on what is well: the healthy samples, and fresh networks of keras.applications; the faulty samples say theirs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sample_models import BUILT
from stethoscope.checks.findings import Severity
from stethoscope.evidence.fit import FitSettings
from stethoscope.studies.diagnosis.report import Report, Request
from stethoscope.studies.diagnosis.run import Diagnosis
from stethoscope.types import ModelFile, Status

SAMPLES = {
    entry["id"]: entry for entry in json.loads((BUILT / "manifest.json").read_text()) if entry.get("kind") != "data"
}
FAULTY = [name for name, entry in SAMPLES.items() if entry.get("findings")]
UNSTEADY = [name for name, entry in SAMPLES.items() if not entry["expectations"].get("consistent", True)]
HEALTHY = [name for name in SAMPLES if name not in (*FAULTY, *UNSTEADY)]
FRESH = """
import sys
from pathlib import Path
import keras
from sample_models.canonical import save_keras
keras.utils.set_random_seed(0)
for name in sys.argv[2:]:
    model = getattr(keras.applications, name)(weights=None, classes=10, input_shape=(96, 96, 3))
    save_keras(model, Path(sys.argv[1], f"{name}.keras"))
"""
APPLICATIONS = ("MobileNetV2",)
"""Small ones; `python -m benchmarks.fresh_applications` diagnoses all."""


def diagnose(engine, entry: dict, train_s: float = 12.0) -> Report:
    data = BUILT / entry["data"] if entry.get("data") else None
    fit = entry.get("fit")
    request = Request(
        ModelFile.at(BUILT / entry["file"]),
        ModelFile.at(data) if data else None,
        fit=FitSettings.from_mapping(fit or {}) if data else None,
        train_s=train_s,
    )
    return Diagnosis(engine, request).run()


def grave(report: Report) -> list[str]:
    return [f"{one.check_id}: {one.message}" for one in report.at_or_above(Severity.HIGH)]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_sample_has_no_grave_finding(engine, name):
    report = diagnose(engine, SAMPLES[name])
    assert report.status is Status.OK, report.reason
    assert not grave(report)
    assert not [outcome for outcome in report.outcomes if outcome.status is Status.FAILED]


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_sample_names_its_fault_first(engine, name):
    report = diagnose(engine, SAMPLES[name], train_s=30.0)
    assert report.findings[0].check_id in SAMPLES[name]["findings"], [one.message for one in report.findings]
    assert report.findings[0].severity >= Severity.MEDIUM
    named = {one.check_id for one in report.findings}
    assert set(SAMPLES[name]["findings"]) <= named


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("fresh")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    subprocess.run(
        [sys.executable, "-c", FRESH, str(folder), *APPLICATIONS], env=environment, check=True, cwd=BUILT.parents[1]
    )
    return folder


@pytest.mark.sweep
@pytest.mark.parametrize("name", APPLICATIONS)
def test_a_fresh_network_of_keras_applications_has_no_grave_finding(engine, fresh, name):
    report = Diagnosis(engine, Request(ModelFile.at(fresh / f"{name}.keras"))).run()
    assert report.status is Status.OK, report.reason
    assert not grave(report)

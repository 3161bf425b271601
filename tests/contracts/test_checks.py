"""Every check: a page, thresholds with a source, a specimen that raises it first, and a twin on which it stays silent."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sample_models import specimens
from sample_models.specimen import Specimen
from stethoscope.checks import all_checks
from stethoscope.diagnosis.report import Report, finding_from_json
from stethoscope.diagnosis.request import Request
from stethoscope.diagnosis.run import Diagnosis
from stethoscope.discover import discover
from stethoscope.evidence.fit import FitSettings
from stethoscope.findings import Outcome, Severity
from stethoscope.types import Budget, Job, ModelFile, Status

ROOT = Path(__file__).resolve().parents[2]
CHECKS = all_checks()
BUILD = """
import gc, json, sys
from pathlib import Path
import numpy as np
import keras
from sample_models import specimens
from sample_models.canonical import save_keras
from stethoscope.discover import discover

gc.freeze()  # every clear_session collects garbage: not among all of TensorFlow each time
folder = Path(sys.argv[1])
for check_id, specimen in discover(specimens, "SPECIMEN", "check_id").items():
    for name in ("faulty", "healthy"):
        keras.utils.clear_session()
        keras.utils.set_random_seed(0)
        program = getattr(specimen, name)()
        place = folder / check_id / name
        place.mkdir(parents=True)
        if program.model is not None:
            save_keras(program.model, place / "model.keras")
        if program.arrays is not None:
            np.savez(place / "data.npz", **program.arrays)
        if program.logs is not None:
            (place / "logs").mkdir()
            program.logs(place / "logs")
        (place / "fit.json").write_text(json.dumps(dict(program.fit)))
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every specimen and its twin, built in one process that has TensorFlow."""
    folder = tmp_path_factory.mktemp("specimens")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def specimen_of(check_id: str) -> Specimen:
    found: dict[str, Specimen] = discover(specimens, "SPECIMEN", "check_id")
    return found[check_id]


def known(path: Path) -> ModelFile:
    """With its content's hash: the engine answers jobs on equal content once, and many twins are the same program."""
    return ModelFile(path, path.name, hashlib.sha256(path.read_bytes()).hexdigest())


def diagnose(engine, place: Path, *, trains: bool) -> Report:
    data, logs = place / "data.npz", place / "logs"
    if not (place / "model.keras").exists():
        return judged(engine, logs)
    fit = FitSettings.from_mapping(json.loads((place / "fit.json").read_text()))
    request = Request(
        model=known(place / "model.keras"),
        data=known(data) if data.exists() else None,
        logs=ModelFile.at(logs) if logs.exists() else None,
        fit=fit if trains else None,
        memory_bytes=3 << 30,
        train_s=60.0,
    )
    return Diagnosis(engine, request).run()


def judged(engine, logs: Path) -> Report:
    """Logs by themselves, as `stethoscope curves` judges them."""
    result = engine.wait(engine.submit(Job("examine_runs", {"logs": ModelFile.at(logs)}, {}, Budget(1 << 30, 60))))
    findings = tuple(finding_from_json(finding) for finding in result.value["findings"])
    outcomes = tuple(Outcome(one["check_id"], Status(one["status"])) for one in result.value["outcomes"])
    return Report({}, findings, outcomes, status=result.status, reason=result.reason)


def told(report: Report) -> str:
    return "\n".join(
        f"{finding.severity.label} {finding.check_id} at {finding.where}: {finding.message}"
        for finding in report.findings
    ) + "".join(f"\n{stage.id}: {stage.status} {stage.reason}" for stage in report.stages if stage.reason)


@pytest.mark.parametrize("check_id", CHECKS)
def test_a_check_explains_itself(check_id):
    check = CHECKS[check_id]
    module = importlib.import_module(f"stethoscope.checks.{check_id.replace('-', '_')}")
    assert module.CHECK is check
    title = check.page.splitlines()[0].rstrip(".")
    assert title and len(title) < 90
    for part in ("Why:", "Example:", "Fix:", "Source:"):
        assert f"\n{part}" in check.page, f"{check_id} has no {part}"
    assert check.explains <= set(CHECKS), check.explains - set(CHECKS)
    assert check.needs or check.needs_any


def test_every_specimen_belongs_to_a_check():
    assert set(discover(specimens, "SPECIMEN", "check_id")) == set(CHECKS)


@pytest.mark.parametrize("check_id", CHECKS)
def test_its_specimen_raises_it_first(engine, programs, check_id):
    report = diagnose(engine, programs / check_id / "faulty", trains=specimen_of(check_id).trains)
    assert report.status is Status.OK, report.reason
    assert report.findings, told(report)
    assert report.findings[0].check_id == check_id, told(report)
    assert not [outcome for outcome in report.outcomes if outcome.status is Status.FAILED]


@pytest.mark.parametrize("check_id", CHECKS)
def test_it_stays_silent_on_the_healthy_twin(engine, programs, check_id):
    report = diagnose(engine, programs / check_id / "healthy", trains=specimen_of(check_id).trains)
    assert report.status is Status.OK, report.reason
    assert check_id not in [finding.check_id for finding in report.findings], told(report)
    assert not report.at_or_above(Severity.HIGH), told(report)


def test_arrays_of_specimens_are_plain(programs):
    for path in programs.rglob("data.npz"):
        with np.load(path, allow_pickle=False) as arrays:
            assert arrays.files


def test_the_catalogue_of_checks_is_up_to_date():
    from tools import check_pages

    assert check_pages.PAGE.read_text("utf-8") == check_pages.text(), "run: python -m tools.check_pages"

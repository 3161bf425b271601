"""What lowers the peak is found by trying it, ranked by measurement, and its price is told."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from stethoscope.memory.lowering_report import Lowered
from stethoscope.memory.run_settings import RunSettings
from stethoscope.studies.lowering import Lowering, LoweringRequest
from stethoscope.types import ModelFile, Status
from tests import deterministic
from tests.small_models import hungry_onnx
from tests.waiting import until


@pytest.fixture(scope="module")
def wide(tmp_path_factory) -> ModelFile:
    """Wide layers in a row, over sequences of any length: eager calls hold more of them than a function does."""
    import keras

    layers = keras.layers
    path = tmp_path_factory.mktemp("wide") / "wide.keras"
    deterministic.begin()
    model = keras.Sequential(
        [
            keras.Input((None, 64)),
            *(layers.Dense(512, activation="relu") for _ in range(3)),
            layers.GlobalAveragePooling1D(),
            layers.Dense(3),
        ]
    )
    return ModelFile.at(deterministic.save(model, path))


@pytest.fixture(scope="module")
def lowered(engine, wide) -> tuple[Lowered, list[Lowered]]:
    seen: list[Lowered] = []
    request = LoweringRequest(
        wide, RunSettings(batch_size=256, call="call"), kinds=("call", "batch", "precision", "length"), open_size=128
    )
    return Lowering(engine, request, seen.append).run(), seen


def test_every_alternative_was_tried_and_they_are_ranked(lowered):
    report, _ = lowered
    assert report.status is Status.OK
    assert report.present.peak_bytes is not None
    kinds = {trial.alternative.kind for trial in report.trials}
    assert {"call", "batch", "precision", "length"} <= kinds
    peaks = [trial.peak_bytes for trial in report.ranked if trial.ran]
    assert peaks == sorted(peaks)
    assert len(peaks) >= 9


def test_a_quarter_of_the_batch_and_of_the_length_lower_it_most(lowered):
    report, _ = lowered
    by_id = {trial.alternative.id: trial for trial in report.trials}
    for name in ("batch-64", "length-32"):
        assert by_id[name].peak_bytes < 0.5 * report.present.peak_bytes
    assert report.best is not None
    assert report.best.alternative.kind in ("batch", "length", "together")
    assert "less" in report.message


def test_rounding_is_told_from_a_changed_output(lowered):
    report, _ = lowered
    by_id = {trial.alternative.id: trial for trial in report.trials}
    assert by_id["call-function"].keeps_outputs
    assert not by_id["precision-bfloat16"].keeps_outputs
    assert by_id["precision-bfloat16"].max_abs_diff > 0
    assert by_id["length-32"].max_abs_diff is None


def test_the_report_is_told_as_it_grows(lowered):
    report, seen = lowered
    assert [one.fraction for one in seen] == sorted(one.fraction for one in seen)
    assert any(one.progress for one in seen)
    value = report.to_json()
    assert [trial["id"] for trial in value["trials"]] == [trial.alternative.id for trial in report.ranked]
    assert value["best"] == report.best.alternative.id
    assert value["present"]["saved_bytes"] == 0
    kept = Lowered.from_json(json.loads(json.dumps(value)))
    assert kept == dataclasses.replace(report, trials=report.ranked)


def test_cancelling_ends_it_soon(engine, wide):
    seen: list[Lowered] = []
    request = LoweringRequest(wide, RunSettings(batch_size=32), seed=5)
    report = Lowering(engine, request, seen.append, lambda: any(one.present.ran for one in seen)).run()
    assert report.status is Status.CANCELLED
    assert not any(trial.ran for trial in report.trials)
    until(lambda: not engine.jobs(active=True))


def test_present_settings_that_run_out_are_compared_by_what_runs(engine, tmp_path):
    model = ModelFile.at(hungry_onnx(tmp_path / "hungry.onnx"))
    report = Lowering(engine, LoweringRequest(model, RunSettings(batch_size=8), memory_bytes=800 << 20)).run()
    assert report.status is Status.OK
    assert report.present.status is Status.OUT_OF_MEMORY
    assert report.best is not None
    assert report.best.alternative.id == "batch-2"
    assert "out of memory" in report.message
    assert {item.kind for item in report.untried} == {"call", "xla", "precision", "length"}


def test_a_model_that_cannot_be_read_ends_it(engine, tmp_path):
    path = tmp_path / "not.keras"
    path.write_bytes(b"PK\x03\x04 nothing")
    report = Lowering(engine, LoweringRequest(ModelFile.at(path))).run()
    assert report.status is Status.FAILED
    assert report.message
    assert dataclasses.asdict(report)["trials"] == ()


def test_nothing_of_the_report_needs_a_framework():
    import subprocess
    import sys

    code = (
        "import sys; import stethoscope.studies.lowering; "
        "print(sorted({'tensorflow', 'keras', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert done.stdout.strip() == "[]"

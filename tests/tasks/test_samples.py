"""Each sample model shows the behaviour it was made for, through real contained jobs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sample_models import BUILT
from stethoscope.codec import answer_of, partial_of
from stethoscope.compare.consistency.report import ConsistencyReport
from stethoscope.framework_errors import shortage_of
from stethoscope.memory.prediction import Prediction
from stethoscope.models.formats import all_formats
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status

SAMPLES = {
    entry["id"]: entry for entry in json.loads((BUILT / "manifest.json").read_text()) if entry.get("kind") != "data"
}
NEEDS_TRUST = [name for name, entry in SAMPLES.items() if entry["expectations"].get("needs_trust")]
RUNNABLE = [name for name, entry in SAMPLES.items() if not {"needs_trust", "missing_class"} & {*entry["expectations"]}]


def submit(engine, kind: str, name: str, memory_bytes: int = 2 << 30, **params) -> JobResult:
    entry = SAMPLES[name]
    files = {"model": ModelFile.at(BUILT / entry["file"])}
    if params.pop("with_data", False):
        files["data"] = ModelFile.at(BUILT / entry["data"])
    worker = all_formats()[entry["format_id"]].worker
    return engine.wait(engine.submit(Job(kind, files, params, Budget(memory_bytes, 120), worker)), 200)


@pytest.mark.parametrize("name", RUNNABLE)
def test_predicts_and_is_as_consistent_as_expected(engine, name):
    expected = SAMPLES[name]["expectations"]
    predicted = submit(engine, "predict", name, batch_size=4, samples=6)
    assert predicted.status is Status.OK, predicted.reason
    assert answer_of(predicted, Prediction).outputs
    assert predicted.peak_rss_bytes > 0
    result = submit(engine, "consistency", name, batch_size=4, runs=4)
    assert result.status is Status.OK, result.reason
    report = answer_of(result, ConsistencyReport)
    assert report.consistent is expected["consistent"], report.tests
    first = report.first_difference
    if expected["consistent"]:
        assert first is None
        return
    assert first.layer.endswith(expected["first_difference"])
    assert first.values[0] != first.values[1]
    assert "random" in first.reason


@pytest.mark.parametrize("name", NEEDS_TRUST)
def test_code_is_run_only_after_an_explicit_yes(engine, name):
    refused = submit(engine, "predict", name, batch_size=2)
    assert refused.status is Status.REFUSED
    assert refused.error == "NeedsTrust"
    assert "allows it" in refused.reason


@pytest.mark.parametrize("trusted", [False, True])
def test_a_class_that_is_installed_nowhere_is_named(engine, trusted):
    result = submit(engine, "predict", "unknown_layer", batch_size=2, trusted=trusted)
    assert result.status is Status.FAILED
    assert result.error == "CannotRun"
    assert SAMPLES["unknown_layer"]["expectations"]["missing_class"] in result.reason


@pytest.mark.parametrize("name", ["digits_cnn", "digits_cnn_tflite", "digits_cnn_onnx", "digits_cnn_frozen"])
def test_real_data_gives_the_right_digits(engine, name):
    result = submit(engine, "predict", name, batch_size=50, with_data=True)
    assert result.status is Status.OK, result.reason
    (output,) = answer_of(result, Prediction).outputs.values()
    with np.load(BUILT / SAMPLES[name]["data"]) as data:
        truth = data["y"]
    predicted = np.load(result.files[output.path]).argmax(axis=-1)
    assert (predicted == truth).mean() > 0.95


def test_too_large_a_batch_is_reported_and_the_advice_holds(engine):
    at = SAMPLES["memory_hungry"]["expectations"]["out_of_memory_at"]
    limit, batch = at["memory_limit_bytes"], at["batch_size"]
    result = submit(engine, "predict", "memory_hungry", limit, batch_size=batch)
    assert result.status is Status.OUT_OF_MEMORY
    assert result.phase == "predict"
    report = shortage_of(result)
    assert report.tensor_shape[0] == batch
    assert partial_of(result, Prediction).predicted_peak_bytes > limit
    fits = report.largest_batch_estimate.low
    assert 1 <= fits < batch
    assert submit(engine, "predict", "memory_hungry", limit, batch_size=fits).status is Status.OK


def test_predicted_peak_is_near_the_measured_one(engine):
    made = answer_of(submit(engine, "predict", "memory_hungry", 4 << 30, batch_size=16), Prediction)
    assert made.predicted_peak_bytes == pytest.approx(made.measured_peak_bytes, rel=0.25)

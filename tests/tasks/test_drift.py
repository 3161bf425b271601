"""The task in real workers: light ones for data, and a model's own for its view of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.codec import answer_of
from stethoscope.drift.report import DriftReport
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.small_models import tiny_onnx

LIMITS = Budget(memory_bytes=2 << 30, timeout_s=300)


@pytest.fixture
def files(tmp_path):
    generator = np.random.default_rng(0)
    for name, shift in (("then", 0.0), ("same", 0.0), ("now", 0.8)):
        np.savez(tmp_path / f"{name}.npz", x=generator.normal(shift, 1 + shift, (200, 4)).astype(np.float32))
    return {name: ModelFile.at(tmp_path / f"{name}.npz") for name in ("then", "same", "now")}


def test_with_a_model(engine, files, tmp_path):
    model = ModelFile.at(tiny_onnx(tmp_path / "tiny.onnx"))
    given = {"model": model, "reference": files["then"], "current": files["now"]}
    result = engine.wait(engine.submit(Job("drift", given, {}, LIMITS, "light")))
    assert result.status is Status.OK, result.reason
    report = answer_of(result, DriftReport)
    assert report.drifted and report.layer
    assert {test.of for test in report.whole} == {"data", f"layer {report.layer}"}
    rows = {row.name: row for row in report.features}
    assert {"prediction: class", "prediction: confidence", "prediction: entropy"} <= rows.keys()
    assert rows["prediction: entropy"].drifted and "prediction: class" in report.predictions


@pytest.mark.parametrize(("other", "verdict"), [("same", "no_drift"), ("now", "drift")])
def test_without_one(engine, files, other, verdict):
    given = {"reference": files["then"], "current": files[other]}
    result = engine.wait(engine.submit(Job("drift", given, {"seed": 1}, LIMITS, "light")))
    assert result.status is Status.OK, result.reason
    report = answer_of(result, DriftReport)
    assert report.verdict == verdict and len(report.features) == 4
    assert report.rows.current.read == 200


def test_a_layer_that_is_not_there(engine, files, tmp_path):
    model = ModelFile.at(tiny_onnx(tmp_path / "tiny.onnx"))
    given = {"model": model, "reference": files["then"], "current": files["now"]}
    result = engine.wait(engine.submit(Job("drift", given, {"layer": "nope"}, LIMITS, "light")))
    assert result.status is Status.FAILED and "no such layer" in result.reason


def test_the_accuracy_of_a_model_decides(engine, files, tmp_path):
    model = tiny_onnx(tmp_path / "tiny.onnx")
    import onnxruntime

    session = onnxruntime.InferenceSession(str(model))
    name = session.get_inputs()[0].name
    given = {"model": ModelFile.at(model)}
    for side, seed, turned in (("reference", 0, 0), ("current", 1, 1)):
        x = np.random.default_rng(seed).normal(size=(200, 4)).astype(np.float32)
        said = np.asarray(session.run(None, {name: x})[0])
        np.savez(tmp_path / f"{side}.npz", x=x, y=(said.argmax(axis=1) + turned) % said.shape[1])
        given[side] = ModelFile.at(tmp_path / f"{side}.npz")
    result = engine.wait(engine.submit(Job("drift", given, {}, LIMITS, "light")))
    assert result.status is Status.OK, result.reason
    report = answer_of(result, DriftReport)
    assert report.drifted and report.score.by == "model" and report.score.concept
    assert (report.score.reference.value, report.score.current.value) == (1.0, 0.0)
    assert report.score.reference.rows == 200

"""Looking into a model: weights first, then every layer's output; the first half survives the second."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sample_models import BUILT
from stethoscope.codec import answer_of, decode
from stethoscope.tasks.examine import Examination
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.small_models import tiny_onnx

SAMPLES = {
    entry["id"]: entry for entry in json.loads((BUILT / "manifest.json").read_text()) if entry.get("kind") != "data"
}
DIGITS = next(entry for entry in SAMPLES.values() if entry["file"].endswith(".keras") and entry.get("data"))


def examined(engine, model: Path, data: Path | None = None, worker="tensorflow", **params):
    files = {"model": ModelFile.at(model)} | ({"data": ModelFile.at(data)} if data else {})
    job = Job("examine", files, params, Budget(3 << 30, 120), worker)
    return engine.wait(engine.submit(job), 200)


def test_a_keras_model_on_its_data(engine):
    result = examined(engine, BUILT / DIGITS["file"], BUILT / DIGITS["data"])
    assert result.status is Status.OK, result.reason
    examined_model = answer_of(result, Examination)
    assert examined_model.problems == {}
    weights, seen = examined_model.weights, examined_model.activations
    assert weights.tensors and not any(tensor.nonfinite for tensor in weights.tensors)
    assert weights.trained is True, weights.trained_because
    assert seen.source == "data"
    assert 0 < seen.rows <= 256
    assert {layer.path for layer in seen.layers} >= {tensor.layer for tensor in weights.tensors}
    assert seen.outputs[0].nonfinite == 0


def test_data_that_does_not_fit_is_replaced_by_random_input(engine, tmp_path):
    wrong = tmp_path / "wrong.npz"
    np.savez(wrong, x=np.zeros((8, 3, 2, 2, 2), np.float32))
    result = examined(engine, BUILT / DIGITS["file"], wrong)
    assert answer_of(result, Examination).activations.source == "random input"


def test_an_onnx_model_in_a_light_worker(engine, tmp_path):
    result = examined(engine, tiny_onnx(tmp_path / "tiny.onnx"), worker="light")
    assert result.status is Status.OK, result.reason
    seen = answer_of(result, Examination).activations
    assert [layer.path for layer in seen.layers] == ["project"]
    assert answer_of(result, Examination).weights.trained is None


def test_a_format_whose_weights_cannot_be_read_says_so_and_shows_its_outputs(engine):
    entry = next(entry for entry in SAMPLES.values() if entry["file"].endswith(".tflite"))
    result = examined(engine, BUILT / entry["file"], worker="light")
    answer = answer_of(result, Examination)
    assert answer.weights is None
    assert "ONNX files" in answer.problems["weights"]
    assert answer.activations.layers


def test_the_first_half_is_kept_when_the_second_breaks(engine, tmp_path, monkeypatch):
    from stethoscope.models.formats import detect
    from stethoscope.task import TaskContext
    from stethoscope.tasks import examine

    file = ModelFile.at(tiny_onnx(tmp_path / "tiny.onnx"))
    kind = detect(file)

    def broken(*_args, **_more):
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(examine, "gather_activations", broken)
    context = TaskContext(
        files={"model": file},
        params={},
        folder=tmp_path,
        budget=Budget(1 << 30, 60),
        report=lambda *_a, **_k: None,
        memory=None,
        open_model=lambda: (kind.describe(file), kind.open(file, tmp_path)),
    )
    answer = examine.TASK.run(context)
    assert answer.weights.tensors
    assert answer.activations is None
    assert "no such kernel" in answer.problems["activations"]
    kept = decode(Examination, json.loads((tmp_path / "partial.json").read_text()))
    assert kept.weights == answer.weights and "ended" in kept.problems["activations"]


@pytest.mark.parametrize(
    "name",
    [name for name, entry in SAMPLES.items() if not {"needs_trust", "missing_class"} & {*entry["expectations"]}][:6],
)
def test_samples_can_be_examined(engine, name):
    from stethoscope.models.formats import all_formats

    entry = SAMPLES[name]
    result = examined(engine, BUILT / entry["file"], worker=all_formats()[entry["format_id"]].worker)
    assert result.status is Status.OK, result.reason
    answer = answer_of(result, Examination)
    assert answer.activations is not None, answer.problems

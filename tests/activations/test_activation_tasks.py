"""The tasks as the dashboard submits them, against the same models run without us."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sample_models import BUILT
from stethoscope.activations.looking import LayerLooks
from stethoscope.activations.study import LayerActivations
from stethoscope.codec import answer_of
from stethoscope.models.formats import detect
from stethoscope.tasks import all_tasks
from stethoscope.tasks.projection import Projection
from stethoscope.tasks.similarity import Similarity
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.small_models import branching_onnx, signal_onnx, tiny_onnx

DIGITS = BUILT / "digits_sample.npz"


def done(engine, kind, model: Path, data: Path | None = None, **params):
    files = {"model": ModelFile.at(model)} | ({"data": ModelFile.at(data)} if data else {})
    job = Job(kind, files, params, Budget(3 << 30, 200), detect(files["model"]).worker)
    return engine.wait(engine.submit(job), 300)


def answered(engine, kind, *args, **params):
    result = done(engine, kind, *args, **params)
    assert result.status is Status.OK, result.reason
    return answer_of(result, all_tasks()[kind].answer)


def by_path(answer):
    return {layer.path: layer for layer in answer.layers}


@pytest.mark.parametrize(
    ("model", "layer"),
    [
        ("digits_cnn.keras", "strokes"),
        ("digits_cnn.onnx", "digits_cnn_1/strokes_1/Relu"),
        ("digits_cnn.tflite", None),
        ("digits_cnn_frozen.pb", "digits_cnn_1/strokes_1/Relu"),
    ],
)
def test_every_format_gives_the_same_statistics(engine, model, layer):
    result = done(engine, "activations", BUILT / model, DIGITS, keep_rows=5, batch_size=24)
    assert result.status is Status.OK, result.reason
    value = answer_of(result, LayerActivations)
    assert (value.rows, value.batches, value.source) == (64, 3, "digits_sample.npz")
    layers = by_path(value)
    layer = layer or next(path for path in layers if "strokes" in path)
    one = layers[layer]
    x = np.load(DIGITS)["x"]
    assert one.rows == len(x) and one.units == 32 and one.activation == "relu"
    # The same numbers whatever the format: measured once with Keras alone.
    assert one.mean == pytest.approx(0.17634, rel=1e-3)
    assert one.zero_fraction == pytest.approx(0.633, abs=2e-3)
    assert one.dead_units == 0 and one.nonfinite == 0
    units = np.load(result.files[one.units_file])
    top = np.load(result.files[one.top_file])
    assert units["mean"].mean() == pytest.approx(one.mean, rel=1e-5)
    assert units["max"].max() == pytest.approx(one.max) == pytest.approx(top["value"].max())
    kept = np.load(result.files[one.outputs_file])
    assert len(kept) == 5 and kept.max() <= one.max + 1e-6


def test_what_cannot_be_seen_is_said(engine):
    answer = answered(engine, "activations", BUILT / "digit_autoencoder.keras")
    assert {one.path: "nested model" in one.reason for one in answer.unreachable} == {
        "encoder/encoder_input": True,
        "decoder/decoder_input": True,
    }
    assert answer.source == "dummy"


def test_some_layers_and_rows_only(engine):
    answer = answered(engine, "activations", BUILT / "digits_cnn.keras", DIGITS, layers=["pool"], rows=20, batch_size=8)
    assert list(by_path(answer)) == ["pool"]
    assert (answer.rows, answer.rows_in_data) == (20, 64)
    refused = done(engine, "activations", BUILT / "digits_cnn.keras", DIGITS, layers=["pol"])
    assert refused.status is Status.FAILED and "no such layer" in refused.reason


def test_where_a_row_has_large_outputs_a_call_takes_few_of_them(engine):
    answer = answered(engine, "activations", BUILT / "memory_hungry.keras", rows=2, batch_size=8)
    assert (answer.rows, answer.batches, answer.settings.batch_size) == (2, 2, 1)


def test_an_onnx_model_without_tensorflow(engine, tmp_path):
    data = tmp_path / "rows.npz"
    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    np.savez(data, x=x)
    model = tiny_onnx(tmp_path / "tiny.onnx")
    (layer,) = answered(engine, "activations", model, data).layers
    assert layer.mean == pytest.approx(2 * x.mean()) and layer.max == 46
    (look,) = answered(engine, "look", model, data, layers=["project"], places=[2]).looks
    assert (look.kind, look.place, look.max) == ("vector", 2, 22.0)
    beyond = done(engine, "look", model, data, layers=["project"], places=[6])
    assert "expected 0 to 5" in beyond.reason
    points = answered(engine, "projection", model, data, layer="project", dimensions=2)
    assert points.explained[0] == pytest.approx(1.0) and points.places == (0, 1, 2, 3, 4, 5)
    alike = done(engine, "similarity", model, data, layer="project")
    np.testing.assert_allclose(np.load(alike.files[answer_of(alike, Similarity).matrix]), np.ones((4, 4)), atol=1e-5)


@pytest.mark.parametrize("fixed", [1, 2])
def test_every_chosen_sample_of_a_model_with_a_fixed_batch(engine, tmp_path, fixed):
    data = tmp_path / "rows.npz"
    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    np.savez(data, x=x)
    model = tiny_onnx(tmp_path / "fixed.onnx", rows=fixed)
    looked = done(engine, "look", model, data, layers=["project"], places=[5, 0, 3])
    looks = answer_of(looked, LayerLooks).looks
    assert [look.place for look in looks] == [5, 0, 3] and not any(look.note for look in looks)
    for look in looks:
        np.testing.assert_array_equal(np.load(looked.files[look.file]), 2 * x[look.place])
    kept = done(engine, "activations", model, data, keep_rows=5)
    (layer,) = answer_of(kept, LayerActivations).layers
    np.testing.assert_array_equal(np.load(kept.files[layer.outputs_file]), 2 * x[:5])


def test_all_of_a_signal_is_looked_at(engine, tmp_path):
    wave = np.linspace(1, 2, 8, dtype=np.float32)
    np.savez(tmp_path / "wave.npz", x=wave)
    model = signal_onnx(tmp_path / "signal.onnx")
    looked = done(engine, "look", model, tmp_path / "wave.npz", layers=["frame", "project"], places=[0])
    frame, project = (np.load(looked.files[look.file]) for look in answer_of(looked, LayerLooks).looks)
    np.testing.assert_array_equal(frame, wave)
    np.testing.assert_allclose(project, [np.arange(8) @ wave, wave.sum()], rtol=1e-6)


def test_what_is_inside_a_branch_is_named_and_the_rest_shown(engine, tmp_path):
    value = answered(engine, "activations", branching_onnx(tmp_path / "branching.onnx"))
    assert [layer.path for layer in value.layers] == ["sum", "test", "choice"]
    hidden = {one.path: one.reason for one in value.unreachable}
    assert sorted(hidden) == ["choice/else_branch/times", "choice/then_branch/times"]
    assert all("inside a loop" in reason for reason in hidden.values())


def test_looks_at_a_convolution_and_at_attention(engine):
    asked = {"layers": ["image", "edges", "digit"], "also": ["edges", "pool", "not there"]}
    result = done(engine, "look", BUILT / "digits_cnn.keras", DIGITS, **asked, places=[3, 5])
    answer = answer_of(result, LayerLooks)
    assert {look.layer for look in answer.looks} == {"image", "edges", "digit", "pool"}
    assert answer.unreachable == ()
    looks = {(look.layer, look.place): look for look in answer.looks}
    image = np.load(result.files[looks["image", 5].file])
    np.testing.assert_allclose(image[0], np.load(DIGITS)["x"][5, :, :, 0])
    assert looks["edges", 3].shape == (8, 8, 16)
    assert np.load(result.files[looks["digit", 3].file]).sum() == pytest.approx(1, abs=1e-5)
    assert [one.label for one in answer.samples] == [str(np.load(DIGITS)["y"][at]) for at in (3, 5)]
    result = done(engine, "look", BUILT / "bert_small.keras", layers=["block_1_attention"], places=[0])
    scores = next(look for look in answer_of(result, LayerLooks).looks if look.kind == "attention")
    values = np.load(result.files[scores.file])
    assert values.shape[0] == 4 and values.shape[1] == values.shape[2]
    np.testing.assert_allclose(values.sum(-1), 1, atol=1e-5)


def test_a_projection_has_labels_and_neighbours(engine):
    result = done(engine, "projection", BUILT / "digits_cnn.keras", DIGITS, layer="hidden", rows=64)
    value = answer_of(result, Projection)
    y = np.load(DIGITS)["y"]
    assert value.labels == tuple(str(y[place]) for place in value.places)
    neighbours = np.load(result.files[value.neighbours])
    # Rows of one digit lie beside each other in the layer before the answer.
    assert np.mean(y[list(value.places)][neighbours[:, 0]] == y[list(value.places)]) > 0.8
    assert np.load(result.files[value.points]).shape == (64, 3)

"""Occlusion: equal to covering every part by hand, on formats without gradients too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from stethoscope.activations.attributions.baselines import BASELINES, baseline
from stethoscope.activations.attributions.method import Point, Slope
from stethoscope.activations.attributions.occlusion import _starts
from stethoscope.activations.attributions.subjects import WholeSubject, without_rows
from stethoscope.activations.attributions.target import Target, choose
from stethoscope.errors import CannotRun
from stethoscope.types import TensorSpec
from tests.activations.attributions.explaining import explained, saved
from tests.exploring import examples
from tests.small_models import signal_onnx, tiny_onnx


@examples(100)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 20))
def test_parts_cover_everything_and_stay_inside(size, part, step):
    part, step = min(part, size), min(step, part)
    covered = {at for start in _starts(size, part, step) for at in range(start, start + part)}
    assert covered == set(range(size))


def test_features_of_an_onnx_model(tmp_path):
    row = np.array([[1.0, 2.0, 3.0, 4.0]], np.float32)
    data = saved(tmp_path / "x.npz", x=row)
    value, found = explained(tmp_path, tiny_onnx(tmp_path / "m.onnx"), data, method="occlusion", target=2)
    np.testing.assert_allclose(found, [0, 0, 6.0, 0], atol=1e-6)
    assert value.score == pytest.approx(6.0)
    assert value.score_of == "output"


def test_a_signal_without_a_dimension_for_rows(tmp_path):
    wave = np.linspace(1, 2, 8, dtype=np.float32)
    data = saved(tmp_path / "x.npz", x=wave)
    value, found = explained(tmp_path, signal_onnx(tmp_path / "m.onnx"), data, method="occlusion", target=0)
    np.testing.assert_allclose(found, np.arange(8) * wave, rtol=1e-6)
    assert value.score == pytest.approx(float(np.arange(8) @ wave), rel=1e-6) and value.shape == (8,)


def test_a_single_number(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["y"])],
        "number",
        [helper.make_tensor_value_info("x", TensorProto.INT32, [])],
        [helper.make_tensor_value_info("y", TensorProto.INT32, [])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    data = saved(tmp_path / "x.npz", x=np.array(5, np.int32))
    value, found = explained(tmp_path, tmp_path / "m.onnx", data, method="occlusion", baseline="zero")
    assert (value.score, value.baseline_score, found.item()) == (10.0, 0.0, 10.0)


def test_a_model_without_inputs_has_nothing_to_explain(tmp_path):
    constant = helper.make_node("Constant", [], ["y"], value=numpy_helper.from_array(np.ones(3, np.float32), "y"))
    graph = helper.make_graph([constant], "still", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(CannotRun, match="with inputs"):
        explained(tmp_path, tmp_path / "m.onnx", method="occlusion")


@pytest.mark.parametrize("method", ["grad_cam", "integrated_gradients", "saliency", "input_times_gradient"])
def test_formats_without_gradients_say_so(tmp_path, method):
    with pytest.raises(CannotRun, match="Occlusion"):
        explained(tmp_path, tiny_onnx(tmp_path / "m.onnx"), method=method)


@pytest.mark.parametrize(("patch", "stride"), [(3, 3), (4, 2), (12, 1)])
def test_an_image_is_covered_patch_by_patch(tmp_path, patch, stride):
    import keras

    keras.utils.set_random_seed(3)
    layers = keras.layers
    model = keras.Sequential([keras.Input((9, 12, 3)), layers.Conv2D(4, 3), layers.Flatten(), layers.Dense(2)])
    model.save(tmp_path / "m.keras")
    row = np.random.default_rng(4).uniform(0, 1, (1, 9, 12, 3)).astype(np.float32)
    data = saved(tmp_path / "x.npz", x=row)
    _, found = explained(
        tmp_path, tmp_path / "m.keras", data, method="occlusion", target=0, patch=patch, stride=stride, baseline="zero"
    )
    whole = float(model(row)[0, 0])
    total, count = np.zeros((9, 12)), np.zeros((9, 12))
    down, across = min(patch, 9), min(patch, 12)
    for top in sorted({*range(0, 9 - down, stride), 9 - down}):
        for left in sorted({*range(0, 12 - across, stride), 12 - across}):
            covered = row.copy()
            covered[:, top : top + down, left : left + across] = 0
            lost = whole - float(model(covered)[0, 0])
            total[top : top + down, left : left + across] += lost
            count[top : top + down, left : left + across] += 1
    np.testing.assert_allclose(found, total / count, atol=1e-4)


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.float16])
def test_baselines_have_the_rows_shape_and_type(name, dtype):
    row = np.random.default_rng(0).uniform(0, 200, (1, 6, 7, 3)).astype(dtype)
    made, chosen, _ = baseline(name, row, "image", 2, None, 0)
    assert (made.shape, made.dtype, chosen) == (row.shape, row.dtype, name)
    assert np.isfinite(made).all()


def test_scores_of_outputs_with_positions_are_means_over_them():
    outputs = {"mask": np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)}
    target, shape, top = choose(outputs, {"target": "top"}, "m")
    assert (target.unit, shape, top) == (3, (2, 3, 4), True)
    assert target.of_arrays(outputs)[0] == pytest.approx(outputs["mask"][0, ..., 3].mean())
    target, _, _ = choose(outputs, {"target": 1, "position": [1, 2]}, "m")
    assert target.of_arrays(outputs)[0] == outputs["mask"][0, 1, 2, 1]


def test_a_quantised_model_is_scored_in_real_numbers(tmp_path):
    from tests.conftest import PROJECT

    model = PROJECT / "sample_models" / "built" / "digits_cnn_int8.tflite"
    value, found = explained(tmp_path, model, method="occlusion")
    assert 0 <= value.probability <= 1
    assert 0 <= value.baseline_score <= 1
    assert np.abs(found).max() <= 1


class _Summed:
    """A subject with so many scores for one signal."""

    name, no_gradients = "m.pb", ""
    inputs = (TensorSpec("x", (4,), "float32"),)

    def __init__(self, scores: int) -> None:
        self.count = scores

    def slope(self, feed, target, points, given):
        assert feed["x"].shape == (4,)
        return Slope(np.ones(self.count), {points[0]: feed["x"]}, {points[0]: np.arange(4.0)})


def test_a_gradient_of_several_scores_at_once_is_declined():
    point, target = Point("input", "x"), Target("y", 0, (), True)
    bare = without_rows(_Summed.inputs)
    feed = {"x": np.zeros((1, 4), np.float32)}
    found = WholeSubject(_Summed(1), bare).slope(feed, target, [point], {})
    np.testing.assert_array_equal(found.gradients[point], [[0, 1, 2, 3]])
    with pytest.raises(CannotRun, match="4 scores together"):
        WholeSubject(_Summed(4), bare).slope(feed, target, [point], {})

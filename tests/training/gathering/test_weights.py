"""Statistics of weight tensors, and whether they look trained."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.evidence.model import WeightProfile
from stethoscope.training.gathering.weights import MOST_SAMPLED, fans, gather_weights, guess_trained, profile
from stethoscope.types import ModelFile
from tests.checks.architectures import bias, layer, points, tensor
from tests.small_models import tiny_onnx
from tests.tables import each

ZEROS = {"bias_initializer": {"class_name": "Zeros", "config": {}}}
NOWHERE = ModelFile.at("/nonexistent/model.keras")


def test_the_numbers_of_a_small_kernel():
    kernel = np.array([[1.0, 0.0, 1.0], [2.0, 0.0, 2.0]], np.float32)
    found = profile("dense", "kernel", kernel, trainable=True, fans=(2, 3))
    assert (found.minimum, found.maximum, found.mean) == (0.0, 2.0, 1.0)
    assert found.zero_fraction == pytest.approx(1 / 3)
    assert (found.dead_columns, found.identical_columns, found.distinct) == (1, 1, 3)
    assert (found.fan_in, found.fan_out, found.shape) == (2, 3, (2, 3))


def test_values_that_are_not_finite_are_counted_and_left_out():
    kernel = np.array([[np.nan, 1.0], [np.inf, 3.0]], np.float32)
    found = profile("dense", "kernel", kernel, trainable=True)
    assert (found.nonfinite, found.minimum, found.maximum, found.mean) == (2, 1.0, 3.0, 2.0)


@pytest.mark.parametrize("shape", [(0, 4), (), (5,)])
def test_odd_shapes_are_no_obstacle(shape):
    found = profile("dense", "bias", np.zeros(shape, np.float32), trainable=True)
    assert found.shape == shape
    assert found.distinct <= 1


def test_a_large_tensor_is_sampled_but_no_nan_is_missed():
    big = np.random.default_rng(0).normal(size=MOST_SAMPLED + 1_000_001).astype(np.float32)
    big[7] = np.nan
    found = profile("dense", "kernel", big, trainable=True)
    assert found.nonfinite == 1
    assert found.std == pytest.approx(1.0, abs=0.01)


@each(
    ("kind", "name", "shape", "expected"),
    [
        ("Dense", "kernel", (8, 4), (8, 4)),
        ("Conv2D", "kernel", (3, 3, 8, 16), (72, 144)),
        ("DepthwiseConv2D", "kernel", (3, 3, 8, 1), None),
        ("Dense", "bias", (4,), None),
        ("MultiHeadAttention", "kernel", (8, 2, 4), None),
    ],
)
def test_fans_are_those_of_the_initialiser(kind, name, shape, expected):
    assert fans(kind, name, shape) == expected


def guess(*tensors: WeightProfile, **config):
    hidden = layer("hidden", "Dense", (None, 16), units=16, activation="relu", **config)
    return guess_trained(NOWHERE, points(hidden), tensors)


def test_biases_tell_initial_weights_from_trained_ones():
    trained, because = guess(tensor("hidden"), bias("hidden"), **ZEROS)
    assert trained is False
    assert "bias of hidden" in because and "initialiser" in because
    trained, because = guess(tensor("hidden"), bias("hidden", distinct=3, std=0.1), **ZEROS)
    assert trained is True
    assert "bias of hidden" in because


def test_a_bias_that_starts_at_a_constant_is_no_sign_of_training():
    start = {"bias_initializer": {"class_name": "Constant", "config": {"value": 0.1}}}
    assert guess(bias("hidden", 0.1), **start)[0] is False


def test_a_kernel_without_a_bias_is_held_against_its_initialiser():
    glorot = {"kernel_initializer": {"class_name": "GlorotUniform", "config": {}}, "use_bias": False}
    usual = (2 / (32 + 16)) ** 0.5
    assert guess(tensor("hidden", shape=(32, 16), std=usual), **glorot)[0] is None
    assert guess(tensor("hidden", shape=(32, 16), std=2 * usual), **glorot)[0] is True


def test_a_frozen_trained_base_says_nothing_of_its_new_head():
    trained_base = tensor("base", "bias", (16,), trainable=False)
    assert guess(trained_base, bias("hidden"), **ZEROS)[0] is False


def test_weights_of_an_onnx_file(tmp_path):
    from stethoscope.models.formats import detect

    file = ModelFile.at(tiny_onnx(tmp_path / "tiny.onnx"))
    architecture = detect(file).describe(file)
    with detect(file).open(file, tmp_path) as runner:
        found = gather_weights(file, architecture, runner)
    assert [(one.layer, one.shape, one.maximum) for one in found.tensors] == [("project", (4, 4), 2.0)]
    assert found.trained is None

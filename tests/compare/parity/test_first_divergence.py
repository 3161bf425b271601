"""Where two models part, and what does not count."""

from __future__ import annotations

import numpy as np

from stethoscope.compare.parity.first_divergence import first_divergence, layer_errors, reads
from stethoscope.compare.parity.layer_pairs import pair
from stethoscope.compare.parity.layer_tensors import LayerTensors
from stethoscope.types import Architecture, Layer

LAYERS = ("x", "conv", "act", "shape", "answer")


def tensors(folder, values):
    kept = LayerTensors(folder)
    for name, value in values.items():
        kept.add(name, name, np.asarray(value, np.float32))
    return kept


def model():
    inputs = {"conv": ("x",), "act": ("conv",), "shape": ("act",), "answer": ("act", "shape")}
    layers = tuple(Layer(name, name, None, 0, 0, "float32", inputs=inputs.get(name, ())) for name in LAYERS)
    return Architecture("frozen_graph", "", 0, None, (), (), layers)


def parting(tmp_path, right, wrong):
    first, second = tensors(tmp_path / "a", right), tensors(tmp_path / "b", wrong)
    pairs = pair(first, second, {name: (name, "name") for name in LAYERS}, 1e-6, certain=True)
    errors = layer_errors(first, second, pairs, reads(model(), first), floor=1e-6)
    return first_divergence(model(), first, second, pairs, errors)


def test_a_shape_that_agrees_heals_nothing_and_one_that_does_not_parts_nothing(tmp_path):
    x = np.random.default_rng(0).standard_normal((4, 6))
    right = {
        "x": x,
        "conv": 2 * x,
        "act": np.tanh(2 * x),
        "shape": [4, 6],
        "answer": np.tanh(2 * x).sum(1, keepdims=True),
    }
    other = 2 * x + np.random.default_rng(1).standard_normal(x.shape)
    wrong = {
        "x": x,
        "conv": other,
        "act": np.tanh(other),
        "shape": [4, 6],
        "answer": np.tanh(other).sum(1, keepdims=True),
    }
    assert parting(tmp_path, right, wrong).layer == "conv"
    assert parting(tmp_path / "same", right, {**right, "shape": [6, 4]}) is None

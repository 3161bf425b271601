"""Faults in layers of every kind, told from what the layer reads and answers."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.parity.causes import guesses
from stethoscope.compare.parity.causes.case import Case, WeightPair
from stethoscope.compare.parity.causes.recomputed import suspicions
from stethoscope.compare.parity.kernel_suspicions import Estimate
from stethoscope.compare.parity.recompute import computed
from stethoscope.types import Layer, Operand
from tests.frameworks import keras
from tests.tables import each

RANDOM = np.random.default_rng(0)
SERIES, PICTURE, VOLUME = (4, 8, 6), (3, 7, 6, 4), (2, 4, 5, 6, 2)
SAME = {"padding": "same"}

LAYERS = [
    ("Conv1D", [SERIES], SAME, {"kernel": (3, 3, 4), "bias": (4,)}, {"groups": 2}),
    ("Conv3D", [VOLUME], SAME, {"kernel": (2, 3, 3, 2, 3), "bias": (3,)}, {}),
    ("DepthwiseConv1D", [SERIES], SAME, {"kernel": (3, 6, 2), "bias": (12,)}, {}),
    (
        "SeparableConv1D",
        [SERIES],
        SAME,
        {"depthwise_kernel": (3, 6, 1), "pointwise_kernel": (1, 6, 5), "bias": (5,)},
        {},
    ),
    ("Conv1DTranspose", [SERIES], SAME, {"kernel": (3, 5, 6), "bias": (5,)}, {"strides": 2}),
    ("Conv3DTranspose", [VOLUME], SAME, {"kernel": (3, 3, 3, 4, 2), "bias": (4,)}, {"strides": 2}),
    ("MaxPooling3D", [VOLUME], SAME, {}, {"pool_size": 2, "strides": 1}),
    ("AveragePooling1D", [SERIES], SAME, {}, {"pool_size": 3, "strides": 2}),
    (
        "BatchNormalization",
        [PICTURE],
        {},
        {"gamma": (7,), "beta": (7,), "moving_mean": (7,), "moving_variance": (7,)},
        {"axis": 1, "epsilon": 1e-3},
    ),
    ("LayerNormalization", [SERIES], {}, {"gamma": (6,), "beta": (6,)}, {"epsilon": 1e-3}),
    ("GroupNormalization", [PICTURE], {}, {"gamma": (4,), "beta": (4,)}, {"groups": 2, "epsilon": 1e-3}),
    ("RMSNormalization", [SERIES], {}, {"scale": (6,)}, {"epsilon": 1e-6}),
    ("UnitNormalization", [SERIES], {}, {}, {"axis": -1}),
    ("Normalization", [SERIES], {}, {"mean": (6,), "variance": (6,)}, {}),
    ("PReLU", [SERIES], {}, {"alpha": (1, 6)}, {}),
    ("LeakyReLU", [SERIES], {}, {}, {"negative_slope": 0.07}),
    ("ELU", [SERIES], {}, {}, {"alpha": 0.6}),
    ("Softmax", [SERIES], {}, {}, {"axis": -1}),
    ("Concatenate", [SERIES, SERIES], {}, {}, {}),
    ("Reshape", [SERIES], {}, {}, {"target_shape": [4, 12]}),
    ("RepeatVector", [(4, 6)], {}, {}, {"n": 3}),
    ("Cropping1D", [SERIES], {}, {}, {"cropping": [1, 2]}),
    ("ZeroPadding1D", [SERIES], {}, {}, {"padding": [1, 2]}),
    ("ZeroPadding3D", [VOLUME], {}, {}, {"padding": [[1, 0], [0, 1], [1, 1]]}),
    ("UpSampling1D", [SERIES], {}, {}, {"size": 2}),
    ("UpSampling2D", [PICTURE], {}, {}, {"size": 2, "interpolation": "bilinear"}),
]


def described(kind, inputs, settings, answer):
    """The layer as a file describes it."""
    names = tuple(f"x{place}" for place in range(len(inputs)))
    operands = tuple(Operand(name, None) for name in names)
    return Layer("layer", kind, (None, *answer.shape[1:]), 0, 0, "", names, settings, operands)


def told(layer, weights, inputs, b):
    """The likeliest cause for an answer."""
    a = computed(layer, inputs, weights)
    pairs = tuple(WeightPair("layer", name, value, None) for name, value in weights.items())
    known = dict(zip(layer.inputs, inputs, strict=True))
    return guesses(Case(a, b, layer, (layer,), tuple(inputs), {**known, "layer": a}, weights=pairs))[0]


@each(("kind", "shapes", "more", "weighted", "settings"), LAYERS, ids=lambda one: str(one)[:24])
def test_every_suspicion_can_be_told_from_the_others(kind, shapes, more, weighted, settings):
    inputs = [RANDOM.standard_normal(shape) for shape in shapes]
    weights = {
        name: RANDOM.uniform(0.1, 1.0, shape) * RANDOM.choice([0.9, 1.0], shape) for name, shape in weighted.items()
    }
    first = computed(Layer("layer", kind, None, 0, 0, "", (), {**settings, **more}), inputs, weights)
    assert first is not None
    layer = described(kind, inputs, {**settings, **more}, first)
    a = computed(layer, inputs, weights)
    seen, wrong = {}, []
    for tried in suspicions(layer, weights):
        one = tried.of(1.37 * tried.starts[0] + 0.01) if isinstance(tried, Estimate) else tried
        b = computed(layer, inputs, {**weights, **one.weights}, one.settings)
        if one.function is not None:
            b = one.function(inputs[0])
        if b is None or b.shape != a.shape or np.abs(b - a).max() < 1e-2 * np.abs(a).max():
            continue
        seen[one.cause] = seen.get(one.cause, 0) + 1
        if seen[one.cause] <= 2:
            found = told(layer, weights, inputs, b)
            if found.cause != one.cause or found.confidence < 0.97:
                wrong.append((one.told, found.cause, found.sentence))
    assert seen
    assert not wrong


def test_an_embedding_whose_index_is_shifted():
    table, words = RANDOM.standard_normal((9, 6)), RANDOM.integers(0, 9, (4, 5)).astype(float)
    layer = Layer("layer", "Embedding", (None, 5, 6), 0, 0, "", ("x0",), {"input_dim": 9})
    for change, cause in (
        ({"embeddings": np.concatenate([table[1:], table[-1:]])}, "shifted-index"),
        ({"embeddings": 6**0.5 * table}, "scaled-weights"),
    ):
        found = told(layer, {"embeddings": table}, [words], computed(layer, [words], change))
        assert found.cause == cause


@each(
    ("kind", "weighted", "settings", "change", "said"),
    [
        ("Dense", {"kernel": (6, 4), "bias": (4,)}, {"activation": "relu"}, {"kernel": 0.37}, "its kernel times 0.37"),
        ("Dense", {"kernel": (6, 4), "bias": (4,)}, {"activation": "relu"}, {"bias": 2.0}, "its bias times 2"),
        ("Conv1D", {"kernel": (3, 6, 4), "bias": (4,)}, {"activation": "tanh"}, {"kernel": 1.731}, "times 1.731"),
        ("Embedding", {"embeddings": (9, 6)}, {}, {"embeddings": 6**0.5}, "times 2.449"),
    ],
)
def test_factors_are_estimated(kind, weighted, settings, change, said):
    x = RANDOM.integers(0, 9, (4, 5)).astype(float) if kind == "Embedding" else RANDOM.standard_normal(SERIES)
    weights = {name: RANDOM.standard_normal(shape) for name, shape in weighted.items()}
    a = computed(Layer("layer", kind, None, 0, 0, "", (), settings), [x], weights)
    layer = described(kind, [x], settings, a)
    scaled = {name: change.get(name, 1.0) * value for name, value in weights.items()}
    found = told(layer, weights, [x], computed(layer, [x], scaled))
    assert said in found.sentence
    assert found.confidence == 0.98


@each(
    ("kind", "settings", "changed"),
    [
        ("LayerNormalization", {"epsilon": 1e-3}, {"epsilon": 4.2e-5}),
        ("LayerNormalization", {"epsilon": 1e-5}, {"epsilon": 0.03}),
        ("ELU", {"alpha": 1.0}, {"alpha": 0.61}),
        ("LeakyReLU", {"negative_slope": 0.3}, {"negative_slope": 0.017}),
        ("Rescaling", {"scale": 0.5, "offset": 0.0}, {"scale": 0.0123}),
    ],
)
def test_settings_are_estimated(kind, settings, changed):
    x = 0.05 * RANDOM.standard_normal(SERIES)
    layer = described(kind, [x], settings, x)
    found = told(layer, {}, [x], computed(layer, [x], {}, changed))
    assert f"{next(iter(changed.values())):.3g}" in found.sentence
    assert found.confidence >= 0.97


@each(
    ("kind", "name"),
    [("Relu", "relu"), ("Sigmoid", "sigmoid"), ("LOGISTIC", "sigmoid"), ("HARD_SWISH", "hard_silu"), ("Elu", "elu")],
)
def test_an_operator_that_is_an_activation_is_tried_as_a_layer_is(kind, name):
    x = 2 * RANDOM.standard_normal(SERIES)
    layer = described(kind, [x], {}, x)
    assert computed(layer, [x], {}) == pytest.approx(np.asarray(getattr(keras.activations, name)(x)), abs=1e-6)
    found = told(layer, {}, [x], np.asarray(keras.activations.selu(x)))
    assert found.cause == "activation" and "SELU" in found.sentence


def test_a_factor_that_explains_half_is_not_named():
    x, kernel = RANDOM.standard_normal(SERIES), RANDOM.standard_normal((6, 4))
    layer = described("Dense", [x], {}, RANDOM.standard_normal((4, 8, 4)))
    other = 2 * kernel + 0.7 * RANDOM.standard_normal(kernel.shape)
    found = told(layer, {"kernel": kernel}, [x], x @ other)
    assert found.cause != "scaled-weights"

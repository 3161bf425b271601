"""Faults in layers of every kind, told from what the layer reads and answers."""

from __future__ import annotations

import numpy as np

from stethoscope.parity.causes import guesses
from stethoscope.parity.causes.case import Case, WeightPair
from stethoscope.parity.recompute import computed
from stethoscope.parity.suspicions import suspicions
from stethoscope.types import Layer, Operand
from tests.tables import each

RANDOM = np.random.default_rng(0)
SERIES, PICTURE, VOLUME = (4, 8, 6), (3, 7, 6, 4), (2, 4, 5, 6, 2)
SAME = {"padding": "same"}

LAYERS = [
    ("Conv1D", [SERIES], SAME, {"kernel": (3, 3, 4), "bias": (4,)}, {"groups": 2}),
    ("Conv3D", [VOLUME], SAME, {"kernel": (2, 3, 3, 2, 3), "bias": (3,)}, {}),
    ("DepthwiseConv1D", [SERIES], SAME, {"kernel": (3, 6, 2), "bias": (12,)}, {}),
    ("SeparableConv1D", [SERIES], SAME, {"depthwise_kernel": (3, 6, 1), "pointwise_kernel": (1, 6, 5), "bias": (5,)}, {}),
    ("Conv1DTranspose", [SERIES], SAME, {"kernel": (3, 5, 6), "bias": (5,)}, {"strides": 2}),
    ("Conv3DTranspose", [VOLUME], SAME, {"kernel": (3, 3, 3, 4, 2), "bias": (4,)}, {"strides": 2}),
    ("MaxPooling3D", [VOLUME], {}, {}, {"pool_size": 2}),
    ("AveragePooling1D", [SERIES], SAME, {}, {"pool_size": 3, "strides": 2}),
    ("GlobalAveragePooling3D", [VOLUME], {}, {}, {}),
    ("BatchNormalization", [PICTURE], {}, {"gamma": (7,), "beta": (7,), "moving_mean": (7,), "moving_variance": (7,)}, {"axis": 1, "epsilon": 1e-3}),
    ("LayerNormalization", [SERIES], {}, {"gamma": (6,), "beta": (6,)}, {"epsilon": 1e-3}),
    ("GroupNormalization", [PICTURE], {}, {"gamma": (4,), "beta": (4,)}, {"groups": 2, "epsilon": 1e-3}),
    ("RMSNormalization", [SERIES], {}, {"scale": (6,)}, {"epsilon": 1e-6}),
    ("UnitNormalization", [SERIES], {}, {}, {"axis": -1}),
    ("Normalization", [SERIES], {}, {"mean": (6,), "variance": (6,)}, {}),
    ("PReLU", [SERIES], {}, {"alpha": (1, 6)}, {}),
    ("LeakyReLU", [SERIES], {}, {}, {"negative_slope": 0.07}),
    ("ELU", [SERIES], {}, {}, {"alpha": 0.6}),
    ("ThresholdedReLU", [SERIES], {}, {}, {"theta": 0.3}),
    ("Softmax", [SERIES], {}, {}, {"axis": -1}),
    ("Subtract", [SERIES, SERIES], {}, {}, {}),
    ("Average", [SERIES, SERIES], {}, {}, {}),
    ("Maximum", [SERIES, SERIES], {}, {}, {}),
    ("Dot", [SERIES, SERIES], {}, {}, {"axes": 1, "normalize": False}),
    ("Concatenate", [SERIES, SERIES], {}, {}, {}),
    ("Permute", [(3, 5, 5, 5)], {}, {}, {"dims": [2, 1, 3]}),
    ("Reshape", [SERIES], {}, {}, {"target_shape": [4, 12]}),
    ("RepeatVector", [(4, 6)], {}, {}, {"n": 3}),
    ("Cropping1D", [SERIES], {}, {}, {"cropping": [1, 2]}),
    ("ZeroPadding1D", [SERIES], {}, {}, {"padding": [1, 2]}),
    ("ZeroPadding3D", [VOLUME], {}, {}, {"padding": [[1, 0], [0, 1], [1, 1]]}),
    ("UpSampling1D", [SERIES], {}, {}, {"size": 2}),
    ("UpSampling2D", [PICTURE], {}, {}, {"size": 2, "interpolation": "bilinear"}),
]  # fmt: skip


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
    for one in suspicions(layer, weights, (1, 0)):
        b = computed(layer, inputs, {**weights, **one.weights}, one.settings)
        if (
            one.form
            or one.cause == "epsilon"
            or b is None
            or b.shape != a.shape
            or np.abs(b - a).max() < 1e-2 * np.abs(a).max()
        ):
            continue
        if kind == "SeparableConv1D" and "exchanged" in one.told:
            continue  # which channels differ in the answer says nothing of those in between
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
        ({"embeddings": np.where(np.arange(9)[:, None] == words[0, 0], 0, table)}, "zeroed-row"),
        ({"embeddings": 6**0.5 * table}, "scaled-weights"),
    ):
        found = told(layer, {"embeddings": table}, [words], computed(layer, [words], change))
        assert found.cause == cause

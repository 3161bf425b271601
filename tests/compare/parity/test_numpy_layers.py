"""Attention computed in numpy against Keras itself, and faults in it that are told from what it reads and answers."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.parity.attention_suspicions import attention_suspicions
from stethoscope.compare.parity.causes import guesses
from stethoscope.compare.parity.causes.case import Case, WeightPair
from stethoscope.compare.parity.kernel_suspicions import Estimate
from stethoscope.compare.parity.numpy_layers import MANY_HEADED, ROLES, attention_weight, call_settings
from stethoscope.compare.parity.recompute import computed
from stethoscope.models.formats.keras_model.keras_ends import readable_config
from stethoscope.types import Layer, Operand
from tests.frameworks import layers as L
from tests.tables import each

RANDOM = np.random.default_rng(0)
QUERY, VALUE, KEY = (RANDOM.standard_normal((3, places, 8)) for places in (5, 7, 7))

KINDS = [
    (lambda: L.MultiHeadAttention(2, 4), 2, False),
    (lambda: L.MultiHeadAttention(2, 4, value_dim=3, use_bias=False, output_shape=6), 3, False),
    (lambda: L.MultiHeadAttention(2, 4), 2, True),
    (lambda: L.GroupQueryAttention(4, 4, 2), 3, True),
    (lambda: L.Attention(use_scale=False), 2, True),
    (lambda: L.Attention(use_scale=True), 3, False),
    (lambda: L.Attention(score_mode="concat", use_scale=True), 2, False),
    (lambda: L.AdditiveAttention(use_scale=True), 3, True),
]


def made(layer, inputs, causal):
    """(the layer as it is described, its weights, what Keras answers)."""
    read = [one.astype(np.float32) for one in inputs]
    many = type(layer).__name__ in MANY_HEADED
    call = (lambda: layer(*read, use_causal_mask=causal)) if many else (lambda: layer(read, use_causal_mask=causal))
    call()
    for weight in layer.weights:
        weight.assign(RANDOM.standard_normal(weight.shape))
    names = [attention_weight("/".join(weight.path.split("/")[1:])) for weight in layer.weights]
    weights = {name: np.asarray(weight, np.float64) for name, weight in zip(names, layer.weights, strict=True)}
    names = ("query", "value", "key")[: len(inputs)]
    operands = tuple(Operand(name, None) for name in names)
    described = Layer(
        "attention", type(layer).__name__, (None, 5, 8), 0, 0, "", names, readable_config(layer.get_config()), operands
    )
    return described, weights, np.asarray(call(), np.float64)


@each(("make", "count", "causal"), KINDS)
def test_attention_gives_what_keras_gives(make, count, causal):
    inputs = [QUERY, VALUE, KEY][:count]
    layer, weights, expected = made(make(), inputs, causal)
    found = computed(layer, inputs, weights, {"causal": causal})
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_mask_that_is_given_is_read():
    mask = RANDOM.random((3, 5, 7)) < 0.7
    mask[..., 0] = True
    layer = L.MultiHeadAttention(2, 4)
    described, weights, _ = made(layer, [QUERY, VALUE], False)
    expected = layer(QUERY.astype(np.float32), VALUE.astype(np.float32), attention_mask=mask)
    found = computed(described, [QUERY, VALUE, mask.astype(np.float64)], weights, {"mask_last": True})
    np.testing.assert_allclose(found, np.asarray(expected), atol=1e-4)
    assert {"causal": False, "order": (0, 1, 2), "mask_last": True} in call_settings("MultiHeadAttention", 3)


@each(
    ("stored", "name"),
    [
        ("query_dense/0", "query_kernel"),
        ("_key_dense/1", "key_bias"),
        ("output_dense/0", "output_kernel"),
        ("value/kernel:0", "value_kernel"),
        ("attention_output/bias", "output_bias"),
        ("scale", "scale"),
    ],
)
def test_weights_are_called_by_their_part(stored, name):
    assert attention_weight(stored) == name


def told(layer, weights, inputs, b, causal):
    """The likeliest cause for an answer."""
    a = computed(layer, inputs, weights, {"causal": causal})
    stored = {f"{role}_{part}": f"{role}_dense/{part}" for role in ROLES for part in ("kernel", "bias")}
    pairs = tuple(WeightPair("attention", stored.get(name, name), value, None) for name, value in weights.items())
    known = dict(zip(layer.inputs, inputs, strict=True))
    case = Case(a, b, layer, (layer,), tuple(inputs), {**known, "attention": a}, weights=pairs)
    return guesses(case)[0]


@pytest.mark.parametrize(("make", "count", "causal"), KINDS)
def test_every_suspicion_is_told_from_the_others(make, count, causal):
    inputs = [QUERY, VALUE, KEY][:count]
    layer, weights, a = made(make(), inputs, causal)
    known = {"causal": causal, "order": tuple(range(count))}
    seen = 0
    for tried in attention_suspicions(layer, weights, known):
        one = tried.of(0.6 * tried.starts[0]) if isinstance(tried, Estimate) else tried
        b = computed(layer, inputs, {**weights, **one.weights}, {**known, **one.settings})
        if b is None or b.shape != a.shape or np.abs(b - a).max() < 1e-3:
            continue
        seen += 1
        found = told(layer, weights, inputs, b, causal)
        assert found.confidence > 0.97
        assert found.cause == one.cause, (one.told, found.sentence)
    assert seen > (8 if layer.type in MANY_HEADED else 1)


def test_the_scale_of_attention_is_estimated():
    layer, weights, _ = made(L.MultiHeadAttention(2, 4), [QUERY, VALUE], False)
    for scale, said in ((1.0, "does not scale"), (0.25, "by 0.25"), (0.8123, "by 0.8123")):
        b = computed(layer, [QUERY, VALUE], weights, {"scale": scale})
        found = told(layer, weights, [QUERY, VALUE], b, False)
        assert (found.cause, found.confidence) == ("attention-scale", 0.98)
        assert said in found.sentence


def test_what_none_of_it_explains_is_not_called_sure():
    layer, weights, _ = made(L.MultiHeadAttention(2, 4), [QUERY, VALUE], False)
    others = {name: RANDOM.standard_normal(value.shape) for name, value in weights.items()}
    assert told(layer, weights, [QUERY, VALUE], computed(layer, [QUERY, VALUE], others), False).confidence < 0.5

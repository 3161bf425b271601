"""Faults inside a recurrent layer, told from what it reads and answers."""

from __future__ import annotations

import numpy as np

from stethoscope.compare.parity.causes import guesses
from stethoscope.compare.parity.causes.case import Case, WeightPair
from stethoscope.compare.parity.recompute import computed
from stethoscope.types import Layer
from tests.tables import each

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((4, 6, 3))
CONFIG = {"return_sequences": True, "activation": "tanh", "recurrent_activation": "sigmoid"}


def weights(gates, units=4):
    shapes = {"kernel": (3, gates * units), "recurrent_kernel": (units, gates * units), "bias": (gates * units,)}
    return {name: RANDOM.standard_normal(shape) for name, shape in shapes.items()}


def blocks(values, order):
    parts = np.split(values, len(order), axis=-1)
    return np.concatenate([parts[place] for place in order], axis=-1)


def told(kind, right, wrong, **changed):
    layer = Layer("steps", kind, None, 0, 0, "float32", ("x",), CONFIG)
    a, b = computed(layer, [X], right), computed(layer, [X], wrong, changed)
    pairs = tuple(WeightPair("steps", name, value, None) for name, value in right.items())
    return guesses(Case(a, b, layer, (layer,), (X,), {"x": X, "steps": a}, weights=pairs))[0]


@each(
    ("change", "cause"),
    [
        (lambda w: {name: blocks(value, (0, 3, 1, 2)) for name, value in w.items()}, "gate-order"),
        (lambda w: {**w, "recurrent_kernel": 1.5 * w["recurrent_kernel"]}, "scaled-weights"),
        (lambda w: {**w, "bias": w["bias"] + (np.arange(16) // 4 == 1)}, "bias"),
        (lambda w: {**w, "bias": 0 * w["bias"]}, "bias"),
        (lambda w: {**w, "bias": 2 * w["bias"]}, "bias"),
    ],
)
def test_weights_of_lstm(change, cause):
    right = weights(4)
    assert told("LSTM", right, change(right)).cause == cause


def test_settings_of_gru():
    right = weights(3)
    assert told("GRU", right, right, activation="relu").cause == "activation"
    assert told("GRU", right, right, recurrent_activation="hard_sigmoid").cause == "activation"
    assert told("GRU", right, right, reset_after=False).cause == "gate-order"
    assert told("GRU", right, right, go_backwards=True).cause == "direction"
    assert told("GRU", right, right, turned=True).cause == "direction"


def test_what_none_of_it_explains_is_not_called_sure():
    right = weights(4)
    assert told("LSTM", right, weights(4)).confidence < 0.5

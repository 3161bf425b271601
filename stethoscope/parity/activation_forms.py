"""Activations that work on single values, as plain functions, and what layers of a group make of an array."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stethoscope.parity.causes.case import Array
from stethoscope.types import Layer


def _erf(x: Array) -> Array:
    from scipy.special import erf

    found: Array = erf(x)
    return found


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-np.clip(x, -60, 60)))


FORMS: tuple[tuple[str, str, Callable[[Array], Array]], ...] = (
    ("gelu-erf", "GELU with erf", lambda x: 0.5 * x * (1 + _erf(x / np.sqrt(2)))),
    (
        "gelu-tanh",
        "GELU approximated with tanh",
        lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    ),
    ("gelu-sigmoid", "GELU approximated with a sigmoid", lambda x: x * _sigmoid(1.702 * x)),
    ("relu", "ReLU", lambda x: np.maximum(x, 0)),
    ("relu6", "ReLU6", lambda x: np.clip(x, 0, 6)),
    ("leaky-0.01", "leaky ReLU with slope 0.01", lambda x: np.where(x > 0, x, 0.01 * x)),
    ("leaky-0.2", "leaky ReLU with slope 0.2", lambda x: np.where(x > 0, x, 0.2 * x)),
    ("leaky-0.3", "leaky ReLU with slope 0.3", lambda x: np.where(x > 0, x, 0.3 * x)),
    ("elu", "ELU", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0)))),
    ("silu", "SiLU", lambda x: x * _sigmoid(x)),
    ("hard-silu", "hard SiLU", lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    ("sigmoid", "a sigmoid", _sigmoid),
    ("hard-sigmoid", "a hard sigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    ("hard-sigmoid-2", "a hard sigmoid with slope 0.2", lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    ("tanh", "tanh", np.tanh),
    ("softplus", "softplus", lambda x: np.logaddexp(0, x)),
    ("linear", "nothing (no activation)", lambda x: x),
)


_BY_NAME: dict[str, Callable[[Array], Array]] = {name: function for name, _, function in FORMS} | {
    "gelu": FORMS[0][2],
    "swish": {name: function for name, _, function in FORMS}["silu"],
    "leakyrelu": {name: function for name, _, function in FORMS}["leaky-0.3"],
}
_NOTHING = ("dropout", "identity", "activityregularization", "gaussiannoise", "linear")


def named_function(name: str) -> Callable[[Array], Array] | None:
    """An activation by its Keras name; softmax too."""
    if name == "softmax":
        return _softmax
    return _BY_NAME.get(name.replace("_", "-"))


def _softmax(x: Array) -> Array:
    made = np.exp(x - x.max(axis=-1, keepdims=True))
    found: Array = made / made.sum(axis=-1, keepdims=True)
    return found


def function_of(layer: Layer) -> Callable[[Array], Array] | None:
    """What an activation layer does to each value; None where it is no such layer, or one we do not know."""
    kind = layer.type.lower().replace("_", "")
    if any(word in kind for word in _NOTHING):
        return lambda x: x
    told = str(layer.config.get("activation", kind)).lower()
    if kind == "relu" and (layer.config.get("max_value") is not None or layer.config.get("negative_slope")):
        high, slope = layer.config.get("max_value"), float(layer.config.get("negative_slope") or 0)
        return lambda x: np.minimum(np.where(x > 0, x, slope * x), np.inf if high is None else float(high))
    if kind == "leakyrelu":
        given = layer.config.get("negative_slope", layer.config.get("alpha", 0.3))
        leak = float(given) if isinstance(given, int | float) else 0.3
        return lambda x: np.where(x > 0, x, leak * x)
    return named_function(told if kind == "activation" else kind)

"""What each activation computes, in plain numpy and float64; and the layers that are nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.activations import LEAKY_RELU, SOFTMAX, known, plain_type
from stethoscope.types import Layer

Array = npt.NDArray[np.float64]


def _erf(x: Array) -> Array:
    from scipy.special import erf

    found: Array = erf(x)
    return found


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-np.clip(x, -60, 60)))


@dataclass(frozen=True)
class Form:
    """A function of single values."""

    name: str
    title: str
    function: Callable[[Array], Array]


def leaky(slope: float) -> Callable[[Array], Array]:
    """ReLU with a slope below zero."""
    return lambda x: np.where(x > 0, x, slope * x)


FORMS: tuple[Form, ...] = (
    Form("gelu", "GELU with erf", lambda x: 0.5 * x * (1 + _erf(x / np.sqrt(2)))),
    Form(
        "gelu-tanh",
        "GELU approximated with tanh",
        lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    ),
    Form("gelu-sigmoid", "GELU approximated with a sigmoid", lambda x: x * _sigmoid(1.702 * x)),
    Form("relu", "ReLU", lambda x: np.maximum(x, 0)),
    Form("relu6", "ReLU6", lambda x: np.clip(x, 0, 6)),
    Form("elu", "ELU", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0)))),
    Form("silu", "SiLU", lambda x: x * _sigmoid(x)),
    Form("hard-silu", "hard SiLU", lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    Form("sigmoid", "a sigmoid", _sigmoid),
    Form("hard-sigmoid", "a hard sigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    Form("hard-sigmoid-2", "a hard sigmoid with slope 0.2", lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    Form("tanh", "tanh", np.tanh),
    Form("softplus", "softplus", lambda x: np.logaddexp(0, x)),
    Form(
        "selu",
        "SELU",
        lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))),
    ),
    Form("softsign", "softsign", lambda x: x / (1 + np.abs(x))),
    Form("mish", "Mish", lambda x: x * np.tanh(np.logaddexp(0, x))),
    Form("exponential", "an exponential", lambda x: np.exp(np.minimum(x, 80))),
    Form("linear", "nothing (no activation)", lambda x: x),
)


_NOTHING = ("dropout", "identity", "activityregularization", "gaussiannoise", "linear")
ALIKE: tuple[tuple[str, ...], ...] = (
    ("gelu", "gelu-tanh", "gelu-sigmoid"),
    ("silu", "swish", "hard-silu", "hard-swish"),
    ("sigmoid", "hard-sigmoid", "hard-sigmoid-2"),
    ("relu", "relu6"),
)
"""What goes by one name in some framework, or is an approximation of it."""


def softmax(x: Array, axis: Any = -1) -> Array:
    """Positive, with a sum of 1 over the axes."""
    axes = tuple(axis) if isinstance(axis, list | tuple) else int(axis)
    made = np.exp(x - x.max(axis=axes, keepdims=True))
    found: Array = made / made.sum(axis=axes, keepdims=True)
    return found


_BY_NAME: dict[str, Callable[[Array], Array]] = {form.name: form.function for form in FORMS} | {
    LEAKY_RELU.name.replace("_", "-"): leaky(0.2),
    LEAKY_RELU.layer: leaky(0.3),
    LEAKY_RELU.layer.lower(): leaky(0.3),
    SOFTMAX.name: softmax,
}


def named_function(name: str) -> Callable[[Array], Array] | None:
    """An activation by a name of Keras or of `FORMS`; None for one that is not known here."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    activation = known(name)
    return _BY_NAME.get((name if activation is None else activation.name).replace("_", "-"))


def sloped(inputs: Sequence[Array], weights: Mapping[str, Array], _settings: Mapping[str, Any]) -> Array:
    """PReLU: a slope below zero that was learned, "alpha", shared by axes of size 1.

    Raises:
        KeyError: without "alpha".
    """
    return np.where(inputs[0] > 0, inputs[0], weights["alpha"] * inputs[0])


def function_of(layer: Layer, changed: Mapping[str, Any] | None = None) -> Callable[[Array], Array] | None:
    """What an activation layer does to each value; None where it is no such layer, or one we do not know.

    Args:
        layer: with its config.
        changed: settings that stand for those of the config.
    """
    kind, settings = plain_type(layer.type), {**layer.config, **(changed or {})}
    if any(word in kind for word in _NOTHING):
        return lambda x: x
    if kind in _SETTABLE:
        return _SETTABLE[kind](settings)
    told = str(settings.get("activation", kind)).lower()
    return named_function(told if kind == "activation" else kind)


def _number(settings: Mapping[str, Any], names: Sequence[str], usual: float) -> float:
    told = next((settings[name] for name in names if settings.get(name) is not None), usual)
    return float(told) if isinstance(told, int | float) else usual


def _relu(settings: Mapping[str, Any]) -> Callable[[Array], Array]:
    high, low = _number(settings, ("max_value",), np.inf), _number(settings, ("threshold",), 0.0)
    slope = _number(settings, ("negative_slope",), 0.0)
    return lambda x: np.where(x >= low, np.minimum(x, high), slope * (x - low))


def _leaky(settings: Mapping[str, Any]) -> Callable[[Array], Array]:
    slope = _number(settings, ("negative_slope", "alpha"), 0.3)
    return lambda x: np.where(x > 0, x, slope * x)


def _elu(settings: Mapping[str, Any]) -> Callable[[Array], Array]:
    alpha = _number(settings, ("alpha",), 1.0)
    return lambda x: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _threshold(settings: Mapping[str, Any]) -> Callable[[Array], Array]:
    theta = _number(settings, ("theta",), 1.0)
    return lambda x: np.where(x > theta, x, 0)


_SETTABLE: dict[str, Callable[[Mapping[str, Any]], Callable[[Array], Array]]] = {
    "relu": _relu,
    "leakyrelu": _leaky,
    "elu": _elu,
    "thresholdedrelu": _threshold,
    "softmax": lambda settings: lambda x: softmax(x, settings.get("axis", -1)),
}

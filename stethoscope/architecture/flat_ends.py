"""Where a layer's activation is flat: which outputs count as saturated, and which layers can have dead units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stethoscope.architecture.endings import activation_of
from stethoscope.architecture.initialisers import settings_of
from stethoscope.architecture.losses import snake
from stethoscope.types import Layer

FLAT_ENDS: Mapping[str, tuple[float | None, float | None]] = {
    "sigmoid": (0.0067, 0.9933),
    "softmax": (None, 0.9933),
    "tanh": (-0.9999, 0.9999),
    "hard_sigmoid": (0.0, 1.0),
    "hard_tanh": (-1.0, 1.0),
    "relu6": (None, 6.0),
}
"""(at or below, at or above): outputs there lie where the slope is below 0.007 (sigmoid and softmax at 0.9933, tanh beyond
±5) or exactly 0. A ReLU has no upper end, and its lower one is what `CAN_DIE` is about; a softmax is flat where one unit
takes all. Source: Glorot & Bengio, AISTATS 2010 (saturation of sigmoid and tanh); sigmoid(5) = 0.9933; Krizhevsky,
Convolutional Deep Belief Networks on CIFAR-10, 2010 (ReLU6)."""
CAN_DIE = frozenset({"relu", "relu6", "thresholded_relu"})
"""Exactly 0, with slope 0, for a whole range of inputs. Source: Lu et al., Dying ReLU and Initialization, 2019."""
_RECURRENT = ("LSTM", "GRU", "SimpleRNN", "ConvLSTM", "Bidirectional", "RNN", "TimeDistributed")
_OPERATORS = {
    "LOGISTIC": "sigmoid", "TANH": "tanh", "RELU": "relu", "RELU6": "relu6", "RELU_N1_TO_1": "hard_tanh",
}  # fmt: skip
_FUSED = ("fusedActivationFunction", "fused_activation_function", "fused_activation")


def activation_behind(layer: Layer | None, *, first: bool = True) -> str:
    """The activation that made a layer's output, "linear" for none; "" where the output is not directly that of one.

    Args:
        layer: as described; None where it is unknown.
        first: whether it is the layer's first output (another one is a state).
    """
    if layer is None or not first:
        return ""
    if layer.type in _OPERATORS:
        return _OPERATORS[layer.type]
    config: Mapping[str, Any] = layer.config
    if layer.type.startswith(_RECURRENT):
        inner = config.get("layer")
        if layer.type == "TimeDistributed" and isinstance(inner, dict):
            return activation_of(replace(layer, type=str(inner.get("class_name")), config=settings_of(config)))
        return ""
    fused = next((str(config[key]).upper() for key in _FUSED if config.get(key)), "NONE")
    if fused != "NONE":
        return _OPERATORS.get(fused, snake(fused))
    found = activation_of(layer)
    if layer.type in ("ReLU", "Relu") and found == "relu":
        if config.get("negative_slope"):
            return "leaky_relu"
        return "relu6" if config.get("max_value") == 6 else "relu"
    return found

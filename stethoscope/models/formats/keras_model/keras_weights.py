"""Weights that a Keras layer will create, from its config and input shapes, looking into wrappers and cells."""

from __future__ import annotations

from typing import Any

from stethoscope.models.formats.keras_model.keras_config import parse_network
from stethoscope.models.formats.keras_model.keras_shapes import follow
from stethoscope.models.formats.keras_model.keras_spatial_shapes import Config, Shapes, cells, inner_layer
from stethoscope.models.formats.keras_model.keras_weight_rules import (
    RULES,
    UnknownSize,
    Weight,
    Weights,
    gated,
    size_of,
)


def expected_weights(class_name: str, config: Config, inputs: Shapes, modern: bool) -> Weights | None:
    """Returns the weights of a layer in Keras' order, [] for a layer without any, None when they cannot be known.

    Args:
        class_name: of a layer that is part of Keras.
        config: its config.
        inputs: shapes of the inputs of its first call.
        modern: Keras 3 (a few layers keep different weights there).
    """
    if config.get("quantization_config") or _is_quantized(config.get("dtype")) or config.get("lora_rank"):
        return None
    try:
        return _weights(class_name, config, inputs, modern)
    except (UnknownSize, TypeError, ValueError, IndexError, KeyError, AttributeError, OverflowError):
        return None


def _is_quantized(policy: Any) -> bool:
    name = policy.get("class_name") if isinstance(policy, dict) else policy
    return isinstance(name, str) and ("Quantized" in name or "_from_" in name)


def _weights(class_name: str, config: Config, inputs: Shapes, modern: bool) -> Weights | None:
    inner = inner_layer(config)
    if inner:
        return _wrapped(class_name, config, inner, inputs, modern)
    if class_name == "RNN":
        return _stacked(config, inputs, modern)
    rule = RULES.get(class_name)
    if rule is not None:
        return rule(config, inputs, modern)
    return [] if class_name in _WITHOUT else None


def _wrapped(
    class_name: str, config: Config, inner: tuple[str, Config], inputs: Shapes, modern: bool
) -> Weights | None:
    if class_name == "TimeDistributed" and inputs[0] is not None:
        inputs = [(inputs[0][0], *inputs[0][2:])]
    first = _inner_weights(inner, inputs, modern)
    if class_name == "Bidirectional":
        other = config.get("backward_layer")
        backward = (str(other["class_name"]), other["config"]) if isinstance(other, dict) else inner
        second = _inner_weights(backward, inputs, modern)
        return None if first is None or second is None else first + second
    if class_name == "SpectralNormalization" and first:
        return [*first, Weight("vector_u", (1, first[0].shape[-1]), False)]
    return first if class_name in ("TimeDistributed", "Wrapper") else None


def _inner_weights(inner: tuple[str, Config], inputs: Shapes, modern: bool) -> Weights | None:
    network = parse_network("", {"class_name": inner[0], "config": inner[1]})
    frozen = inner[1].get("trainable") is False
    if network is None:
        found = expected_weights(*inner, inputs, modern)
    else:
        found = []
        flows = follow(network, inputs)[1]
        for entry in network.entries:
            flow = flows.get(entry.name)
            part = expected_weights(entry.class_name, entry.config, flow.inputs if flow else [None], modern)
            if entry.network is not None:
                part = _inner_weights((entry.class_name, entry.config), flow.inputs if flow else [None], modern)
            if part is None:
                return None
            found += [Weight(w.role, w.shape, w.trainable and entry.trainable) for w in part]
    return [Weight(w.role, w.shape, False) for w in found] if found and frozen else found


def _stacked(config: Config, inputs: Shapes, modern: bool) -> Weights | None:
    found: Weights = []
    size = size_of(inputs[0], -1)
    parts = cells(config)
    for class_name, cell in parts:
        gates = {"LSTMCell": 4, "GRUCell": 3, "SimpleRNNCell": 1}.get(class_name)
        if gates is None:
            return None
        found += gated(gates)(cell, [(None, None, size)], modern)
        size = int(cell["units"])
    return found if parts else None


_WITHOUT = frozenset(
    (
        "InputLayer Activation Dropout Masking Flatten Reshape Permute RepeatVector Lambda Concatenate Dot Add Subtract Multiply Average "
        "Maximum Minimum UnitNormalization SpatialDropout1D SpatialDropout2D SpatialDropout3D GaussianNoise GaussianDropout AlphaDropout "
        "ActivityRegularization ReLU LeakyReLU ELU Softmax ThresholdedReLU Identity Rescaling Resizing CenterCrop RandomCrop RandomFlip "
        "RandomRotation RandomZoom RandomTranslation RandomContrast RandomBrightness RandomHeight RandomWidth CategoryEncoding Hashing "
        "HashedCrossing Discretization StringLookup IntegerLookup TextVectorization CustomScaleLayer StochasticDepth TFOpLambda SlicingOpLambda TensorFlowOpLayer "
        "ClassMethod InstanceMethod InstanceProperty "
        + " ".join(
            f"{name}{rank}D"
            for rank in (1, 2, 3)
            for name in [
                "MaxPooling",
                "AveragePooling",
                "MaxPool",
                "AvgPool",
                "AdaptiveMaxPooling",
                "AdaptiveAveragePooling",
                "GlobalMaxPooling",
                "GlobalAveragePooling",
                "GlobalMaxPool",
                "GlobalAvgPool",
                "ZeroPadding",
                "Cropping",
                "UpSampling",
            ]
        )
    ).split()
)

"""What usual Keras layers compute, in plain numpy: so that a suspicion can be tried on the very inputs of the layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stethoscope.compare.parity import attention, convolution, moving, normalization, resizing
from stethoscope.compare.parity.activation_forms import function_of, sloped
from stethoscope.compare.parity.layer_rule import Array, Rule, Settings, Weights, ended
from stethoscope.compare.parity.recurrent import bidirectional, recurrent
from stethoscope.types import Layer


def computed(layer: Layer, inputs: Sequence[Array], weights: Weights, changed: Settings | None = None) -> Array | None:
    """The layer's answer; None for layers that are not known here.

    Args:
        layer: with its config.
        inputs: what it reads, in order, channels last.
        weights: by their short names ("kernel", "bias", "gamma", …).
        changed: settings that stand for those of the config, and those that the rules know and no config has.
    """
    rule = _RULES.get(layer.type)
    settings = {**dict(layer.config), **(changed or {})}
    if rule is None:
        function = function_of(layer, changed) if len(inputs) == 1 else None
        return None if function is None else function(inputs[0])
    try:
        with np.errstate(all="ignore"):
            return rule(inputs, weights, settings)
    except (KeyError, ValueError, TypeError, IndexError):
        return None


def _dense(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    return ended(inputs[0] @ weights["kernel"], weights, settings)


_RANKS = ("1D", "2D", "3D")
_RULES: dict[str, Rule] = {
    "Dense": _dense,
    **{f"Conv{rank}": convolution.convolution for rank in _RANKS},
    **{f"DepthwiseConv{rank}": convolution.depthwise for rank in _RANKS[:2]},
    **{f"SeparableConv{rank}": convolution.separable for rank in _RANKS[:2]},
    **{f"Conv{rank}Transpose": convolution.transposed for rank in _RANKS},
    **{f"MaxPooling{rank}": convolution.pooling("max") for rank in _RANKS},
    **{f"AveragePooling{rank}": convolution.pooling("average") for rank in _RANKS},
    **{f"GlobalMaxPooling{rank}": convolution.global_pooling("max") for rank in _RANKS},
    **{f"GlobalAveragePooling{rank}": convolution.global_pooling("average") for rank in _RANKS},
    "BatchNormalization": normalization.batch_normal,
    "LayerNormalization": normalization.layer_normal,
    "GroupNormalization": normalization.group_normal,
    "UnitNormalization": normalization.unit_normal,
    "RMSNormalization": normalization.rms_normal,
    "Normalization": normalization.featurewise,
    "PReLU": sloped,
    **{f"UpSampling{rank}": resizing.enlarged for rank in _RANKS},
    "Resizing": resizing.resized,
    **{f"ZeroPadding{rank}": moving.padded for rank in _RANKS},
    **{f"Cropping{rank}": moving.cropped for rank in _RANKS},
    "Rescaling": moving.rescaled,
    "Flatten": moving.flattened,
    "Reshape": moving.reshaped,
    "Permute": moving.permuted,
    "RepeatVector": moving.repeated,
    "Embedding": moving.looked_up,
    "Concatenate": moving.joined,
    **{kind: moving.merging(kind) for kind in moving.MERGES},
    "Dot": moving.dotted,
    **{kind: recurrent(kind) for kind in ("LSTM", "GRU", "SimpleRNN")},
    "Bidirectional": bidirectional,
    **dict.fromkeys(attention.MANY_HEADED, attention.many_headed),
    **{kind: attention.simple(kind) for kind in attention.SIMPLE},
}

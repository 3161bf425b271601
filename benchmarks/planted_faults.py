"""The faults that are planted: each at a layer drawn at random from those that can have it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Plant:
    """One fault: at which layer, what is built otherwise, what is done to the weights."""

    kind: str
    layer: str
    build: Mapping[str, Any] = field(default_factory=dict)
    weights: Callable[[list[np.ndarray], np.random.Generator], list[np.ndarray]] | None = None
    causes: tuple[str, ...] = ()
    """Ids that name it right."""
    formats: tuple[str, ...] = ("keras", "onnx", "tflite", "saved_model")
    """Which can hold it."""


_RANDOM = ("keras", "saved_model")
"""Formats that hold what draws random numbers."""


def first_changed(
    change: Callable[[np.ndarray], np.ndarray],
) -> Callable[[list[np.ndarray], np.random.Generator], list[np.ndarray]]:
    """A change of weights: of the first of a layer's."""
    return lambda values, _: [change(values[0]), *values[1:]]


def no_bias(values: list[np.ndarray], _: np.random.Generator) -> list[np.ndarray]:
    """A change of weights: zeros for the last of a layer's."""
    return [*values[:-1], 0 * values[-1]]


def plants(random: np.random.Generator) -> list[tuple[str, Plant]]:
    """(family, plant) of every kind, each at a layer drawn at random from those that can have it."""
    from benchmarks.planted_layer_faults import of_decoder, of_series, of_signal

    def one(*names: str) -> str:
        return str(random.choice(names))

    convolutions = ("stem", "block1_conv1", "block2_conv1", "late_conv")
    factor = float(random.spawn(1)[0].uniform(0.2, 3.0))
    normals = ("stem_bn", "block1_bn1", "block1_bn2", "block2_bn1", "block2_bn2", "late_bn")
    denses = ("embed", "up1", "down1", "up2", "down2", "answer")
    relus = ("stem_relu", "block1_relu", "block2_relu", "late_relu")
    weights = ("weights", "scaled-weights", "transposed-kernel", "flipped-kernel")
    return [
        ("vision", Plant("epsilon of BatchNormalization", one(*normals), {"epsilon": 0.05}, causes=("epsilon",))),
        (
            "vision",
            Plant("epsilon of BatchNormalization, small", one(*normals), {"epsilon": 1e-5}, causes=("epsilon",)),
        ),
        (
            "vision",
            Plant(
                "BatchNormalization in training mode",
                one(*normals),
                {"training": True},
                causes=("training-mode",),
                formats=("keras", "onnx", "saved_model"),
            ),
        ),
        (
            "vision",
            Plant(
                "other moving statistics",
                one(*normals),
                weights=lambda v, r: [*v[:2], v[2] + 0.5, v[3]],
                causes=("epsilon", "weights", "bias"),
            ),
        ),
        ("vision", Plant("padding", one(*convolutions), {"shift": True}, causes=("padding",))),
        (
            "vision",
            Plant(
                "input channels swapped",
                "stem",
                weights=first_changed(lambda k: k[:, :, ::-1]),
                causes=("swapped-channels", "preprocessing", "weights"),
            ),
        ),
        (
            "vision",
            Plant(
                "a transposed kernel",
                one(*convolutions),
                weights=first_changed(lambda k: k.transpose(1, 0, 2, 3)),
                causes=("transposed-kernel",),
            ),
        ),
        (
            "vision",
            Plant(
                "a flipped kernel",
                one(*convolutions),
                weights=first_changed(lambda k: k[::-1, ::-1]),
                causes=("flipped-kernel", "transposed-kernel", "weights"),
            ),
        ),
        ("vision", Plant("resize mode", "up", {"interpolation": "nearest"}, causes=("resize-mode",))),
        ("vision", Plant("no activation", one(*relus), {"activation": "linear"}, causes=("activation",))),
        (
            "vision",
            Plant(
                "depthwise kernel transposed",
                one("block1_depthwise", "block2_depthwise"),
                weights=first_changed(lambda k: k.transpose(1, 0, 2, 3)),
                causes=("transposed-kernel",),
            ),
        ),
        ("vision", Plant("order of Flatten", "flat", {"channels_first": True}, causes=("layout",))),
        (
            "vision",
            Plant("dropout in training mode", "drop", {"training": True}, causes=("training-mode",), formats=_RANDOM),
        ),
        ("vision", Plant("preprocessing outside", "scaling", {"off": True}, causes=("preprocessing",))),
        (
            "vision",
            Plant("bias missing", one("stem", "late_conv", "hidden"), weights=no_bias, causes=("bias", "weights")),
        ),
        (
            "vision",
            Plant(
                "a scaled kernel",
                one(*convolutions, "hidden"),
                weights=first_changed(lambda k: factor * k),
                causes=("scaled-weights", "weights", "scale"),
            ),
        ),
        (
            "vision",
            Plant(
                "wrong weights",
                one(*convolutions),
                weights=lambda v, r: [v[0] + 0.05 * r.standard_normal(v[0].shape), *v[1:]],
                causes=weights,
            ),
        ),
        ("vision", Plant("hidden without ReLU", "hidden", {"activation": "linear"}, causes=("activation",))),
        (
            "encoder",
            Plant(
                "form of GELU",
                one("gelu1", "gelu2"),
                {"approximate": True},
                causes=("gelu-form",),
                formats=("onnx", "tflite", "saved_model"),
            ),
        ),
        (
            "encoder",
            Plant(
                "epsilon of LayerNormalization",
                one("norm1a", "norm1b", "norm2a", "norm2b", "norm"),
                {"epsilon": 0.05},
                causes=("epsilon",),
            ),
        ),
        (
            "encoder",
            Plant(
                "dropout in training mode",
                one("drop1", "drop2"),
                {"training": True},
                causes=("training-mode",),
                formats=_RANDOM,
            ),
        ),
        (
            "encoder",
            Plant("a transposed matrix", "embed", weights=first_changed(lambda k: k.T), causes=("transposed-kernel",)),
        ),
        ("encoder", Plant("bias missing", one(*denses), weights=no_bias, causes=("bias", "weights"))),
        (
            "encoder",
            Plant(
                "wrong weights",
                one(*denses),
                weights=lambda v, r: [v[0] + 0.05 * r.standard_normal(v[0].shape), *v[1:]],
                causes=weights,
            ),
        ),
        (
            "encoder",
            Plant(
                "attention looks back only",
                one("attention1", "attention2"),
                {"use_causal_mask": True},
                causes=("mask",),
            ),
        ),
        *of_series(one, weights),
        *_of_mobile(one, weights),
        *of_decoder(one, weights),
        *of_signal(one, weights),
    ]


def _of_mobile(one: Callable[..., str], weights: tuple[str, ...]) -> list[tuple[str, Plant]]:
    return [
        (
            "mobile",
            Plant(
                "symmetric padding of a strided convolution",
                one("stem", "down"),
                {"symmetric": True},
                causes=("padding",),
            ),
        ),
        ("mobile", Plant("hard swish as swish", "stem_act", {"activation": "silu"}, causes=("activation",))),
        ("mobile", Plant("epsilon of GroupNormalization", "group", {"epsilon": 0.1}, causes=("epsilon",))),
        (
            "mobile",
            Plant(
                "a flipped transposed convolution",
                "grow",
                weights=first_changed(lambda k: k[::-1, ::-1]),
                causes=("flipped-kernel", "transposed-kernel", "weights"),
            ),
        ),
        (
            "mobile",
            Plant(
                "a transposed kernel of a transposed convolution",
                "grow",
                weights=first_changed(lambda k: k.transpose(1, 0, 2, 3)),
                causes=("transposed-kernel",),
            ),
        ),
        (
            "mobile",
            Plant(
                "depthwise kernel of a separable convolution transposed",
                "separable",
                weights=first_changed(lambda k: k.transpose(1, 0, 2, 3)),
                causes=("transposed-kernel",),
            ),
        ),
        ("mobile", Plant("resize mode of Resizing", "resized", {"interpolation": "nearest"}, causes=("resize-mode",))),
        (
            "mobile",
            Plant(
                "BGR for RGB",
                "stem",
                weights=first_changed(lambda k: k[:, :, ::-1]),
                causes=("preprocessing", "swapped-channels", "weights"),
            ),
        ),
        (
            "mobile",
            Plant(
                "another scale of the input",
                "scaling",
                {"scale": 1 / 127.5, "offset": -1.0},
                causes=("preprocessing", "scale", "setting"),
            ),
        ),
        (
            "mobile",
            Plant(
                "parts joined in the other order", "joined", {"reverse": True}, causes=("swapped-channels", "layout")
            ),
        ),
        (
            "mobile",
            Plant("slope of PReLU", "prelu", weights=first_changed(lambda a: 0 * a), causes=("activation", "weights")),
        ),
        (
            "mobile",
            Plant(
                "bias doubled",
                one("stem", "down", "grow"),
                weights=lambda v, _: [*v[:-1], 2 * v[-1]],
                causes=("bias", "weights"),
            ),
        ),
    ]

"""Models with one planted fault each, for `planted_divergences`: built twice from the same weights, once as they should be."""

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


class Builder:
    """Makes layers, each with its plant if it has one."""

    def __init__(self, plant: Plant | None) -> None:
        import keras

        self.keras, self.layers, self.plant = keras, keras.layers, plant

    def told(self, name: str) -> Mapping[str, Any]:
        """What is built otherwise at a layer."""
        return self.plant.build if self.plant is not None and self.plant.layer == name else {}

    def conv(self, x: Any, filters: int, name: str, **settings: Any) -> Any:
        """A convolution; the plant may shift it by a pixel."""
        told = dict(self.told(name))
        if told.pop("shift", False):
            x = self.layers.ZeroPadding2D(((0, 2), (0, 2)), name=f"{name}_pad")(x)
            settings["padding"] = "valid"
        return self.layers.Conv2D(filters, 3, **{"padding": "same", **settings, **told}, name=name)(x)

    def depthwise(self, x: Any, name: str) -> Any:
        """A depthwise convolution."""
        return self.layers.DepthwiseConv2D(3, **{"padding": "same", **self.told(name)}, name=name)(x)

    def normal(self, x: Any, name: str) -> Any:
        """BatchNormalization; the plant may leave it in training mode."""
        told = dict(self.told(name))
        mode = {"training": True} if told.pop("training", False) else {}
        return self.layers.BatchNormalization(**told, name=name)(x, **mode)

    def layer_normal(self, x: Any, name: str) -> Any:
        """LayerNormalization."""
        return self.layers.LayerNormalization(**self.told(name), name=name)(x)

    def act(self, x: Any, kind: str, name: str) -> Any:
        """An activation, or another in its place."""
        told = self.told(name)
        if "layer" in told:
            return getattr(self.layers, told["layer"])(
                **{key: value for key, value in told.items() if key != "layer"}, name=name
            )(x)
        if kind == "gelu":
            return self.layers.Activation(_gelu_tanh if told.get("approximate") else "gelu", name=name)(x)
        return self.layers.Activation(told.get("activation", kind), name=name)(x)

    def pool(self, x: Any, name: str) -> Any:
        """Maximum pooling, or another kind."""
        told = dict(self.told(name))
        kind = told.pop("layer", "MaxPooling2D")
        return getattr(self.layers, kind)(2, **told, name=name)(x)

    def up(self, x: Any, name: str) -> Any:
        """Bilinear enlarging, or another mode."""
        return self.layers.UpSampling2D(2, **{"interpolation": "bilinear", **self.told(name)}, name=name)(x)

    def dense(self, x: Any, units: int, name: str, **settings: Any) -> Any:
        """A dense layer."""
        return self.layers.Dense(units, **{**settings, **self.told(name)}, name=name)(x)

    def drop(self, x: Any, name: str) -> Any:
        """Dropout; the plant may leave it active."""
        told = self.told(name)
        return self.layers.Dropout(0.3, seed=1, name=name)(x, **({"training": True} if told.get("training") else {}))

    def flat(self, x: Any, name: str) -> Any:
        """Flatten; the plant may put channels first."""
        if self.told(name).get("channels_first"):
            x = self.layers.Permute((3, 1, 2), name=f"{name}_permute")(x)
        return self.layers.Flatten(name=name)(x)


def _gelu_tanh(x: Any) -> Any:
    import keras

    return keras.activations.gelu(x, approximate=True)


def vision(b: Builder) -> Any:
    """A small residual network with everything that pictures go through."""
    image = b.keras.Input((32, 32, 3), name="image")
    x = image
    if b.told("scaling").get("off") is None:
        x = b.layers.Rescaling(1 / 127.5, -1, name="scaling")(x)
    x = b.conv(x, 12, "stem", strides=1)
    x = b.normal(x, "stem_bn")
    x = b.act(x, "relu", "stem_relu")
    for number in (1, 2):
        y = b.conv(x, 12, f"block{number}_conv1", use_bias=False)
        y = b.normal(y, f"block{number}_bn1")
        y = b.act(y, "swish", f"block{number}_act")
        y = b.depthwise(y, f"block{number}_depthwise")
        y = b.normal(y, f"block{number}_bn2")
        x = b.layers.Add(name=f"block{number}_add")([x, y])
        x = b.act(x, "relu", f"block{number}_relu")
        x = b.pool(x, f"block{number}_pool")
    y = b.up(x, "up")
    y = b.conv(y, 8, "late_conv")
    y = b.normal(y, "late_bn")
    y = b.act(y, "relu", "late_relu")
    y = b.pool(y, "late_pool")
    x = b.layers.Concatenate(name="joined")([x, y])
    x = b.flat(x, "flat")
    x = b.drop(x, "drop")
    x = b.dense(x, 24, "hidden", activation="relu")
    return b.keras.Model(image, b.dense(x, 10, "classes", activation="softmax"), name="vision")


def encoder(b: Builder) -> Any:
    """Two blocks of a transformer over vectors."""
    tokens = b.keras.Input((12, 32), name="tokens")
    x = b.dense(tokens, 32, "embed")
    for number in (1, 2):
        y = b.layer_normal(x, f"norm{number}a")
        y = b.layers.MultiHeadAttention(4, 8, name=f"attention{number}")(y, y)
        x = b.layers.Add(name=f"add{number}a")([x, y])
        y = b.layer_normal(x, f"norm{number}b")
        y = b.dense(y, 64, f"up{number}")
        y = b.act(y, "gelu", f"gelu{number}")
        y = b.drop(y, f"drop{number}")
        y = b.dense(y, 32, f"down{number}")
        x = b.layers.Add(name=f"add{number}b")([x, y])
    x = b.layer_normal(x, "norm")
    x = b.layers.GlobalAveragePooling1D(name="pooled")(x)
    return b.keras.Model(tokens, b.dense(x, 5, "answer"), name="encoder")


FAMILIES: dict[str, Callable[[Builder], Any]] = {"vision": vision, "encoder": encoder}


def pair(family: str, plant: Plant | None, seed: int) -> tuple[Any, Any]:
    """(the model as it should be, the one with the plant), with the same weights but for the plant."""
    import keras

    random = np.random.default_rng(seed)
    keras.utils.set_random_seed(seed)
    right, wrong = FAMILIES[family](Builder(None)), FAMILIES[family](Builder(plant))
    for layer in right.layers:
        values = [
            _like_trained(weight.path, weight.shape, np.asarray(weight), random)
            for weight in layer.weights
            if "seed" not in weight.path
        ]
        if values and len(values) == len(layer.weights):
            layer.set_weights(values)
    for layer in wrong.layers:
        try:
            values = right.get_layer(layer.name).get_weights()
        except ValueError:
            continue
        if plant is not None and plant.layer == layer.name and plant.weights is not None:
            values = plant.weights([value.copy() for value in values], random)
        if values:
            layer.set_weights(values)
    return right, wrong


def _like_trained(path: str, shape: Any, value: np.ndarray, random: np.random.Generator) -> np.ndarray:
    name = path.rsplit("/", 1)[-1]
    if name == "moving_variance":
        return random.uniform(0.2, 2.0, shape).astype(np.float32)
    if name in ("moving_mean", "beta", "bias"):
        return (0.1 * random.standard_normal(shape)).astype(np.float32)
    if name == "gamma":
        return random.uniform(0.7, 1.3, shape).astype(np.float32)
    return value


def _swap(axis: int) -> Callable[[list[np.ndarray], np.random.Generator], list[np.ndarray]]:
    def apply(values: list[np.ndarray], random: np.random.Generator) -> list[np.ndarray]:
        first, second = random.choice(values[0].shape[axis], 2, replace=False)
        for place, value in enumerate(values):
            where = axis % values[0].ndim if place == 0 else 0
            if place and axis not in (-1, values[0].ndim - 1):
                continue
            moved = np.moveaxis(value, where, 0).copy()
            moved[[first, second]] = moved[[second, first]]
            values[place] = np.moveaxis(moved, 0, where)
        return values

    return apply


def _zero_channel(values: list[np.ndarray], random: np.random.Generator) -> list[np.ndarray]:
    channel = int(random.integers(values[0].shape[-1]))
    return [
        np.concatenate(
            [value[..., :channel], 0 * value[..., channel : channel + 1], value[..., channel + 1 :]], axis=-1
        )
        for value in values
    ]


def _first(
    change: Callable[[np.ndarray], np.ndarray],
) -> Callable[[list[np.ndarray], np.random.Generator], list[np.ndarray]]:
    return lambda values, _: [change(values[0]), *values[1:]]


def _no_bias(values: list[np.ndarray], _: np.random.Generator) -> list[np.ndarray]:
    return [*values[:-1], 0 * values[-1]]


def plants(random: np.random.Generator) -> list[tuple[str, Plant]]:
    """(family, plant) of every kind, each at a layer drawn at random from those that can have it."""

    def one(*names: str) -> str:
        return str(random.choice(names))

    convolutions = ("stem", "block1_conv1", "block2_conv1", "late_conv")
    normals = ("stem_bn", "block1_bn1", "block1_bn2", "block2_bn1", "block2_bn2", "late_bn")
    denses = ("embed", "up1", "down1", "up2", "down2", "answer")
    relus = ("stem_relu", "block1_relu", "block2_relu", "late_relu")
    weights = ("weights", "scaled-weights", "transposed-kernel", "flipped-kernel")
    return [
        ("vision", Plant("epsilon of BatchNormalization", one(*normals), {"epsilon": 0.05}, causes=("epsilon",))),
        ("vision", Plant("epsilon of BatchNormalization, small", one(*normals), {"epsilon": 1e-5}, causes=("epsilon",))),
        ("vision", Plant("BatchNormalization in training mode", one(*normals), {"training": True}, causes=("training-mode",), formats=("keras", "onnx", "saved_model"))),
        ("vision", Plant("other moving statistics", one(*normals), weights=lambda v, r: [*v[:2], v[2] + 0.5, v[3]], causes=("epsilon", "weights", "bias"))),
        ("vision", Plant("padding", one(*convolutions), {"shift": True}, causes=("padding",))),
        ("vision", Plant("channels of a kernel swapped", one(*convolutions), weights=_swap(-1), causes=("swapped-channels",))),
        ("vision", Plant("input channels swapped", "stem", weights=_swap(2), causes=("swapped-channels", "preprocessing", "weights"))),
        ("vision", Plant("a zeroed channel", one(*convolutions), weights=_zero_channel, causes=("zeroed-channel",))),
        ("vision", Plant("a transposed kernel", one(*convolutions), weights=_first(lambda k: k.transpose(1, 0, 2, 3)), causes=("transposed-kernel",))),
        ("vision", Plant("a flipped kernel", one(*convolutions), weights=_first(lambda k: k[::-1, ::-1]), causes=("flipped-kernel", "transposed-kernel", "weights"))),
        ("vision", Plant("resize mode", "up", {"interpolation": "nearest"}, causes=("resize-mode",))),
        ("vision", Plant("average instead of maximum", one("block1_pool", "block2_pool", "late_pool"), {"layer": "AveragePooling2D"}, causes=("pooling", "setting", "padding"))),
        ("vision", Plant("leaky ReLU", one(*relus), {"layer": "LeakyReLU", "negative_slope": 0.2}, causes=("activation", "setting"))),
        ("vision", Plant("no activation", one(*relus), {"activation": "linear"}, causes=("activation",))),
        ("vision", Plant("swish as ReLU", one("block1_act", "block2_act"), {"activation": "relu"}, causes=("activation",))),
        ("vision", Plant("a clipped range", one(*relus), {"layer": "ReLU", "max_value": 0.5}, causes=("clipped-range", "activation", "setting"))),
        ("vision", Plant("depthwise kernel transposed", one("block1_depthwise", "block2_depthwise"), weights=_first(lambda k: k.transpose(1, 0, 2, 3)), causes=("transposed-kernel",))),
        ("vision", Plant("depthwise dilation", one("block1_depthwise", "block2_depthwise"), {"dilation_rate": 2}, causes=("dilation", "padding"))),
        ("vision", Plant("order of Flatten", "flat", {"channels_first": True}, causes=("layout",))),
        ("vision", Plant("dropout in training mode", "drop", {"training": True}, causes=("training-mode",), formats=_RANDOM)),
        ("vision", Plant("preprocessing outside", "scaling", {"off": True}, causes=("preprocessing",))),
        ("vision", Plant("bias missing", one("stem", "late_conv", "hidden"), weights=_no_bias, causes=("bias", "weights"))),
        ("vision", Plant("a scaled kernel", one(*convolutions, "hidden"), weights=_first(lambda k: 1.1 * k), causes=("scaled-weights", "weights", "scale"))),
        ("vision", Plant("wrong weights", one(*convolutions), weights=lambda v, r: [v[0] + 0.05 * r.standard_normal(v[0].shape), *v[1:]], causes=weights)),
        ("vision", Plant("softmax as sigmoid", "classes", {"activation": "sigmoid"}, causes=("activation",))),
        ("vision", Plant("hidden without ReLU", "hidden", {"activation": "linear"}, causes=("activation",))),
        ("encoder", Plant("form of GELU", one("gelu1", "gelu2"), {"approximate": True}, causes=("gelu-form",), formats=("onnx", "tflite", "saved_model"))),
        ("encoder", Plant("epsilon of LayerNormalization", one("norm1a", "norm1b", "norm2a", "norm2b", "norm"), {"epsilon": 0.05}, causes=("epsilon",))),
        ("encoder", Plant("dropout in training mode", one("drop1", "drop2"), {"training": True}, causes=("training-mode",), formats=_RANDOM)),
        ("encoder", Plant("a zeroed unit", one(*denses), weights=_zero_channel, causes=("zeroed-channel",))),
        ("encoder", Plant("units swapped", one(*denses), weights=_swap(-1), causes=("swapped-channels",))),
        ("encoder", Plant("a transposed matrix", "embed", weights=_first(lambda k: k.T), causes=("transposed-kernel",))),
        ("encoder", Plant("bias missing", one(*denses), weights=_no_bias, causes=("bias", "weights"))),
        ("encoder", Plant("wrong weights", one(*denses), weights=lambda v, r: [v[0] + 0.05 * r.standard_normal(v[0].shape), *v[1:]], causes=weights)),
        ("encoder", Plant("sign of a matrix", one(*denses), weights=_first(lambda k: -k), causes=("sign", "scaled-weights"))),
        ("encoder", Plant("wrong scale of LayerNormalization", one("norm1a", "norm1b", "norm2a", "norm2b"), weights=_first(lambda g: 1.3 * g), causes=("scaled-weights", "scale", "weights", "epsilon"))),
    ]  # fmt: skip

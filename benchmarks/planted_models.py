"""Models with one planted fault each, for `planted_divergences`: built twice from the same weights, once as they should be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.planted_decoder import WORDS, decoder, written_out_weights
from benchmarks.planted_faults import Plant
from benchmarks.planted_signal import signal, volume


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

    def strided(self, x: Any, filters: int, name: str) -> Any:
        """A convolution with strides; the plant may pad both ends alike, as PyTorch does."""
        told = self.told(name)
        if told.get("symmetric"):
            x = self.layers.ZeroPadding2D(1, name=f"{name}_pad")(x)
        return self.layers.Conv2D(filters, 3, strides=2, padding="valid" if told else "same", name=name)(x)

    def pool(self, x: Any, name: str, usual: str = "MaxPooling2D") -> Any:
        """Pooling of a kind, or another."""
        told = dict(self.told(name))
        kind = told.pop("layer", usual)
        return getattr(self.layers, kind)(2, **told, name=name)(x)

    def up(self, x: Any, name: str) -> Any:
        """Bilinear enlarging, or another mode."""
        return self.layers.UpSampling2D(2, **{"interpolation": "bilinear", **self.told(name)}, name=name)(x)

    def dense(self, x: Any, units: int, name: str, **settings: Any) -> Any:
        """A dense layer."""
        return self.layers.Dense(units, **{**settings, **self.told(name)}, name=name)(x)

    def attention(self, x: Any, name: str) -> Any:
        """Attention of each place to all; the plant may let it look back only."""
        return self.layers.MultiHeadAttention(4, 8, name=name)(x, x, **self.told(name))

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
        y = b.attention(y, f"attention{number}")
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


def series(b: Builder) -> Any:
    """Steps in time through recurrent layers."""
    steps = b.keras.Input((20, 6), name="steps")
    x = b.layers.Conv1D(12, 3, **{"padding": "same", "activation": "relu", **b.told("front")}, name="front")(steps)
    x = b.layers.LSTM(10, return_sequences=True, **b.told("lstm"), name="lstm")(x)
    x = b.layer_normal(x, "norm")
    x = b.layers.Bidirectional(b.layers.GRU(8, return_sequences=True), name="both")(x)
    x = b.layers.GRU(9, **b.told("gru"), name="gru")(x)
    x = b.dense(x, 12, "hidden", activation="tanh")
    return b.keras.Model(steps, b.dense(x, 4, "answer"), name="series")


def mobile(b: Builder) -> Any:
    """A network as phones have it: strides, separable and transposed convolutions, other normalisations."""
    image = b.keras.Input((24, 24, 3), name="picture")
    x = b.layers.Rescaling(**{"scale": 1 / 255, **b.told("scaling")}, name="scaling")(image)
    x = b.act(b.strided(x, 12, "stem"), "hard_silu", "stem_act")
    x = b.layers.SeparableConv2D(16, 3, padding="same", **b.told("separable"), name="separable")(x)
    x = b.act(x, "relu6", "separable_relu")
    x = b.layers.GroupNormalization(4, **b.told("group"), name="group")(x)
    x = b.pool(x, "average", "AveragePooling2D")
    y = b.layers.PReLU(shared_axes=[1, 2], alpha_initializer="ones", name="prelu")(b.strided(x, 16, "down"))
    y = b.layers.Conv2DTranspose(8, 3, strides=2, padding="same", **b.told("grow"), name="grow")(y)
    parts = [x, y][:: -1 if b.told("joined").get("reverse") else 1]
    x = b.layers.Concatenate(name="joined")(parts)
    x = b.layers.Resizing(9, 9, **b.told("resized"), name="resized")(x)
    told = dict(b.told("pooled"))
    x = getattr(b.layers, told.pop("layer", "GlobalAveragePooling2D"))(name="pooled")(x)
    return b.keras.Model(image, b.dense(x, 7, "classes", activation="softmax"), name="mobile")


FAMILIES: dict[str, Callable[[Builder], Any]] = {
    "vision": vision,
    "encoder": encoder,
    "series": series,
    "mobile": mobile,
    "decoder": decoder,
    "signal": signal,
    "volume": volume,
}


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
        if values and len(values) == len(layer.get_weights()):
            layer.set_weights(values)
    for layer in wrong.layers:
        try:
            values = written_out_weights(right, layer)
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
    if name == "alpha":
        return random.uniform(0.1, 0.4, shape).astype(np.float32)
    if name == "scale" and not shape:
        return np.float32(random.uniform(0.2, 0.4))
    if name in ("gamma", "scale"):
        return random.uniform(0.7, 1.3, shape).astype(np.float32)
    return value


def rows(random: np.random.Generator) -> dict[str, np.ndarray]:
    """16 rows for each family."""
    later = random.spawn(1)[0]
    return {
        "vision": (255 * random.random((16, 32, 32, 3))).astype(np.float32),
        "encoder": random.standard_normal((16, 12, 32)).astype(np.float32),
        "series": random.standard_normal((16, 20, 6)).astype(np.float32),
        "mobile": (255 * random.random((16, 24, 24, 3))).astype(np.float32),
        "decoder": later.integers(0, WORDS, (16, 10)).astype(np.int32),
        "signal": later.standard_normal((16, 16, 12)).astype(np.float32),
        "volume": later.standard_normal((16, 5, 6, 7, 2)).astype(np.float32),
    }

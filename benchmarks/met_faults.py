"""Faults that converters, exports and people have made, each with where it was met; one half to develop on, the other only scored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.met_networks import WIDTH
from benchmarks.unmet_faults import Fault


@dataclass(frozen=True)
class Met:
    """A fault at a layer of a network."""

    network: str
    layer: str
    fault: Fault
    source: str


def _met(network: str, layer: str, kind: str, causes: str, source: str, **change: Any) -> Met:
    return Met(network, layer, Fault(kind, (), tuple(causes.split()), **change), source)


def _tf() -> Any:
    import tensorflow as tf

    return tf


def _first(change: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda values, _: [change(values[0]), *values[1:]]


def _blocks(count: int, order: tuple[int, ...]) -> Callable[..., Any]:
    def moved(value: Any) -> Any:
        parts = np.split(value, count, axis=-1)
        return np.concatenate([parts[place] for place in order], axis=-1)

    return lambda values, _: [moved(value) for value in values]


def _gate_bias(values: Any, _: Any) -> Any:
    units = values[1].shape[0]
    return [*values[:2], values[2] + (np.arange(4 * units) // units == 1)]


def _turned_gates(values: Any, _: Any) -> Any:
    blocks = np.split(values[1], 3, axis=-1)
    return [values[0], np.concatenate([block.T for block in blocks], axis=-1), *values[2:]]


def _counted_padding(layer: Any, _: Any) -> Callable[..., Any]:
    def made(x: Any) -> Any:
        tf = _tf()
        return tf.nn.avg_pool2d(tf.pad(x, [[0, 0], [0, 1], [0, 1], [0, 0]]), layer.pool_size, layer.strides, "VALID")

    return made


def _both_ends(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    def made(x: Any) -> Any:
        x = _tf().pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
        layer.padding = "valid"
        try:
            return call(x)
        finally:
            layer.padding = "same"

    return made


def _unbiased(layer: Any, _: Any) -> Callable[..., Any]:
    """(x - mean) / (std + epsilon) with n - 1 values."""

    def made(x: Any) -> Any:
        tf = _tf()
        centred = x - tf.reduce_mean(x, -1, keepdims=True)
        std = tf.sqrt(tf.reduce_sum(centred * centred, -1, keepdims=True) / (WIDTH - 1))
        return layer.gamma * centred / (std + layer.epsilon) + layer.beta

    return made


def _multiplier_first(_: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    def made(x: Any) -> Any:
        tf = _tf()
        y = call(x)
        steps, wide = y.shape[1], y.shape[2]
        return tf.reshape(tf.transpose(tf.reshape(y, (-1, steps, wide // 2, 2)), (0, 1, 3, 2)), (-1, steps, wide))

    return made


def _training(_: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *inputs, **kwargs: call(*inputs, **{**kwargs, "training": True})


def _unmasked(_: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *inputs, **kwargs: call(*inputs, **{**kwargs, "use_causal_mask": False})


def _after(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda _, call: lambda *inputs, **kwargs: function(call(*inputs, **kwargs))


def _instead(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *_: lambda *inputs, **__: function(inputs[0])


def _relu(x: Any) -> Any:
    return _tf().nn.relu(x)


def _enlarged(x: Any) -> Any:
    return _tf().image.resize(x, (2 * x.shape[1], 2 * x.shape[2]), "bilinear")


DEVELOPED: tuple[Met, ...] = (
    _met(
        "digits",
        "flat",
        "Flatten of channels first",
        "layout",
        "henrysky.github.io/blog/2023-10-23-keras-torch",
        call=lambda _, call: lambda x: call(_tf().transpose(x, (0, 3, 1, 2))),
    ),
    _met(
        "digits",
        "p3",
        "PReLU with one slope",
        "activation weights",
        "keras-team/keras#13543",
        weights=_first(lambda a: 0 * a + a.mean()),
    ),
    _met("digits", "s2", "padding counted in a mean", "padding", "pytorch/pytorch#13934", call=_counted_padding),
    _met(
        "digits",
        "c3",
        "kernels of a true convolution",
        "flipped-kernel",
        "keras.utils.convert_all_kernels_in_model",
        weights=_first(lambda k: k[::-1, ::-1]),
    ),
    _met(
        "digits",
        "c1",
        "bias not converted",
        "bias",
        "fastmachinelearning/qonnx#25",
        weights=lambda v, _: [v[0], 0 * v[1]],
    ),
    _met(
        "digits",
        "c1",
        "BGR for RGB",
        "swapped-channels preprocessing",
        "keras.applications preprocess_input",
        weights=_first(lambda k: k[:, :, ::-1]),
    ),
    _met(
        "digits",
        "unit",
        "scaled to -1 ... 1",
        "preprocessing scale setting",
        "keras.applications preprocess_input",
        settings={"scale": 1 / 127.5, "offset": -1.0},
    ),
    _met(
        "line",
        "forth",
        "gates of LSTM as ONNX has them",
        "gate-order",
        "CrispStrobe/CrispASR#106",
        weights=_blocks(4, (0, 3, 1, 2)),
    ),
    _met("line", "forth", "bias of the forget gate added again", "bias", "apple/coremltools#309", weights=_gate_bias),
    _met(
        "line",
        "stroke_bn",
        "moving statistics not loaded",
        "weights epsilon",
        "ritheshkumar95/im2latex-tensorflow#6",
        weights=lambda v, _: [*v[:2], 0 * v[2], 0 * v[3] + 1],
    ),
    _met(
        "line", "drop", "dropout is active", "training-mode", "Dobiasd/frugally-deep#284", call=_training, random=True
    ),
    _met(
        "line",
        "back",
        "backward steps put in order",
        "layout direction",
        "onnx/keras-onnx#523",
        call=_after(lambda y: y[:, ::-1]),
    ),
    _met(
        "writer",
        "words_table",
        "table times the root of its width",
        "scaled-weights scale",
        "SamLynnEvans/Transformer#10",
        weights=_first(lambda t: WIDTH**0.5 * t),
    ),
    _met("writer", "looks_back", "causal mask dropped", "mask", "keras-team/keras#23038", call=_unmasked),
    _met(
        "writer",
        "looks_back",
        "scores scaled twice",
        "attention-scale scaled-weights weights",
        "FrancescoSaverioZuppichini/ViT#1",
        weights=lambda v, _: [v[0] / 8**0.5, v[1] / 8**0.5, *v[2:]],
    ),
    _met(
        "writer",
        "first_norm",
        "epsilon of another framework",
        "epsilon",
        "gzuidhof/nn-transfer#3",
        settings={"epsilon": 1e-5},
    ),
    _met(
        "writer",
        "bend",
        "GELU with tanh",
        "gelu-form",
        "huggingface/candle#900",
        call=_instead(lambda x: _tf().nn.gelu(x, approximate=True)),
    ),
)

HELD_BACK: tuple[Met, ...] = (
    _met("finder", "down1", "padding at both ends", "padding", "taehoonlee/tensornets#25", call=_both_ends),
    _met(
        "finder",
        "down1_bn",
        "epsilon of another framework",
        "epsilon",
        "qqwweee/keras-yolo3#451",
        settings={"epsilon": 1e-5},
    ),
    _met(
        "finder",
        "down1_bn",
        "BatchNormalization in training mode",
        "training-mode",
        "gmalivenko/pytorch2keras#13",
        call=_training,
        random=True,
    ),
    _met(
        "finder",
        "down1_leaky",
        "slope of another framework",
        "activation setting",
        "jinyu121/DW2TF#2",
        call=_instead(lambda x: _tf().nn.leaky_relu(x, 0.2)),
    ),
    _met(
        "finder",
        "down2_relu6",
        "bound of ReLU6 lost",
        "activation setting clipped-range",
        "onnx/tensorflow-onnx#1280",
        call=_instead(_relu),
    ),
    _met(
        "finder",
        "larger",
        "pixels blended, not repeated",
        "resize-mode",
        "pytorch/pytorch#10604",
        call=_instead(_enlarged),
    ),
    _met(
        "finder",
        "route",
        "joined in the other order",
        "swapped-channels layout",
        "PINTO0309/PINTO_model_zoo#400",
        call=lambda _, call: lambda xs: call(list(xs)[::-1]),
    ),
    _met(
        "finder",
        "mixed",
        "kernel with width before height",
        "transposed-kernel",
        "ArtemBoyarintsev/MachineLearningTools",
        weights=_first(lambda k: k.swapaxes(0, 1)),
    ),
    _met("finder", "mixed", "bias added twice", "bias", "onnx/keras-onnx#98", weights=lambda v, _: [v[0], 2 * v[1]]),
    _met(
        "finder",
        "unit",
        "divided by 255 outside",
        "preprocessing scale",
        "keras.applications preprocess_input",
        call=_instead(lambda x: 1.0 * x),
    ),
    _met(
        "speaker",
        "quick",
        "reset before the product",
        "gate-order",
        "microsoft/onnxscript#2852",
        settings={"reset_after": False},
    ),
    _met(
        "speaker",
        "slow",
        "gates of GRU as PyTorch has them",
        "gate-order",
        "docs.pytorch.org GRU",
        weights=_blocks(3, (1, 0, 2)),
    ),
    _met(
        "speaker",
        "slow",
        "recurrent bias lost",
        "bias",
        "onnx/keras-onnx#98",
        weights=lambda v, _: [*v[:2], v[2] * np.array([[1.0], [0.0]])],
    ),
    _met(
        "speaker",
        "slow",
        "recurrent kernel not transposed",
        "transposed-kernel",
        "docs.pytorch.org GRU",
        weights=_turned_gates,
    ),
    _met(
        "speaker",
        "quick",
        "a sigmoid for a hard one",
        "activation",
        "PaddlePaddle/Paddle#44820",
        settings={"recurrent_activation": "sigmoid"},
    ),
    _met(
        "speaker",
        "dilated",
        "dilation lost",
        "dilation padding",
        "ARM-software/armnn#486",
        settings={"dilation_rate": 1},
    ),
    _met(
        "speaker", "level", "one added to the scale", "weights", "utensils/mold#1078", weights=_first(lambda s: s + 1)
    ),
    _met(
        "speaker",
        "each",
        "multiplier before channel",
        "swapped-channels layout",
        "onnx/onnx-tensorflow#306",
        call=_multiplier_first,
    ),
    _met(
        "patches",
        "looks",
        "query and key exchanged",
        "exchanged-weights",
        "tenstorrent/tt-mlir#8958",
        weights=lambda v, _: [v[2], v[3], v[0], v[1], *v[4:]],
    ),
    _met(
        "patches",
        "looks",
        "scores not scaled",
        "attention-scale scaled-weights weights",
        "delzac/cntkx#10",
        weights=lambda v, _: [8**0.5 * v[0], 8**0.5 * v[1], *v[2:]],
    ),
    _met(
        "patches",
        "kinds",
        "answers before the softmax",
        "activation",
        "onnx/onnx-tensorflow#607",
        settings={"activation": "linear"},
    ),
    _met(
        "patches",
        "down",
        "matrix not transposed",
        "transposed-kernel",
        "ArtemBoyarintsev/MachineLearningTools",
        weights=_first(lambda k: k.T),
    ),
    _met("patches", "norm1", "unbiased deviation", "variance epsilon", "codertimo/BERT-pytorch#30", call=_unbiased),
    _met(
        "patches",
        "norm2",
        "normalised over the wrong axis",
        "axis",
        "facebookresearch/ConvNeXt#136",
        call=lambda layer, _: (
            lambda x: (
                (x - _tf().reduce_mean(x, (1, 2), keepdims=True))
                / _tf().sqrt(_tf().math.reduce_variance(x, (1, 2), keepdims=True) + layer.epsilon)
                * layer.gamma
                + layer.beta
            )
        ),
    ),
    _met(
        "patches",
        "up",
        "weights of another step",
        "weights",
        "keras.io/api/optimizers use_ema",
        weights=lambda v, r: [x + 0.1 * (x.std() + 1e-6) * r.standard_normal(x.shape) for x in v],
    ),
    _met(
        "patches",
        "bend",
        "GELU with a sigmoid",
        "gelu-form activation",
        "ROCm/AMDMIGraphX#2542",
        call=_instead(lambda x: x * _tf().sigmoid(1.702 * x)),
    ),
)

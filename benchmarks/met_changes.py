"""What `met_faults` does to a layer: changes of its weights, and of what it computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.met_networks import WIDTH
from benchmarks.unmet_faults import Fault, called_unpadded


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
        return called_unpadded(layer, call, _tf().pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]))

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

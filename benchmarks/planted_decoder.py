"""A network of attention in every form, for `planted_models`, and attention written out so that it can be wrong inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.planted_models import Builder

_PARTS = ("query", "key", "value")
WIDTH, HEADS, WORDS = 32, 4, 24


def decoder(b: Builder) -> Any:
    """Words through an Embedding and every kind of attention."""
    words = b.keras.Input((10,), dtype="int32", name="words")
    x = b.layers.Embedding(WORDS, WIDTH, name="table")(words)
    y = rms(b, x, "rms")
    y = _looking_back(b, y, "look_back")
    x = b.layers.Add(name="add_back")([x, y])
    y = b.layers.GroupQueryAttention(8, HEADS, 2, name="grouped")(x, x)
    x = b.layers.Add(name="add_grouped")([x, y])
    keys, values = b.dense(x, WIDTH, "keys"), b.dense(x, 24, "values")
    parts = [values, keys][:: -1 if b.told("cross").get("exchanged") else 1]
    y = b.layers.MultiHeadAttention(HEADS, 8, name="cross")(x, *parts)
    x = b.layers.Add(name="add_cross")([x, y])
    memory = b.dense(x, WIDTH, "memory", activation="tanh")
    y = b.layers.Attention(use_scale=True, name="dots")([x, memory], **b.told("dots"))
    z = b.layers.AdditiveAttention(name="adds")([x, memory], **b.told("adds"))
    x = rms(b, b.layers.Concatenate(name="joined")([y, z]), "rms_last")
    x = b.layers.GlobalAveragePooling1D(name="pooled")(x)
    return b.keras.Model(words, b.dense(x, 5, "answer"), name="decoder")


def rms(b: Builder, x: Any, name: str) -> Any:
    """RMSNormalization; the plant may take the mean off too."""
    told = dict(b.told(name))
    kind = told.pop("layer", "RMSNormalization")
    return getattr(b.layers, kind)(**told, name=name)(x)


def _looking_back(b: Builder, x: Any, name: str) -> Any:
    told = dict(b.told(name))
    wrong = told.pop("wrong", "")
    if wrong:
        return _written_out(b, x, name, wrong)
    return b.layers.MultiHeadAttention(HEADS, WIDTH // HEADS, name=name)(x, x, **{"use_causal_mask": True, **told})


def _written_out(b: Builder, x: Any, name: str, wrong: str) -> Any:
    """Causal attention of many heads, wrong in one way."""
    ops, size, places = b.keras.ops, WIDTH // HEADS, x.shape[1]
    q, k, v = (
        b.layers.EinsumDense("abc,cde->abde", (None, HEADS, size), bias_axes="de", name=f"{name}_{part}")(x)
        for part in _PARTS
    )
    scale = {"unscaled": 1.0, "whole width": WIDTH**-0.5, "width of a head": 1 / size}.get(wrong, size**-0.5)
    scores = scale * ops.einsum("aqhd,akhd->ahqk", q, k)
    allowed = np.tril(np.ones((places, places), np.float32))
    scores = scores + (allowed - 1) * 1e9
    shares = ops.softmax(scores, axis=1 if wrong == "softmax over heads" else -1)
    mixed = ops.einsum("ahqk,akhd->ahqd", shares, v)
    shape = (-1, places, HEADS, size)
    mixed = ops.reshape(mixed, shape) if wrong == "heads joined unmoved" else ops.transpose(mixed, (0, 2, 1, 3))
    return b.layers.EinsumDense("abde,dec->abc", (None, WIDTH), bias_axes="c", name=name)(mixed)


def written_out_weights(right: Any, layer: Any) -> list[np.ndarray]:
    """The weights of a layer's counterpart: the whole layer's, or its share where attention is written out.

    Raises:
        ValueError: there is none.
    """
    for place, part in enumerate(_PARTS):
        if layer.name.endswith(f"_{part}"):
            return list(right.get_layer(layer.name.removesuffix(f"_{part}")).get_weights()[2 * place : 2 * place + 2])
    values = right.get_layer(layer.name).get_weights()
    return list(values if len(values) == len(layer.weights) else values[len(values) - len(layer.weights) :])


def _flat_turned(kernel: np.ndarray) -> np.ndarray:
    return kernel.reshape(-1, kernel.shape[-1]).T.reshape(kernel.shape)


def _cut_otherwise(value: np.ndarray) -> np.ndarray:
    """Heads of every how-many-th column."""
    heads, size = value.shape[-2:]
    return value.reshape(*value.shape[:-2], size, heads).swapaxes(-1, -2)


def no_bias_of(*places: int) -> Any:
    """A change of weights: zeros at these places."""
    return lambda values, _: [0 * value if place in places else value for place, value in enumerate(values)]


def taken_from(order: Sequence[int]) -> Any:
    """A change of weights: the same in another order."""
    return lambda values, _: [values[place] for place in order]


def output_turned(values: list[np.ndarray], _: np.random.Generator) -> list[np.ndarray]:
    """The output projection's inputs and outputs exchanged."""
    return [*values[:6], _flat_turned(values[6]), *values[7:]]


def heads_cut_otherwise(values: list[np.ndarray], _: np.random.Generator) -> list[np.ndarray]:
    """Heads of query, key and value of every how-many-th column."""
    return [*(_cut_otherwise(value) for value in values[:6]), *values[6:]]


def groups_interleaved(values: list[np.ndarray], _: np.random.Generator) -> list[np.ndarray]:
    """Query heads share keys with every second, not with their neighbour: as if the keys were tiled, not repeated."""
    order = [0, 2, 1, 3]
    return [values[0][:, order], values[1][order], *values[2:6], values[6][order], *values[7:]]

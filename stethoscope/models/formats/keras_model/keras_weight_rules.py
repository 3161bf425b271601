"""Variables that each Keras layer creates: role, shape, and whether it is trained.

Source: the `build` methods of Keras 3.15 and tf_keras 2.21.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from stethoscope.models.formats.keras_model.keras_layer_shapes import layer_output_shapes
from stethoscope.models.formats.keras_model.keras_spatial_shapes import Config, Shapes, channels_first, tuple_of
from stethoscope.types import Shape


@dataclass(frozen=True)
class Weight:
    """One variable of a layer."""

    role: str
    shape: tuple[int, ...]
    trainable: bool = True

    @property
    def count(self) -> int:
        """Number of elements."""
        return prod(self.shape)


Weights = list[Weight]


class UnknownSize(Exception):
    """A size that the weights depend on is dynamic or missing."""


def size_of(shape: Shape | None, axis: int) -> int:
    """One dimension of a shape.

    Raises:
        UnknownSize: it is dynamic or not known.
    """
    if shape is None:
        raise UnknownSize
    size = shape[axis]
    if size is None:
        raise UnknownSize
    return size


def _channels(config: Config, shape: Shape | None) -> int:
    return size_of(shape, 1 if channels_first(config) else -1)


def _biased(config: Config, weights: Weights, size: int) -> Weights:
    return [*weights, Weight("bias", (size,))] if config.get("use_bias", True) is not False else weights


def _dense(config: Config, inputs: Shapes, modern: bool) -> Weights:
    units = int(config["units"])
    return _biased(config, [Weight("kernel", (size_of(inputs[0], -1), units))], units)


def _einsum_dense(config: Config, inputs: Shapes, modern: bool) -> Weights:
    left, right = str(config["equation"]).replace(" ", "").split("->")
    data, kernel = left.split(",")
    shape, wanted = inputs[0], config["output_shape"]
    if shape is None:
        raise UnknownSize
    wanted = [wanted] if isinstance(wanted, int) else list(wanted)
    letters = data.replace("...", "")
    sizes: dict[str, Any] = dict(zip(letters, shape[-len(letters) :], strict=False))
    out = right.replace("...", "")
    sizes.update({k: v for k, v in zip(out[-len(wanted) :], wanted, strict=False) if v is not None})
    weights = [Weight("kernel", tuple(_known(sizes[letter]) for letter in kernel))]
    axes = config.get("bias_axes")
    if axes:
        first = min(out.index(letter) for letter in axes)
        weights.append(Weight("bias", tuple(_known(sizes[k]) if k in axes else 1 for k in out[first:])))
    return weights


def _known(size: Any) -> int:
    if not isinstance(size, int):
        raise UnknownSize
    return size


def _conv(rank: int) -> Callable[[Config, Shapes, bool], Weights]:
    def rule(config: Config, inputs: Shapes, modern: bool) -> Weights:
        filters, kernel = int(config["filters"]), tuple_of(config["kernel_size"], rank)
        channels = _channels(config, inputs[0]) // int(config.get("groups") or 1)
        return _biased(config, [Weight("kernel", (*kernel, channels, filters))], filters)

    return rule


def _deconv(rank: int) -> Callable[[Config, Shapes, bool], Weights]:
    def rule(config: Config, inputs: Shapes, modern: bool) -> Weights:
        filters, kernel = int(config["filters"]), tuple_of(config["kernel_size"], rank)
        return _biased(config, [Weight("kernel", (*kernel, filters, _channels(config, inputs[0])))], filters)

    return rule


def _depthwise(rank: int) -> Callable[[Config, Shapes, bool], Weights]:
    def rule(config: Config, inputs: Shapes, modern: bool) -> Weights:
        channels, times = _channels(config, inputs[0]), int(config.get("depth_multiplier", 1))
        kernel = Weight("depthwise_kernel", (*tuple_of(config["kernel_size"], rank), channels, times))
        return _biased(config, [kernel], channels * times)

    return rule


def _separable(rank: int) -> Callable[[Config, Shapes, bool], Weights]:
    def rule(config: Config, inputs: Shapes, modern: bool) -> Weights:
        channels, times, filters = (
            _channels(config, inputs[0]),
            int(config.get("depth_multiplier", 1)),
            int(config["filters"]),
        )
        kernel = Weight("depthwise_kernel", (*tuple_of(config["kernel_size"], rank), channels, times))
        return _biased(
            config, [kernel, Weight("pointwise_kernel", (*([1] * rank), channels * times, filters))], filters
        )

    return rule


def _local(rank: int) -> Callable[[Config, Shapes, bool], Weights | None]:
    def rule(config: Config, inputs: Shapes, modern: bool) -> Weights | None:
        if config.get("implementation", 1) != 1:
            return None
        shape = layer_output_shapes(f"LocallyConnected{rank}D", config, inputs)[0]
        if shape is None:
            raise UnknownSize
        sizes = [_known(size) for size in (shape[2:] if channels_first(config) else shape[1:-1])]
        patch = prod(tuple_of(config["kernel_size"], rank)) * _channels(config, inputs[0])
        filters = int(config["filters"])
        weights = [Weight("kernel", (*sizes, patch, filters) if rank == 2 else (sizes[0], patch, filters))]
        return [*weights, Weight("bias", (*sizes, filters))] if config.get("use_bias", True) else weights

    return rule


def gated(gates: int) -> Callable[[Config, Shapes, bool], Weights]:
    """The rule of a recurrent layer or cell with so many gates."""

    def rule(config: Config, inputs: Shapes, modern: bool) -> Weights:
        units = int(config["units"])
        weights = [
            Weight("kernel", (size_of(inputs[0], -1), gates * units)),
            Weight("recurrent_kernel", (units, gates * units)),
        ]
        if config.get("use_bias", True) is not False:
            two = gates == 3 and config.get("reset_after")
            weights.append(Weight("bias", (2, gates * units) if two else (gates * units,)))
        return weights

    return rule


def _fused(gates: int) -> Callable[[Config, Shapes, bool], Weights]:
    def rule(config: Config, inputs: Shapes, modern: bool) -> Weights:
        units = int(config["units"])
        kernel = Weight("kernel", (size_of(inputs[0], -1), gates * units))
        return [kernel, Weight("recurrent_kernel", (units, gates * units)), Weight("bias", (2 * gates * units,))]

    return rule


def _conv_lstm(rank: int) -> Callable[[Config, Shapes, bool], Weights]:
    def rule(config: Config, inputs: Shapes, modern: bool) -> Weights:
        kernel, filters = tuple_of(config["kernel_size"], rank), int(config["filters"])
        channels = size_of(inputs[0], 2 if channels_first(config) else -1)
        weights = [
            Weight("kernel", (*kernel, channels, 4 * filters)),
            Weight("recurrent_kernel", (*kernel, filters, 4 * filters)),
        ]
        return _biased(config, weights, 4 * filters)

    return rule


def _embedding(config: Config, inputs: Shapes, modern: bool) -> Weights:
    weights = [Weight("embeddings", (int(config["input_dim"]), int(config["output_dim"])))]
    if config.get("tie_weights") is False:
        weights.append(Weight("reverse_embeddings", (int(config["output_dim"]), int(config["input_dim"]))))
    return weights


def _axes(config: Config) -> list[int]:
    axis = config.get("axis", -1)
    if isinstance(axis, dict):
        axis = axis.get("items", axis.get("config"))
    return [int(item) for item in axis] if isinstance(axis, list | tuple) else [int(axis)]


def _batch_normalization(config: Config, inputs: Shapes, modern: bool) -> Weights:
    shape = tuple(size_of(inputs[0], axis) for axis in _axes(config))
    weights = _scale_and_shift(config, shape)
    weights += [Weight("moving_mean", shape, False), Weight("moving_variance", shape, False)]
    if config.get("renorm"):
        extra = ("renorm_mean", "renorm_stddev") if not modern else ("moving_stddev", "renorm_mean", "renorm_stddev")
        weights += [Weight(role, shape, False) for role in extra]
        if not modern:
            weights.append(Weight("moving_stddev", shape, False))
    return weights


def _layer_normalization(config: Config, inputs: Shapes, modern: bool) -> Weights:
    shape = tuple(size_of(inputs[0], axis) for axis in _axes(config))
    if config.get("rms_scaling"):
        return [Weight("gamma", shape)]
    return _scale_and_shift(config, shape)


def _group_normalization(config: Config, inputs: Shapes, modern: bool) -> Weights:
    return _scale_and_shift(config, (size_of(inputs[0], _axes(config)[0]),))


def _scale_and_shift(config: Config, shape: tuple[int, ...]) -> Weights:
    weights = [Weight("gamma", shape)] if config.get("scale", True) else []
    return weights + ([Weight("beta", shape)] if config.get("center", True) else [])


def _rms_normalization(config: Config, inputs: Shapes, modern: bool) -> Weights:
    return [Weight("scale", tuple(size_of(inputs[0], axis) for axis in _axes(config)))]


def _prelu(config: Config, inputs: Shapes, modern: bool) -> Weights:
    if inputs[0] is None:
        raise UnknownSize
    shared = {int(axis) for axis in config.get("shared_axes") or ()}
    return [Weight("alpha", tuple(1 if i in shared else _known(s) for i, s in enumerate(inputs[0]) if i > 0))]


def _normalization(config: Config, inputs: Shapes, modern: bool) -> Weights:
    if config.get("mean") is not None:
        return []
    axis = config.get("axis", -1)
    axes = [] if axis is None else _axes(config)
    if inputs[0] is None:
        raise UnknownSize
    kept = sorted({item % len(inputs[0]) for item in axes})
    shape = tuple(size_of(inputs[0], item) for item in kept)
    return [Weight("mean", shape, False), Weight("variance", shape, False), Weight("count", (), False)]


def _layer_scale(config: Config, inputs: Shapes, modern: bool) -> Weights:
    return [Weight("gamma", (int(config["projection_dim"]),))]


def _attention(config: Config, inputs: Shapes, modern: bool) -> Weights:
    weights = [Weight("scale", ())] if config.get("use_scale") else []
    return [*weights, Weight("concat_score_weight", ())] if config.get("score_mode") == "concat" else weights


def _additive_attention(config: Config, inputs: Shapes, modern: bool) -> Weights:
    return [Weight("scale", (size_of(inputs[0], -1),))] if config.get("use_scale", True) else []


def _multi_head(config: Config, inputs: Shapes, modern: bool) -> Weights:
    query, value, key = (*inputs, None, None)[:3] if len(inputs) > 2 else (inputs[0], inputs[-1], None)
    key = value if key is None else key
    heads, size = int(config["num_heads"]), int(config["key_dim"])
    depth = int(config.get("value_dim") or size)
    out = config.get("output_shape")
    wide = (
        [size_of(query, -1)] if not out else [int(item) for item in (out if isinstance(out, list | tuple) else [out])]
    )
    read = (("query", query, heads, size), ("key", key, heads, size), ("value", value, heads, depth))
    weights = _projections(config, read, (heads, depth), tuple(wide))
    return weights + ([Weight("gate", (size_of(query, -1), heads, depth))] if config.get("use_gate") else [])


def _grouped_query(config: Config, inputs: Shapes, modern: bool) -> Weights:
    query, value = inputs[0], inputs[-1] if len(inputs) < 3 else inputs[1]
    key = inputs[2] if len(inputs) > 2 else value
    size, heads, groups = int(config["head_dim"]), int(config["num_query_heads"]), int(config["num_key_value_heads"])
    read = (("query", query, heads, size), ("key", key, groups, size), ("value", value, groups, size))
    return _projections(config, read, (heads, size), (size_of(query, -1),))


def _projections(
    config: Config, read: Sequence[tuple[str, Shape | None, int, int]], joined: tuple[int, int], out: tuple[int, ...]
) -> Weights:
    """Of attention: for each role what it reads, its heads and their width; `joined` are those that go into the output."""
    bias = config.get("use_bias", True) is not False
    weights: Weights = []
    for role, source, heads, width in read:
        weights.append(Weight(f"{role}/kernel", (size_of(source, -1), heads, width)))
        weights += [Weight(f"{role}/bias", (heads, width))] if bias else []
    weights.append(Weight("attention_output/kernel", (*joined, *out)))
    return weights + ([Weight("attention_output/bias", out)] if bias else [])


RULES: dict[str, Callable[[Config, Shapes, bool], Weights | None]] = {
    "Dense": _dense,
    "EinsumDense": _einsum_dense,
    **{f"{name}{rank}D": _conv(rank) for name in ("Conv", "Convolution") for rank in (1, 2, 3)},
    **{f"Conv{rank}DTranspose": _deconv(rank) for rank in (1, 2, 3)},
    **{f"DepthwiseConv{rank}D": _depthwise(rank) for rank in (1, 2)},
    **{f"SeparableConv{rank}D": _separable(rank) for rank in (1, 2)},
    **{f"LocallyConnected{rank}D": _local(rank) for rank in (1, 2)},
    "LSTM": gated(4),
    "GRU": gated(3),
    "SimpleRNN": gated(1),
    "CuDNNLSTM": _fused(4),
    "CuDNNGRU": _fused(3),
    **{f"ConvLSTM{rank}D": _conv_lstm(rank) for rank in (1, 2, 3)},
    "Embedding": _embedding,
    "ReversibleEmbedding": _embedding,
    **dict.fromkeys(
        ["BatchNormalization", "BatchNormalizationV1", "BatchNormalizationV2", "SyncBatchNormalization"],
        _batch_normalization,
    ),
    "LayerNormalization": _layer_normalization,
    "GroupNormalization": _group_normalization,
    "RMSNormalization": _rms_normalization,
    "PReLU": _prelu,
    "Normalization": _normalization,
    "LayerScale": _layer_scale,
    "Attention": _attention,
    "AdditiveAttention": _additive_attention,
    "MultiHeadAttention": _multi_head,
    "GroupQueryAttention": _grouped_query,
    "GroupedQueryAttention": _grouped_query,
}

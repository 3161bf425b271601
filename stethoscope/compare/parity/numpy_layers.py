"""What convolutions, poolings and their kin, and attention, of Keras compute, in plain numpy, whatever their rank.

What MultiHeadAttention, GroupQueryAttention, Attention and AdditiveAttention of Keras compute, in plain numpy.

Masks that tensors carry with them (an Embedding with mask_zero) are not seen here: a layer that has one is not reproduced.

Source: keras.io/api/layers/attention_layers; Vaswani and others, Attention Is All You Need, 2017; Ainslie and others, GQA, 2023.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.kernel_suspicions import Rule, Settings, Weights, ended, sizes


def pads(size: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    """As TensorFlow pads "same": the odd one at the end."""
    out = -(-size // stride)
    total = max(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - size)
    return total // 2, total - total // 2


def _windows(x: Array, kernel: Sequence[int], settings: Settings, fill: float = 0.0) -> Array:
    """(rows, *out, channels, *kernel) views of the padded input."""
    rank = len(kernel)
    strides = sizes(settings.get("strides") or 1, rank)
    dilation = sizes(settings.get("dilation_rate") or 1, rank)
    padding = str(settings.get("padding", "valid")).lower()
    padded = settings.get("pads")
    if padded is None and padding == "causal":
        padded = [((kernel[0] - 1) * dilation[0], 0)]
    if padded is None:
        same = padding == "same"
        padded = [
            pads(x.shape[1 + at], kernel[at], strides[at], dilation[at]) if same else (0, 0) for at in range(rank)
        ]
    x = np.pad(x, ((0, 0), *padded, (0, 0)), constant_values=fill)
    spans = [(size - 1) * dilation[at] + 1 for at, size in enumerate(kernel)]
    views = np.lib.stride_tricks.sliding_window_view(x, spans, axis=tuple(range(1, rank + 1)))
    picked = tuple(slice(None, None, strides[at]) for at in range(rank))
    taps = tuple(slice(None, None, dilation[at]) for at in range(rank))
    found: Array = views[(slice(None), *picked, slice(None), *taps)]
    return found


def convolution(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """Kernel (*size, inputs of a group, outputs)."""
    kernel, x = weights["kernel"], inputs[0]
    rank, groups = kernel.ndim - 2, int(settings.get("groups") or 1)
    if groups * kernel.shape[-2] != x.shape[-1]:
        raise KeyError("groups")
    views = _windows(x, kernel.shape[:rank], settings)
    moved = np.moveaxis(views, rank + 1, -1)  # (rows, *out, *kernel, channels)
    parts = []
    for part, own in zip(np.split(moved, groups, axis=-1), np.split(kernel, groups, axis=-1), strict=True):
        parts.append(part.reshape(*moved.shape[: rank + 1], -1) @ own.reshape(-1, own.shape[-1]))
    return ended(np.concatenate(parts, axis=-1), weights, settings)


def depthwise(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """Kernel (*size, channels, multiplier); "multiplier_first": the answers of one multiplier lie together."""
    kernel = next(weights[name] for name in ("depthwise_kernel", "kernel") if name in weights)
    rank = kernel.ndim - 2
    views = _windows(inputs[0], kernel.shape[:rank], settings)  # (rows, *out, channels, *kernel)
    flat = views.reshape(*views.shape[: rank + 2], -1)
    found = np.einsum("...ck,kcm->...cm", flat, kernel.reshape(-1, *kernel.shape[rank:]), optimize=True)
    if settings.get("multiplier_first"):
        found = found.swapaxes(-1, -2)
    return ended(found.reshape(*found.shape[: rank + 1], -1), weights, settings)


def separable(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """A depthwise convolution, then a kernel of size 1."""
    plain = {**settings, "activation": None, "use_bias": False}
    middle = depthwise(inputs, {"depthwise_kernel": weights["depthwise_kernel"]}, plain)
    return ended(middle @ weights["pointwise_kernel"].reshape(middle.shape[-1], -1), weights, settings)


def transposed(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """Kernel (*size, outputs, inputs); "same" takes off what a convolution from the larger picture would have padded.

    "crop": how many places are taken off at the start, for each axis, in place of that.
    """
    x, kernel = inputs[0], weights["kernel"]
    rank, size = kernel.ndim - 2, kernel.shape[:-2]
    strides, dilation = sizes(settings.get("strides") or 1, rank), sizes(settings.get("dilation_rate") or 1, rank)
    same = str(settings.get("padding", "valid")).lower() == "same"
    more = settings.get("output_padding")
    extra = (None,) * rank if more is None else sizes(more, rank)
    spans = [(size[at] - 1) * dilation[at] + 1 for at in range(rank)]
    outs, starts = [], []
    for at in range(rank):
        steps, added = x.shape[1 + at], extra[at]
        if added is None:
            out = steps * strides[at] if same else (steps - 1) * strides[at] + max(spans[at], strides[at])
        else:
            out = (steps - 1) * strides[at] + spans[at] - (2 * (spans[at] // 2) if same else 0) + added
        outs.append(out)
        starts.append(pads(out, size[at], strides[at], dilation[at])[0] if same else 0)
    crop = settings.get("crop")
    starts = starts if crop is None else [int(crop)] * rank
    room = [starts[at] + outs[at] + spans[at] + strides[at] + x.shape[1 + at] * strides[at] for at in range(rank)]
    found = np.zeros((len(x), *room, kernel.shape[-2]))
    for tap in np.ndindex(*size):
        begins = [tap[at] * dilation[at] for at in range(rank)]
        placed = tuple(
            slice(begins[at], begins[at] + (x.shape[1 + at] - 1) * strides[at] + 1, strides[at]) for at in range(rank)
        )
        found[(slice(None), *placed)] += x @ kernel[tap].T
    cut = tuple(slice(starts[at], starts[at] + outs[at]) for at in range(rank))
    return ended(found[(slice(None), *cut)], weights, settings)


def pooling(kind: str) -> Rule:
    """Of "max" or "average"; "count_include_pad" counts padded places in a mean."""

    def apply(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
        x = inputs[0]
        size = sizes(settings.get("pool_size") or 2, x.ndim - 2)
        asked = {**settings, "strides": settings.get("strides") or size, "dilation_rate": 1}
        axes = tuple(range(-len(size), 0))
        if kind == "max":
            found: Array = _windows(x, size, asked, -np.inf).max(axis=axes)
            return found
        total = _windows(x, size, asked).sum(axis=axes)
        if settings.get("count_include_pad"):
            return np.asarray(total / float(np.prod(size)))
        return np.asarray(total / _windows(np.ones_like(x[:1]), size, asked).sum(axis=axes))

    return apply


def global_pooling(kind: str) -> Rule:
    """Of "max" or "average", over all places."""
    function: Any = {"max": np.max, "average": np.mean}[kind]

    def apply(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
        axes, keep = tuple(range(1, inputs[0].ndim - 1)), bool(settings.get("keepdims"))
        return np.asarray(function(inputs[0], axis=axes, keepdims=keep))

    return apply


MANY_HEADED = ("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention")
SIMPLE = ("Attention", "AdditiveAttention")
ROLES = ("query", "key", "value", "output")
_HIDDEN = -1e9
"""The score of what may not be seen: a query that may see nothing looks at all alike, as it does in float32."""
_PARTS = {"kernel": "kernel", "0": "kernel", "bias": "bias", "1": "bias"}


def attention_weight(name: str) -> str:
    """ "query_kernel", "output_bias" … of a weight of such a layer as a file calls it; the name itself where it says nothing.

    Keras 3 keeps "query_dense/0", Keras 2 "query/kernel:0" and "attention_output/bias:0".
    """
    parts = name.lower().split(":")[0].split("/")
    part = _PARTS.get(parts[-1])
    role = next((role for role in ROLES for one in reversed(parts[:-1]) if role in one), None)
    return parts[-1] if part is None or role is None else f"{role}_{part}"


def call_settings(kind: str, count: int) -> list[Settings]:
    """What a call may have been told that no config says, the likeliest first: what gives the layer's answer is what it was.

    Args:
        kind: of layer.
        count: how many arrays it reads.
    """
    if kind not in (*MANY_HEADED, *SIMPLE):
        return [{}]
    orders: list[tuple[int, ...]] = [tuple(range(count))]
    if kind in MANY_HEADED and 2 <= count <= 3:
        orders += [one for one in itertools.permutations(range(count)) if one != orders[0]]
    masked = [False, True] if kind in MANY_HEADED and count >= 3 else [False]
    return [
        {"causal": causal, "order": order, "mask_last": last}
        for last in masked
        for order in orders
        for causal in (False, True)
    ]


def many_headed(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """Reads query, value and (else the value) key, each (rows, places, width).

    Settings that no config has: "causal", "order" (of what it reads), "mask_last" (the last of them is the mask),
    "scale", "softmax_axis" ("keys", "heads"), "split" and "merge" ("unmoved": reshaped without moving the axis of the heads).

    Raises:
        KeyError: weights are missing, or settings that are not known here.
    """
    if (
        settings.get("use_gate")
        or settings.get("sliding_window")
        or tuple(settings.get("attention_axes") or (1,)) != (1,)
    ):
        raise KeyError("use_gate")
    ordered = [inputs[at] for at in settings.get("order") or range(len(inputs))]
    mask = ordered.pop() if settings.get("mask_last") else None
    query, value = ordered[0], ordered[1] if len(ordered) > 1 else ordered[0]
    key = ordered[2] if len(ordered) > 2 else value
    unmoved = settings.get("split") == "unmoved"
    q, k, v = (_heads(x, weights, role, unmoved) for x, role in ((query, "query"), (key, "key"), (value, "value")))
    each = q.shape[1] // k.shape[1]
    if each > 1 and settings.get("groups_interleaved"):
        k, v = np.tile(k, (1, each, 1, 1)), np.tile(v, (1, each, 1, 1))
    elif each > 1:
        k, v = np.repeat(k, each, axis=1), np.repeat(v, each, axis=1)
    scale = float(settings.get("scale", 1 / np.sqrt(q.shape[-1])))
    scores = scale * (q @ k.swapaxes(-1, -2))  # (rows, heads, queries, keys)
    if mask is not None:
        scores = np.where((mask if mask.ndim == 4 else mask[:, None]) > 0, scores, _HIDDEN)
    mixed = _shares(scores, settings) @ v
    if settings.get("merge") == "unmoved":
        mixed = mixed.reshape(len(mixed), mixed.shape[2], mixed.shape[1], mixed.shape[3])
    else:
        mixed = mixed.swapaxes(1, 2)
    kernel = weights["output_kernel"]
    flat = mixed.reshape(*mixed.shape[:2], -1) @ kernel.reshape(-1, *kernel.shape[2:])
    return np.asarray(flat + weights.get("output_bias", np.zeros(())))


def _heads(x: Array, weights: Weights, role: str, unmoved: bool) -> Array:
    """(rows, heads, places, width of a head)."""
    kernel = weights[f"{role}_kernel"]
    count, wide = kernel.shape[1:]
    flat = x @ kernel.reshape(kernel.shape[0], -1)
    flat = flat + np.reshape(weights.get(f"{role}_bias", np.zeros(count * wide)), -1)
    if unmoved:
        return flat.reshape(len(x), count, x.shape[1], wide)
    return flat.reshape(len(x), x.shape[1], count, wide).swapaxes(1, 2)


def simple(kind: str) -> Rule:
    """The rule of "Attention" or "AdditiveAttention": reads query, value and (else the value) key."""

    def apply(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
        ordered = [inputs[at] for at in settings.get("order") or range(len(inputs))]
        query, value = ordered[0], ordered[1] if len(ordered) > 1 else ordered[0]
        key = ordered[2] if len(ordered) > 2 else value
        both = (
            query[:, :, None] + key[:, None]
            if kind == "AdditiveAttention" or settings.get("score_mode") == "concat"
            else None
        )
        scale = settings.get("scale", weights.get("scale", np.ones(())))
        if both is None:
            scores = scale * (query @ key.swapaxes(-1, -2))
        elif kind == "AdditiveAttention":
            scores = (scale * np.tanh(both)).sum(axis=-1)
        else:
            scores = weights.get("concat_score_weight", np.ones(())) * np.tanh(scale * both).sum(axis=-1)
        return _shares(scores, settings) @ value

    return apply


def _shares(scores: Array, settings: Settings) -> Array:
    """Softmax over the keys, with what a query may not see taken out before."""
    if settings.get("causal"):
        queries, keys = scores.shape[-2:]
        scores = np.where(np.arange(keys)[None] <= np.arange(queries)[:, None], scores, _HIDDEN)
    axis = 1 if settings.get("softmax_axis") == "heads" else -1
    made = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(made / made.sum(axis=axis, keepdims=True))

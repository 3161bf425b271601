"""What MultiHeadAttention, GroupQueryAttention, Attention and AdditiveAttention of Keras compute, in plain numpy.

Masks that tensors carry with them (an Embedding with mask_zero) are not seen here: a layer that has one is not reproduced.

Source: keras.io/api/layers/attention_layers; Vaswani and others, Attention Is All You Need, 2017; Ainslie and others, GQA, 2023.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.kernel_suspicions import Rule, Settings, Weights

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

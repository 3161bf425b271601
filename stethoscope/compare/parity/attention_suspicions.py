"""What may be wrong with a layer of attention, as changes that can be tried.

Source: keras-team/keras#23038 (the causal mask dropped), delzac/cntkx#10 and FrancescoSaverioZuppichini/ViT#1 (the scale),
amdegroot/ssd.pytorch#114 (a softmax without an axis takes the first but the rows, of scores the heads), keras.io/api/layers/attention_layers
(query, value, key: PyTorch has query, key, value), reczoo/FuxiCTR#30 and jsbaan/transformer-from-scratch#6 (heads reshaped, not moved),
onnx/onnx#7274 (keys tiled, not repeated).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.compare.parity.attention import MANY_HEADED, ROLES, SIMPLE
from stethoscope.compare.parity.attention_weight_suspicions import HEADS_ADVICE, attention_weight_suspicions
from stethoscope.compare.parity.layer_rule import Settings, Weights
from stethoscope.compare.parity.suspicion import Estimate, Suspicion
from stethoscope.types import Layer


def attention_suspicions(layer: Layer, weights: Weights, known: Settings) -> Iterator[Suspicion | Estimate]:
    """Everything that is tried for a layer of attention; nothing for other layers.

    Args:
        layer: of the group.
        weights: by the names of `attention_weight`.
        known: what the call was found to be told, one of `call_settings`.
    """
    if layer.type not in (*MANY_HEADED, *SIMPLE):
        return
    many = layer.type in MANY_HEADED and all(f"{role}_kernel" in weights for role in ROLES)
    yield from _masks(known)
    yield from _inputs(known)
    if many:
        yield Suspicion(
            "softmax-axis",
            "The softmax goes over another axis",
            "takes its softmax over the heads",
            "Take the softmax over the keys (the last axis of the scores).",
            {"softmax_axis": "heads"},
        )
        yield from _head_axes(weights)
        yield from attention_weight_suspicions(weights)
    yield _scale(weights)


def _masks(known: Settings) -> Iterator[Suspicion]:
    advice = "Give both the same mask (use_causal_mask in Keras)."
    causal = bool(known.get("causal"))
    yield Suspicion(
        "mask",
        "The causal mask is missing" if causal else "A causal mask was added",
        f"lets each place look at {'those after it too' if causal else 'itself and those before it only'}",
        advice,
        {"causal": not causal},
    )
    if known.get("mask_last"):
        yield Suspicion(
            "mask",
            "The mask is missing",
            "does not use the mask that it is given",
            advice,
            {"mask_last": False, "order": known.get("order", ())[:-1]},
        )


def _scale(weights: Weights) -> Estimate:
    kernel = weights.get("query_kernel")
    own = float(np.mean(weights.get("scale", 1.0))) if kernel is None else float(kernel.shape[2] ** -0.5)

    def scaled(scale: float) -> Suspicion:
        unscaled = abs(scale - 1) < 1e-3 < abs(own - 1)
        return Suspicion(
            "attention-scale",
            "The scale of attention is missing" if unscaled else "Another scale of attention",
            "does not scale its scores" if unscaled else f"multiplies its scores by {scale:.4g}, not by {own:.4g}",
            f"Multiply the scores by {own:.4g} in both, before the softmax.",
            {"scale": scale},
        )

    return Estimate(scaled, (own, 1.0, own * own))


def _inputs(known: Settings) -> Iterator[Suspicion]:
    order: tuple[int, ...] = tuple(known.get("order") or ())
    names = ("query", "value", "key")
    for one in range(min(len(order), 3)):
        for other in range(one + 1, min(len(order), 3)):
            moved = list(order)
            moved[one], moved[other] = moved[other], moved[one]
            yield Suspicion(
                "exchanged-inputs",
                "Inputs are exchanged",
                f"is given the {names[other]} as {names[one]} and the {names[one]} as {names[other]}",
                "Call both with query, value and key in the same order.",
                {"order": tuple(moved)},
            )


def _head_axes(weights: Weights) -> Iterator[Suspicion]:
    title = "Heads are cut otherwise"
    for settings, told in (
        ({"merge": "unmoved"}, "joins its heads without moving their axis back"),
        ({"split": "unmoved"}, "cuts its heads without moving their axis"),
        ({"split": "unmoved", "merge": "unmoved"}, "cuts and joins its heads without moving their axis"),
    ):
        yield Suspicion("head-order", title, told, HEADS_ADVICE, dict(settings))
    if weights["key_kernel"].shape[1] != weights["query_kernel"].shape[1]:
        yield Suspicion(
            "head-order",
            "Heads are grouped otherwise",
            "shares keys and values between every how-many-th head, not neighbours",
            HEADS_ADVICE,
            {"groups_interleaved": True},
        )

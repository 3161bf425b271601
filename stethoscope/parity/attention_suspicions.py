"""What may be wrong with a layer of attention, as changes that can be tried."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.parity.attention import MANY_HEADED, ROLES, SIMPLE
from stethoscope.parity.attention_weight_suspicions import HEADS_ADVICE, attention_weight_suspicions
from stethoscope.parity.layer_rule import Settings, Weights
from stethoscope.parity.suspicion import Suspicion
from stethoscope.types import Layer


def attention_suspicions(
    layer: Layer, weights: Weights, worst: tuple[int, ...], known: Settings
) -> Iterator[Suspicion]:
    """Everything that is tried for a layer of attention; nothing for other layers.

    Args:
        layer: of the group.
        weights: by the names of `attention_weight`.
        worst: channels that differ most.
        known: what the call was found to be told, one of `call_settings`.
    """
    if layer.type in (*MANY_HEADED, *SIMPLE):
        yield from _masks(known)
        yield from _scales(layer, weights)
        yield from _axes(layer)
        yield from _inputs(known)
    if layer.type in MANY_HEADED and all(f"{role}_kernel" in weights for role in ROLES):
        yield from _head_axes(weights)
        yield from attention_weight_suspicions(weights, worst)


def _masks(known: Settings) -> Iterator[Suspicion]:
    advice = "Give both the same mask (use_causal_mask in Keras)."
    if known.get("causal"):
        yield Suspicion(
            "mask",
            "The causal mask is missing",
            "lets each place look at those after it too",
            advice,
            {"causal": False},
        )
        yield Suspicion(
            "mask", "Another mask", "lets each place look at those before it, not at itself", advice, {"ahead": -1}
        )
        yield Suspicion("mask", "Another mask", "lets each place look one place ahead", advice, {"ahead": 1})
        turned = {"causal": False, "backward": True}
    else:
        yield Suspicion(
            "mask",
            "A causal mask was added",
            "lets each place look at itself and those before it only",
            advice,
            {"causal": True},
        )
        turned = {"backward": True}
    yield Suspicion(
        "mask", "The mask is turned around", "lets each place look at itself and those after it only", advice, turned
    )
    if known.get("mask_last"):
        yield Suspicion(
            "mask",
            "The mask is missing",
            "does not use the mask that it is given",
            advice,
            {"mask_last": False, "order": known.get("order", ())[:-1]},
        )


def _scales(layer: Layer, weights: Weights) -> Iterator[Suspicion]:
    kernel = weights.get("query_kernel")
    if kernel is None:
        wide = int((layer.output_shape or (1,))[-1] or 1)
        own = float(np.mean(weights.get("scale", 1.0)))
        sizes = {"the width": wide}
    else:
        own = kernel.shape[2] ** -0.5
        sizes = {
            "the width of all heads": kernel.shape[1] * kernel.shape[2],
            "the width of a value": weights["value_kernel"].shape[2] if "value_kernel" in weights else 1,
            "the width of what it reads": kernel.shape[0],
            "the number of heads": kernel.shape[1],
        }
        yield _scale("divides its scores by the width of a head, not by its root", 1 / kernel.shape[2], own)
        yield _scale("multiplies its scores by the root of the width of a head", kernel.shape[2] ** 0.5, own)
        yield _scale("scales its scores by the root of the width twice", own * own, own)
    if abs(own - 1) > 1e-6:
        yield _scale("does not scale its scores", 1.0, own)
    for said, size in sizes.items():
        if size > 0 and abs(size**-0.5 - own) > 1e-6:
            yield _scale(f"divides its scores by the root of {said} ({size})", size**-0.5, own)


def _scale(told: str, scale: float, own: float) -> Suspicion:
    title = "The scale of attention is missing" if scale == 1 else "Another scale of attention"
    return Suspicion(
        "attention-scale",
        title,
        told,
        f"Multiply the scores by {own:.4g} in both, before the softmax.",
        {"scale": scale},
    )


def _axes(layer: Layer) -> Iterator[Suspicion]:
    advice = "Take the softmax over the keys (the last axis of the scores)."
    yield Suspicion(
        "softmax-axis",
        "The softmax goes over another axis",
        "takes its softmax over the queries",
        advice,
        {"softmax_axis": "queries"},
    )
    if layer.type in MANY_HEADED:
        yield Suspicion(
            "softmax-axis",
            "The softmax goes over another axis",
            "takes its softmax over the heads",
            advice,
            {"softmax_axis": "heads"},
        )


def _inputs(known: Settings) -> Iterator[Suspicion]:
    order: tuple[int, ...] = tuple(known.get("order") or ())
    names = ("query", "value", "key")
    for one in range(min(len(order), 3)):
        for other in range(one + 1, min(len(order), 3)):
            moved = list(order)
            moved[one], moved[other] = moved[other], moved[one]
            yield Suspicion("exchanged-inputs", "Inputs are exchanged", f"is given the {names[other]} as {names[one]} and the {names[one]} as {names[other]}",
                            "Call both with query, value and key in the same order.", {"order": tuple(moved)})  # fmt: skip


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

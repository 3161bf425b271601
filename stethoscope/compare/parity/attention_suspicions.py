"""What may be wrong with a layer of attention, as changes that can be tried.

Source: keras-team/keras#23038 (the causal mask dropped), delzac/cntkx#10 and FrancescoSaverioZuppichini/ViT#1 (the scale),
amdegroot/ssd.pytorch#114 (a softmax without an axis takes the first but the rows, of scores the heads), keras.io/api/layers/attention_layers
(query, value, key: PyTorch has query, key, value), reczoo/FuxiCTR#30 and jsbaan/transformer-from-scratch#6 (heads reshaped, not moved),
onnx/onnx#7274 (keys tiled, not repeated).

What may be wrong with the weights of a layer of attention with many heads, as changes that can be tried.

Source: tenstorrent/tt-mlir#8958 and awslabs/slapo#46 (query, key and value taken for each other, columns cut into heads otherwise),
fastmachinelearning/qonnx#25 (a bias lost), ArtemBoyarintsev/MachineLearningTools (dense kernels of PyTorch are transposed).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.kernel_suspicions import AGAIN, Estimate, Settings, Suspicion, Weights, transposed
from stethoscope.compare.parity.numpy_layers import MANY_HEADED, ROLES, SIMPLE
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


HEADS_ADVICE = (
    "Give both kernels the shape (inputs, heads, width of a head), and move the axis of the heads before the places."
)


def attention_weight_suspicions(weights: Weights) -> Iterator[Suspicion]:
    """Everything that is tried for the weights.

    Args:
        weights: by the names of `attention_weight`, with the kernels of all roles.
    """
    yield from _exchanged(weights)
    yield from _biases(weights)
    yield from _turned(weights)
    yield from _head_order(weights)


def _exchanged(weights: Weights) -> Iterator[Suspicion]:
    for one, other in (("query", "key"), ("key", "value"), ("query", "value")):
        names = {f"{a}_{part}": f"{b}_{part}" for part in ("kernel", "bias") for a, b in ((one, other), (other, one))}
        present = {name: weights[source] for name, source in names.items() if source in weights and name in weights}
        if len(present) < 2 or any(value.shape != weights[name].shape for name, value in present.items()):
            continue
        yield Suspicion(
            "exchanged-weights",
            "Weights are exchanged",
            f"has the weights of its {one} and its {other} exchanged",
            AGAIN,
            weights=present,
        )


def _biases(weights: Weights) -> Iterator[Suspicion]:
    names = [f"{role}_bias" for role in ROLES if weights.get(f"{role}_bias", np.zeros(1)).any()]
    for group in (*([one] for one in names), names[:3], names):
        if group:
            said = " and ".join(name.removesuffix("_bias") for name in group)
            yield Suspicion(
                "bias",
                "The bias is missing",
                f"adds no bias to its {said}",
                AGAIN,
                weights={name: np.zeros_like(weights[name]) for name in group},
            )


def _turned(weights: Weights) -> Iterator[Suspicion]:
    for role in reversed(ROLES):
        name = f"{role}_kernel"
        kernel = weights[name]
        flat = kernel.reshape(-1, kernel.shape[-1]) if role == "output" else kernel.reshape(kernel.shape[0], -1)
        if flat.shape[0] == flat.shape[1]:
            yield transposed(
                f"has the kernel of its {role} with inputs and outputs swapped", {name: flat.T.reshape(kernel.shape)}
            )


def _regrouped(weights: Weights, role: str, *, back: bool) -> dict[str, Array]:
    """The same columns, cut into heads the other way: every how-many-th column makes a head."""
    found = {}
    for part in ("kernel", "bias"):
        name = f"{role}_{part}"
        if name not in weights or (role == "output" and part == "bias"):
            continue
        values = weights[name]
        at = 0 if role == "output" or values.ndim == 2 else 1
        heads, wide = values.shape[at : at + 2]
        cut = (heads, wide) if back else (wide, heads)
        moved = values.reshape(*values.shape[:at], *cut, *values.shape[at + 2 :])
        found[name] = moved.swapaxes(at, at + 1).reshape(values.shape)
    return found


def _head_order(weights: Weights) -> Iterator[Suspicion]:
    for back in (False, True):
        for roles in (ROLES, ROLES[:3], ROLES[3:]):
            moved: dict[str, Array] = {}
            for role in roles:
                moved |= _regrouped(weights, role, back=back)
            yield Suspicion(
                "head-order",
                "Heads are cut otherwise",
                f"has the heads of its {' and '.join(roles)} cut in another order (width before heads)",
                HEADS_ADVICE,
                weights=moved,
            )

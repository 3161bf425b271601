"""What may be wrong with an activation, as changes that can be tried."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.parity.activation_forms import FORMS
from stethoscope.parity.layer_rule import Weights
from stethoscope.parity.suspicion import Suspicion
from stethoscope.types import Layer

_ENDS = ("linear", "relu", "relu6", "sigmoid", "tanh", "softmax", "elu", "silu", "softplus", "gelu")
_ALONE = ("ReLU", "LeakyReLU", "ELU", "PReLU", "Softmax", "GELU", "Swish", "SiLU", "ThresholdedReLU", "Activation")
_SLOPES = (0.0, 0.001, 0.01, 0.02, 0.05, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 1.0)
_SETTINGS = {
    "LeakyReLU": ("negative_slope", _SLOPES),
    "ReLU": ("negative_slope", _SLOPES),
    "ELU": ("alpha", (0.1, 0.2, 0.25, 0.3, 0.5, 0.75, 1.0, 1.5, 1.6732632, 2.0)),
    "ThresholdedReLU": ("theta", (0.0, 0.01, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0)),
}


def activation_suspicions(layer: Layer, weights: Weights) -> Iterator[Suspicion]:
    """Everything that is tried for an activation, or for a layer that ends in one; nothing for other layers.

    Args:
        layer: of the group.
        weights: by short names.
    """
    kind = layer.type
    told = str(layer.config.get("activation") or kind.lower())
    name, values = _SETTINGS.get(kind, ("", ()))
    for value in values:
        if value != layer.config.get(name):
            said = {"theta": "is zero below", "alpha": "has alpha"}.get(name, "has a slope below zero of")
            yield Suspicion(
                "activation",
                "Another slope of the activation",
                f"{said} {value:g}",
                f"Give both the same {name}.",
                {name: value},
            )
    if kind == "ReLU":
        for high in (1.0, 6.0, None):
            if high != layer.config.get("max_value"):
                yield Suspicion(
                    "activation",
                    "Another bound of the activation",
                    f"is cut off at {high:g}" if high else "is not cut off",
                    "Give both the same max_value.",
                    {"max_value": high},
                )
    if kind == "PReLU" and "alpha" in weights:
        yield from _slopes(weights)
    if kind == "Softmax":
        for axis in range(1, len(layer.output_shape or ())):
            yield Suspicion(
                "softmax-axis",
                "The softmax goes over another axis",
                f"takes its softmax over axis {axis}",
                "Give both the same axis.",
                {"axis": axis},
            )
    if kind in _ALONE:
        for form, title, _ in FORMS:
            gelu = "gelu" in told and form.startswith("gelu")
            yield Suspicion("gelu-form" if gelu else "activation", "Another form of GELU" if gelu else "Another activation", f"computes {title}",
                            f"Set the same activation in both ({title}).", form=form)  # fmt: skip
    elif "activation" in layer.config:
        for end in _ENDS:
            if end != told:
                yield Suspicion(
                    "activation",
                    "Another activation",
                    f"ends in {end} instead of {told}",
                    "Set the same activation in both.",
                    {"activation": end},
                )


def _slopes(weights: Weights) -> Iterator[Suspicion]:
    alpha = weights["alpha"]
    advice = "Export again from the model whose weights are right."
    for made, told in (
        (0 * alpha, "has no slope below zero (is a ReLU)"),
        (-alpha, "has its slopes with the opposite sign"),
        (np.full_like(alpha, alpha.mean()), "has one slope for all channels, their mean"),
        (alpha[..., ::-1], "has its slopes in reverse order"),
        *((np.full_like(alpha, one), f"has a slope of {one:g} everywhere") for one in _SLOPES[1:]),
    ):
        yield Suspicion("activation", "Another slope of the activation", told, advice, weights={"alpha": made})

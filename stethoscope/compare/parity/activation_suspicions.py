"""What may be wrong with an activation, as changes that can be tried.

An activation is lost, or another form of the same one is taken, where frameworks mean different functions by a name; slopes and alphas
are left at another framework's default.

Source: onnx/onnx-tensorflow#607 (lost), onnx/tensorflow-onnx#1280 (the bound of ReLU6), huggingface/candle#900 and
ROCm/AMDMIGraphX#2542 (forms of GELU), PaddlePaddle/Paddle#44820 (slope of a hard sigmoid), jinyu121/DW2TF#2 (slope of leaky ReLU),
llvm/torch-mlir#3583 (alpha of ELU), keras-team/keras#13543 (PReLU), onnx.ai/onnx/operators/onnx__Softmax (axis before opset 13).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.architecture.activations import LINEAR, RELU, SIGMOID, SOFTMAX, TANH
from stethoscope.architecture.formulas import ALIKE, FORMS, Form, leaky
from stethoscope.architecture.layer_kinds import Kind, kind_of
from stethoscope.compare.parity.kernel_suspicions import Estimate, Suspicion, Weights
from stethoscope.types import Layer

_LEFT_TO_THE_CALLER = (RELU.name, SIGMOID.name, SOFTMAX.name, TANH.name)
"""What a file may leave out, or the other may add (answers before the softmax)."""


def stand_ins(told: object) -> tuple[str, ...]:
    """What may stand in the place of an activation, by the names of Keras or of `FORMS`."""
    name = str(told or LINEAR.name).lower().replace("_", "-")
    if name == LINEAR.name:
        return _LEFT_TO_THE_CALLER
    alike = next((names for names in ALIKE if name in names), ())
    return (LINEAR.name, *(one for one in alike if one != name))


def activation_suspicions(layer: Layer, weights: Weights) -> Iterator[Suspicion | Estimate]:
    """Everything that is tried for an activation, or for a layer that ends in one; nothing for other layers.

    Args:
        layer: of the group.
        weights: by short names.
    """
    kind = layer.type
    if kind == RELU.layer:
        for high in (6.0, None):
            if high != layer.config.get("max_value"):
                yield Suspicion(
                    "activation",
                    "Another bound of the activation",
                    f"is cut off at {high:g}" if high else "is not cut off",
                    "Give both the same max_value.",
                    {"max_value": high},
                )
    if kind == SOFTMAX.layer:
        for axis in range(1, len(layer.output_shape or ())):
            yield Suspicion(
                "softmax-axis",
                "The softmax goes over another axis",
                f"takes its softmax over axis {axis}",
                "Give both the same axis.",
                {"axis": axis},
            )
    if kind_of(kind, 0) is Kind.ACTIVATION:
        yield from (_computes(form, layer) for form in FORMS)
        yield from _slopes(layer, weights)
    elif "activation" in layer.config:
        for end in stand_ins(layer.config.get("activation")):
            yield Suspicion(
                "activation",
                "Another activation",
                f"ends in {end} instead of {layer.config.get('activation')}",
                "Set the same activation in both.",
                {"activation": end},
            )


def _computes(form: Form, layer: Layer) -> Suspicion:
    gelu = "gelu" in str(layer.config.get("activation") or layer.type).lower() and form.name.startswith("gelu")
    return Suspicion(
        "gelu-form" if gelu else "activation",
        "Another form of GELU" if gelu else "Another activation",
        f"computes {form.title}",
        f"Set the same activation in both ({form.title}).",
        function=form.function,
    )


def _slopes(layer: Layer, weights: Weights) -> Iterator[Estimate]:
    def slope(value: float) -> Suspicion:
        learned = weights.get("alpha") if layer.type == "PReLU" else None
        return Suspicion(
            "activation",
            "Another slope of the activation",
            f"has a slope below zero of {value:.4g}" if value else "has no slope below zero (is a ReLU)",
            "Give both the same negative_slope.",
            weights={} if learned is None else {"alpha": np.full_like(learned, value)},
            function=leaky(value) if learned is None else None,
        )

    def alpha(value: float) -> Suspicion:
        return Suspicion(
            "activation",
            "Another slope of the activation",
            f"has alpha {value:.4g}",
            "Give both the same alpha.",
            {"alpha": value},
        )

    own = float(layer.config.get("negative_slope") or 0.0)
    yield Estimate(slope, (float(np.mean(weights["alpha"])) if "alpha" in weights else own,))
    if layer.type == "ELU":
        yield Estimate(alpha, (float(layer.config.get("alpha") or 1.0),))

"""What may be wrong with an activation or a normalisation, as changes that can be tried.

An activation is lost, or another form of the same one is taken, where frameworks mean different functions by a name; slopes and alphas
are left at another framework's default.

Source: onnx/onnx-tensorflow#607 (lost), onnx/tensorflow-onnx#1280 (the bound of ReLU6), huggingface/candle#900 and
ROCm/AMDMIGraphX#2542 (forms of GELU), PaddlePaddle/Paddle#44820 (slope of a hard sigmoid), jinyu121/DW2TF#2 (slope of leaky ReLU),
llvm/torch-mlir#3583 (alpha of ELU), keras-team/keras#13543 (PReLU), onnx.ai/onnx/operators/onnx__Softmax (axis before opset 13).

What may be wrong with a normalisation, as changes that can be tried.

Source: gzuidhof/nn-transfer#3 (epsilon 1e-3 in Keras, 1e-5 in PyTorch), keras-team/keras#10427 (epsilon outside of the root),
Dobiasd/frugally-deep#284 (training mode), onnx/tensorflow-onnx#1610 (statistics not loaded), codertimo/BERT-pytorch#30 (unbiased variance),
facebookresearch/ConvNeXt#136 (axes), onnx/onnx-tensorrt#1052 (groups), huggingface/transformers#14772 (the mean in RMSNormalization),
utensils/mold#1078 (one added to its scale).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.architecture.activations import LINEAR, RELU, SIGMOID, SOFTMAX, TANH
from stethoscope.architecture.formulas import ALIKE, FORMS, Array, Form, leaky
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


_MISSING = "{} is missing"
FACTORS_MISSING = frozenset(_MISSING.format(name) for name in ("gamma", "scale"))
"""Titles of suspicions that the factor by which a layer multiplies is 1."""


def normalization_suspicions(layer: Layer, weights: Weights) -> Iterator[Suspicion | Estimate]:
    """Everything that is tried for a normalisation; nothing for other layers.

    Args:
        layer: of the group.
        weights: by short names.
    """
    kind = layer.type
    if "Normalization" not in kind:
        return
    if kind == "BatchNormalization":
        yield Suspicion(
            "training-mode",
            "BatchNormalization in training mode",
            "normalises with the mean and variance of the batch, not its moving statistics",
            "Export in inference mode (training=False), and do not call the layer with training=True.",
            {"training": True},
        )
    if kind == "GroupNormalization":
        yield from _groups(layer)
    if kind == "RMSNormalization":
        yield from _rms(weights)
    if kind == "Normalization":
        yield Suspicion(
            "preprocessing",
            "Preprocessing outside the model",
            "does nothing",
            "Normalise the input before the second model, or put the step into it.",
            {"nothing": True},
        )
    if kind in ("LayerNormalization", "GroupNormalization"):
        advice = "Divide the squares by the number of values in both, and add epsilon to the variance."
        yield Suspicion(
            "variance",
            "Another form of the variance",
            "divides the squares by one value less (the unbiased variance)",
            advice,
            {"unbiased": True},
        )
        yield Suspicion(
            "variance",
            "Another form of the variance",
            "divides the squares by one value less, and adds epsilon to the root",
            advice,
            {"unbiased": True, "epsilon_outside": True},
        )
    if kind in ("LayerNormalization", "UnitNormalization", "RMSNormalization"):
        rank = len(layer.output_shape or ())
        for axis in (*range(1, rank), list(range(1, rank))):
            yield Suspicion(
                "axis",
                "Another axis",
                f"normalises over axis {axis}",
                "Normalise over the same axes in both.",
                {"axis": axis},
            )
    yield from _neutral(layer, weights)
    if "epsilon" in layer.config:
        yield from _epsilons(layer)


def _epsilons(layer: Layer) -> Iterator[Suspicion | Estimate]:
    own = float(layer.config["epsilon"])
    yield Suspicion(
        "epsilon",
        f"Another place of epsilon in {layer.type}",
        "adds epsilon to the root, not below it",
        "Add epsilon to the variance in both.",
        {"epsilon_outside": True},
    )
    yield Estimate(
        lambda epsilon: Suspicion(
            "epsilon",
            f"Another epsilon of {layer.type}",
            f"has epsilon {epsilon:.3g} instead of {own:.3g}",
            "Give both the same epsilon.",
            {"epsilon": epsilon},
        ),
        (own,),
        low=0.0,
    )


def _groups(layer: Layer) -> Iterator[Suspicion]:
    own, wide = int(layer.config.get("groups") or 32), (layer.output_shape or (0,))[-1] or 0
    for groups, said in ((1, "all channels in one group"), (wide, "each channel for itself")):
        if groups and groups != own:
            yield Suspicion(
                "groups",
                "Another number of groups",
                f"takes {said}, not {own} groups",
                "Give both the same number of groups.",
                {"groups": groups},
            )


def _rms(weights: Weights) -> Iterator[Suspicion]:
    yield Suspicion(
        "variance",
        "Another form of the variance",
        "takes the mean off before (as LayerNormalization does)",
        "Use the same kind of normalisation in both.",
        {"centred": True},
    )
    if "scale" in weights:
        for more in (1.0, -1.0):
            yield Suspicion(
                "weights",
                "Another scale",
                f"has {more:+g} in its scale",
                "Some keep the scale as what it is above 1: add 1 once.",
                weights={"scale": weights["scale"] + more},
            )


def _neutral(layer: Layer, weights: Weights) -> Iterator[Suspicion]:
    names = ("gamma", "beta", "moving_mean", "moving_variance")
    own = (*names, "scale") if layer.type == "RMSNormalization" else names
    begun = {name: _before_training(name, weights[name]) for name in own if name in weights}
    changed = [name for name, values in begun.items() if not np.allclose(weights[name], values)]
    for name in changed:
        yield Suspicion(
            "weights",
            _MISSING.format(name),
            f"has {name} as it is before training",
            "Export again from the trained model.",
            weights={name: begun[name]},
        )
    statistics = {name: begun[name] for name in changed if name.startswith("moving_")}
    if len(statistics) > 1:
        yield Suspicion(
            "weights",
            _MISSING.format("moving_mean and moving_variance"),
            "has its moving statistics as they are before training",
            "Export again from the trained model.",
            weights=statistics,
        )


def _before_training(name: str, values: Array) -> Array:
    return np.zeros_like(values) if name in ("beta", "moving_mean") else np.ones_like(values)

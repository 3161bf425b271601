"""What may be wrong with a normalisation, as changes that can be tried.

Source: gzuidhof/nn-transfer#3 (epsilon 1e-3 in Keras, 1e-5 in PyTorch), keras-team/keras#10427 (epsilon outside of the root),
Dobiasd/frugally-deep#284 (training mode), onnx/tensorflow-onnx#1610 (statistics not loaded), codertimo/BERT-pytorch#30 (unbiased variance),
facebookresearch/ConvNeXt#136 (axes), onnx/onnx-tensorrt#1052 (groups), huggingface/transformers#14772 (the mean in RMSNormalization),
utensils/mold#1078 (one added to its scale).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.kernel_suspicions import Estimate, Suspicion, Weights
from stethoscope.types import Layer

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

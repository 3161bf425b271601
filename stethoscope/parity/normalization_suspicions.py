"""What may be wrong with a normalisation, as changes that can be tried."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.parity.layer_rule import Weights
from stethoscope.parity.suspicion import Suspicion
from stethoscope.types import Layer

_EPSILONS = tuple(float(base * 10.0**power) for power in range(-8, 1) for base in (1, 2, 3, 5, 7))
_GROUPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)

_MISSING = "{} is missing"
FACTORS_MISSING = frozenset(_MISSING.format(name) for name in ("gamma", "scale"))
"""Titles of suspicions that the factor by which a layer multiplies is 1."""


def normalization_suspicions(layer: Layer, weights: Weights) -> Iterator[Suspicion]:
    """Everything that is tried for a normalisation; nothing for other layers.

    Args:
        layer: of the group.
        weights: by short names.
    """
    kind = layer.type
    if "Normalization" not in kind:
        return
    if kind == "BatchNormalization":
        yield Suspicion("training-mode", "BatchNormalization in training mode", "normalises with the mean and variance of the batch, not its moving statistics",
                        "Export in inference mode (training=False), and do not call the layer with training=True.", {"training": True})  # fmt: skip
    if "epsilon" in layer.config:
        yield from _epsilons(layer)
    yield from {
        "GroupNormalization": _group,
        "RMSNormalization": _rms,
        "UnitNormalization": _unit,
        "Normalization": _featurewise,
    }.get(kind, _nothing)(layer, weights)
    if kind in ("LayerNormalization", "GroupNormalization"):
        yield Suspicion("variance", "Another form of the variance", "divides the squares by one value less (the unbiased variance)",
                        "Divide the squares by the number of values in both.", {"unbiased": True})  # fmt: skip
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


def _nothing(_layer: Layer, _weights: Weights) -> Iterator[Suspicion]:
    yield from ()


def _epsilons(layer: Layer) -> Iterator[Suspicion]:
    own = float(layer.config["epsilon"])
    for epsilon in _EPSILONS:
        if abs(epsilon - own) > 1e-3 * epsilon:
            yield Suspicion("epsilon", f"Another epsilon of {layer.type}", f"has epsilon {epsilon:.3g} instead of {own:.3g}",
                            "Give both the same epsilon.", {"epsilon": epsilon})  # fmt: skip
    yield Suspicion("epsilon", f"Another place of epsilon in {layer.type}", "adds epsilon to the root, not below it",
                    "Add epsilon to the variance in both.", {"epsilon_outside": True})  # fmt: skip


def _group(layer: Layer, _weights: Weights) -> Iterator[Suspicion]:
    advice = "Give both the same number of groups, each of neighbouring channels."
    own, wide = int(layer.config.get("groups") or 32), (layer.output_shape or (0,))[-1] or 0
    for groups in dict.fromkeys((*_GROUPS, wide)):
        if groups and groups != own and wide % groups == 0:
            yield Suspicion(
                "groups",
                "Another number of groups",
                f"has {groups} groups instead of {own}",
                advice,
                {"groups": groups},
            )
    yield Suspicion(
        "groups",
        "Channels are grouped otherwise",
        "makes its groups of every how-many-th channel",
        advice,
        {"interleaved": True},
    )
    yield Suspicion(
        "axis",
        "Another axis",
        "normalises each place apart, not all together",
        "Normalise over all places in both.",
        {"each_place": True},
    )


def _rms(_layer: Layer, weights: Weights) -> Iterator[Suspicion]:
    yield Suspicion("variance", "Another form of the variance", "takes the mean off before (as LayerNormalization does)",
                    "Use the same kind of normalisation in both.", {"centred": True})  # fmt: skip
    if "scale" in weights:
        for more in (1.0, -1.0):
            yield Suspicion("weights", "Another scale", f"has {more:+g} in its scale", "Some keep the scale as what it is above 1: add 1 once.",
                            weights={"scale": weights["scale"] + more})  # fmt: skip


def _unit(_layer: Layer, _weights: Weights) -> Iterator[Suspicion]:
    for kind, said in (("l1", "the sum of absolute values"), ("max", "the largest absolute value")):
        yield Suspicion(
            "variance",
            "Another length",
            f"divides by {said}",
            "Divide by the root of the sum of squares in both.",
            {"length": kind},
        )


def _featurewise(_layer: Layer, _weights: Weights) -> Iterator[Suspicion]:
    advice = "Normalise the input once, with the same mean and variance."
    for settings, told in (
        ({"nothing": True}, "does nothing"),
        ({"only": "mean"}, "takes off the mean and divides by nothing"),
        ({"only": "variance"}, "divides by the deviation and takes off no mean"),
        ({"by_variance": True}, "divides by the variance, not by its root"),
        ({"turned_around": True}, "does the opposite"),
    ):
        yield Suspicion("preprocessing", "Preprocessing is another", told, advice, dict(settings))


def _neutral(layer: Layer, weights: Weights) -> Iterator[Suspicion]:
    for name in (
        "gamma",
        "beta",
        "moving_mean",
        "moving_variance",
        *(("scale",) if layer.type == "RMSNormalization" else ()),
    ):
        if name in weights:
            values = weights[name]
            neutral = np.zeros_like(values) if name in ("beta", "moving_mean") else np.ones_like(values)
            if not np.allclose(values, neutral):
                yield Suspicion("weights", _MISSING.format(name), f"has {name} as it is before training",
                                "Export again from the trained model.", weights={name: neutral})  # fmt: skip

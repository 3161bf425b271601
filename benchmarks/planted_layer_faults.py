"""The faults that are planted into attention, into recurrent cells and into the rarer layers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks import planted_decoder as decoder
from benchmarks.planted_faults import Plant, first_changed, no_bias


def of_decoder(one: Callable[..., str], weights: tuple[str, ...]) -> list[tuple[str, Plant]]:
    """Of `planted_decoder.decoder`."""
    scale, order = ("attention-scale",), ("head-order",)
    many, layer = ("look_back", "cross"), "look_back"
    return [
        ("decoder", Plant("the causal mask is missing", layer, {"use_causal_mask": False}, causes=("mask",))),
        ("decoder", Plant("a causal mask was added", one("dots", "adds"), {"use_causal_mask": True}, causes=("mask",))),
        ("decoder", Plant("the scale of attention is missing", layer, {"wrong": "unscaled"}, causes=scale)),
        ("decoder", Plant("scaled by the whole width", layer, {"wrong": "whole width"}, causes=scale)),
        ("decoder", Plant("scaled by the width, not its root", layer, {"wrong": "width of a head"}, causes=scale)),
        ("decoder", Plant("softmax over the heads", layer, {"wrong": "softmax over heads"}, causes=("softmax-axis",))),
        (
            "decoder",
            Plant("heads joined without moving their axis", layer, {"wrong": "heads joined unmoved"}, causes=order),
        ),
        ("decoder", Plant("heads cut in another order", layer, weights=decoder.heads_cut_otherwise, causes=order)),
        (
            "decoder",
            Plant(
                "query and key exchanged",
                layer,
                weights=decoder.taken_from((2, 3, 0, 1, 4, 5, 6, 7)),
                causes=("exchanged-weights",),
            ),
        ),
        (
            "decoder",
            Plant("bias of the query missing", one(*many, "grouped"), weights=decoder.no_bias_of(1), causes=("bias",)),
        ),
        (
            "decoder",
            Plant("bias of the output missing", one(*many, "grouped"), weights=decoder.no_bias_of(7), causes=("bias",)),
        ),
        (
            "decoder",
            Plant(
                "output projection transposed",
                one(*many, "grouped"),
                weights=decoder.output_turned,
                causes=("transposed-kernel",),
            ),
        ),
        ("decoder", Plant("keys tiled, not repeated", "grouped", weights=decoder.groups_interleaved, causes=order)),
        (
            "decoder",
            Plant(
                "wrong weights of attention",
                one(*many, "grouped"),
                weights=lambda v, r: [v[0] + 0.3 * r.standard_normal(v[0].shape), *v[1:]],
                causes=weights,
            ),
        ),
        (
            "decoder",
            Plant(
                "scale of simple attention missing", "dots", weights=first_changed(lambda s: 0 * s + 1), causes=scale
            ),
        ),
        (
            "decoder",
            Plant(
                "an index shifted by one",
                "table",
                weights=first_changed(lambda t: np.concatenate([t[1:], t[-1:]])),
                causes=("shifted-index",),
            ),
        ),
        (
            "decoder",
            Plant("a table scaled", "table", weights=first_changed(lambda t: 32**0.5 * t), causes=("scaled-weights",)),
        ),
        (
            "decoder",
            Plant("epsilon of RMSNormalization", one("rms", "rms_last"), {"epsilon": 0.01}, causes=("epsilon",)),
        ),
        (
            "decoder",
            Plant(
                "LayerNormalization for RMSNormalization",
                one("rms", "rms_last"),
                {"layer": "LayerNormalization", "center": False, "epsilon": 1e-6},
                causes=("variance",),
            ),
        ),
    ]


def of_signal(one: Callable[..., str], weights: tuple[str, ...]) -> list[tuple[str, Plant]]:
    """Of `planted_signal.signal`."""
    slope, layout = ("activation",), ("layout",)
    return [
        ("signal", Plant("padding at the other end", "pad", {"padding": (1, 2)}, causes=("padding",))),
        (
            "signal",
            Plant(
                "a flipped kernel of a causal convolution",
                "front",
                weights=first_changed(lambda k: k[::-1]),
                causes=("flipped-kernel",),
            ),
        ),
        ("signal", Plant("slope of LeakyReLU", "leaky", {"negative_slope": 0.3}, causes=slope)),
        ("signal", Plant("all channels in one group", "groups", {"groups": 1}, causes=("groups", "setting"))),
        (
            "signal",
            Plant("epsilon of GroupNormalization in a series", "groups", {"epsilon": 0.05}, causes=("epsilon",)),
        ),
        (
            "signal",
            Plant(
                "a flipped depthwise kernel of a series",
                "depthwise",
                weights=first_changed(lambda k: k[::-1]),
                causes=("flipped-kernel",),
            ),
        ),
        (
            "signal",
            Plant(
                "bias missing in one dimension",
                one("depthwise", "separable", "grow", "front"),
                weights=no_bias,
                causes=("bias",),
            ),
        ),
        ("signal", Plant("slope of ELU", "elu", {"alpha": 1.0}, causes=slope)),
        (
            "signal",
            Plant(
                "a flipped transposed convolution of a series",
                "grow",
                weights=first_changed(lambda k: k[::-1]),
                causes=("flipped-kernel",),
            ),
        ),
        (
            "signal",
            Plant(
                "one slope of PReLU for all",
                "prelu",
                weights=first_changed(lambda a: 0 * a + 0.25),
                causes=(*slope, "weights"),
            ),
        ),
        ("signal", Plant("cropped at the other end", "cut", {"cropping": (1, 3)}, causes=("padding",))),
        ("signal", Plant("axes of LayerNormalization", "both_axes", {"axis": -1}, causes=("axis",))),
        ("signal", Plant("axis of UnitNormalization", "unit", {"axis": 1}, causes=("axis",))),
        ("signal", Plant("axis of Softmax", "shares", {"axis": 1}, causes=("softmax-axis", "axis"))),
        ("signal", Plant("order of Reshape", "cut_up", {"turned": True}, causes=layout)),
        ("signal", Plant("order of RepeatVector", "again", {"each": True}, causes=layout)),
        ("volume", Plant("padding of a volume", "pad", {"padding": ((0, 1), (0, 1), (0, 1))}, causes=("padding",))),
        (
            "volume",
            Plant(
                "a transposed kernel of a volume",
                "solid",
                weights=first_changed(lambda k: k.transpose(1, 0, 2, 3, 4)),
                causes=("transposed-kernel",),
            ),
        ),
        (
            "volume",
            Plant(
                "a flipped transposed convolution of a volume",
                "grow",
                weights=first_changed(lambda k: k[::-1, ::-1, ::-1]),
                causes=("flipped-kernel", "transposed-kernel"),
            ),
        ),
        ("volume", Plant("cropping of a volume", "cut", {"cropping": ((0, 1), (0, 1), (1, 1))}, causes=("padding",))),
    ]


def of_series(one: Callable[..., str], weights: tuple[str, ...]) -> list[tuple[str, Plant]]:
    """Of `planted_models.series`: cells of recurrent layers."""
    recurrent = ("lstm", "both", "gru")
    noise = first_changed(lambda k: k + 0.2 * np.random.default_rng(5).standard_normal(k.shape))
    return [
        (
            "series",
            Plant(
                "state of a recurrent layer with another activation",
                one("lstm", "gru"),
                {"activation": "relu"},
                causes=("activation",),
            ),
        ),
        (
            "series",
            Plant(
                "gates with another activation",
                one("lstm", "gru"),
                {"recurrent_activation": "hard_sigmoid"},
                causes=("activation",),
            ),
        ),
        (
            "series",
            Plant("order of the gates of LSTM", "lstm", weights=_gates(4, (0, 2, 1, 3)), causes=("gate-order",)),
        ),
        ("series", Plant("order of the gates of GRU", "gru", weights=_gates(3, (1, 0, 2)), causes=("gate-order",))),
        (
            "series",
            Plant(
                "recurrent kernel transposed", one("lstm", "gru"), weights=_turned_state, causes=("transposed-kernel",)
            ),
        ),
        ("series", Plant("bias of the forget gate", "lstm", weights=_forget, causes=("bias", "weights"))),
        (
            "series",
            Plant("bias missing in a recurrent layer", one(*recurrent), weights=no_bias, causes=("bias", "weights")),
        ),
        ("series", Plant("steps backwards", one("lstm", "gru"), {"go_backwards": True}, causes=("direction",))),
        ("series", Plant("wrong weights in a recurrent layer", one(*recurrent), weights=noise, causes=weights)),
        ("series", Plant("causal padding", "front", {"padding": "causal"}, causes=("padding",))),
    ]


def _gates(count: int, order: tuple[int, ...]) -> Callable[[list[np.ndarray], np.random.Generator], list[np.ndarray]]:
    def moved(value: np.ndarray) -> np.ndarray:
        parts = np.split(value, count, axis=-1)
        return np.concatenate([parts[place] for place in order], axis=-1)

    return lambda values, _: [moved(value) for value in values]


def _turned_state(values: list[np.ndarray], _: np.random.Generator) -> list[np.ndarray]:
    gates = values[1].shape[1] // values[1].shape[0]
    turned = np.concatenate([part.T for part in np.split(values[1], gates, axis=-1)], axis=-1)
    return [values[0], turned, *values[2:]]


def _forget(values: list[np.ndarray], _: np.random.Generator) -> list[np.ndarray]:
    units = values[1].shape[0]
    return [*values[:2], values[2] + 1.0 * (np.arange(4 * units) // units == 1)]

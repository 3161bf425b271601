"""What may be wrong with a layer that has a kernel or a window, as changes that can be tried."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.parity.layer_rule import Weights
from stethoscope.parity.suspicion import Suspicion
from stethoscope.types import Layer

_SCALES = (0.5, 0.8, 0.9, 1.1, 1.2, 1.25, 1.3, 1.5, 2.0, 1 / 255, 255.0)


def window_suspicions(layer: Layer, weights: Weights, worst: tuple[int, ...]) -> Iterator[Suspicion]:
    """Everything that is tried for dense layers, convolutions and poolings; nothing for other layers.

    Args:
        layer: of the group.
        weights: by short names.
        worst: channels that differ most, for what is wrong with single ones.
    """
    kernels = [name for name in ("kernel", "depthwise_kernel", "pointwise_kernel") if name in weights]
    kernel, kind = next(iter(kernels), ""), layer.type
    for name in kernels:
        by_channel = kind.startswith("Depthwise") or name == "depthwise_kernel"
        each = weights[name].shape[-1] if kind.startswith("Depthwise") else 1
        places = tuple(dict.fromkeys(channel // each for channel in worst))
        yield from kernel_suspicions(weights, name, places, transposed="Transpose" in kind or by_channel)
    if kind.startswith(("Conv", "Depthwise", "Separable", "MaxPool", "AveragePool")) and "Transpose" not in kind:
        yield from _paddings(layer, weights, kernel)
    if "Transpose" in kind and kernel:
        for crop in range(max(weights[kernel].shape[:-2])):
            yield Suspicion(
                "padding",
                "Another padding",
                f"takes {crop} places off at the start",
                'Give both the same padding: with "same", frameworks take the odd place off at different ends.',
                {"crop": crop},
            )
    if int(layer.config.get("groups") or 1) > 1 and kind.startswith("Conv"):
        yield Suspicion(
            "groups",
            "Channels are grouped otherwise",
            "makes its groups of every how-many-th channel, not of neighbours",
            "Group neighbouring channels in both.",
            {"groups_interleaved": True},
        )
    if "Depthwise" in kind or "Separable" in kind:
        yield Suspicion(
            "swapped-channels",
            "Channels are in another order",
            "puts the answers of one multiplier together, not those of one channel",
            "Order the answers by channel, then by multiplier.",
            {"multiplier_first": True},
        )
    if "Pooling" in kind:
        yield from _poolings(kind)


def _poolings(kind: str) -> Iterator[Suspicion]:
    others = {"average": "mean", "max": "maximum", **({"sum": "sum"} if "Global" in kind else {})}
    for other, said in others.items():
        if other not in kind.lower():
            yield Suspicion("pooling", "Another kind of pooling", f"takes the {said} of {'all' if 'Global' in kind else 'a window'}",
                            "Use the same pooling in both.", {"as": other})  # fmt: skip
    if kind.startswith("AveragePooling"):
        yield Suspicion("padding", "Padding counted in the mean", "counts padded places in the mean",
                        "Set count_include_pad to 0 in ONNX.", {"count_include_pad": True})  # fmt: skip


def kernel_suspicions(
    weights: Weights, kernel: str, worst: tuple[int, ...], *, transposed: bool
) -> Iterator[Suspicion]:
    """What may be wrong with one kernel; `transposed`: its outputs are the last axis but one."""
    values = weights[kernel]
    again = "Export again from the model whose weights are right."
    if values.ndim >= 4 and values.shape[0] == values.shape[1]:
        yield Suspicion(
            "transposed-kernel",
            "The kernel is transposed",
            "has its kernel with height and width swapped",
            again,
            weights={kernel: values.swapaxes(0, 1)},
        )
    if values.ndim >= 2 and values.shape[-1] == values.shape[-2] and kernel == "kernel":
        yield Suspicion(
            "transposed-kernel",
            "The kernel is transposed",
            "has its kernel with inputs and outputs swapped",
            again,
            weights={kernel: values.swapaxes(-1, -2)},
        )
    if values.ndim >= 3:
        spatial = tuple(range(values.ndim - 2))
        yield Suspicion(
            "flipped-kernel",
            "The kernel is flipped",
            "has its kernel read backwards (a true convolution)",
            again,
            weights={kernel: np.flip(values, spatial)},
        )
        for axis in spatial:
            yield Suspicion(
                "flipped-kernel",
                "The kernel is flipped",
                f"has its kernel read backwards along axis {axis}",
                again,
                weights={kernel: np.flip(values, axis)},
            )
    if values.shape[-2 if values.ndim > 1 else 0] == 3:
        yield Suspicion("swapped-channels", "Channels are swapped", "reads its input channels in reverse order (RGB against BGR)", "Reorder the channels of the input.",
                        weights={kernel: values[..., ::-1, :]})  # fmt: skip
    yield Suspicion(
        "sign", "The sign is turned", "has its kernel with the opposite sign", again, weights={kernel: -values}
    )
    for scale in _SCALES:
        yield Suspicion(
            "scaled-weights",
            "The weights are scaled",
            f"has its kernel times {scale:.4g}",
            again,
            weights={kernel: scale * values},
        )
    if "bias" in weights and weights["bias"].any():
        yield Suspicion(
            "bias", "The bias is missing", "adds no bias", again, weights={"bias": np.zeros_like(weights["bias"])}
        )
    axis = -2 if transposed else -1
    channels = values.shape[axis]
    has_bias = "bias" in weights and weights["bias"].shape == (channels,)
    for channel in worst[:3]:
        if channel < channels:
            gone = values.copy()
            np.moveaxis(gone, axis, 0)[channel] = 0
            rest = {"bias": np.where(np.arange(channels) == channel, 0, weights["bias"])} if has_bias else {}
            yield Suspicion(
                "zeroed-channel",
                "A channel is zero",
                f"has zeros for channel {channel}",
                again,
                weights={kernel: gone, **rest},
            )
            yield Suspicion(
                "zeroed-channel",
                "A channel is zero",
                f"has a kernel of zeros for channel {channel}",
                again,
                weights={kernel: gone},
            )
    if len(worst) >= 2 and max(worst[:2]) < channels:
        order = np.arange(channels)
        order[[worst[0], worst[1]]] = order[[worst[1], worst[0]]]
        moved = {kernel: values.take(order, axis=axis)}
        whole = {**moved, "bias": weights["bias"][order]} if has_bias else moved
        for made in (whole, moved):
            yield Suspicion(
                "swapped-channels",
                "Channels are swapped",
                f"has channels {worst[0]} and {worst[1]} exchanged",
                again,
                weights=made,
            )
    inputs = values.shape[-2] if axis == -1 and values.ndim > 1 else 0
    if 2 <= inputs <= 16:
        for one in range(inputs):
            for other in range(one + 1, inputs):
                order = np.arange(inputs)
                order[[one, other]] = order[[other, one]]
                yield Suspicion("swapped-channels", "Channels are swapped", f"reads input channels {one} and {other} exchanged", "Reorder the channels of the input.",
                                weights={kernel: values[..., order, :]})  # fmt: skip


def _paddings(layer: Layer, weights: Weights, kernel: str) -> Iterator[Suspicion]:
    rank = weights[kernel].ndim - 2 if kernel else int(layer.type[-2])
    if not 1 <= rank <= 3:
        return
    advice = 'Give both the same padding: frameworks place the odd pixel of "same" at the end, PyTorch and ONNX pad as they are told.'
    size = weights[kernel].shape[0] if kernel else int(np.ravel(layer.config.get("pool_size") or 2)[0])
    for before in range(size):
        for after in range(size):
            yield Suspicion(
                "padding",
                "Another padding",
                f"pads {before} before and {after} after",
                advice,
                {"pads": [(before, after)] * rank},
            )
    for dilation in (1, 2, 3):
        if kernel and layer.config.get("dilation_rate") not in (dilation, [dilation] * rank):
            yield Suspicion(
                "dilation",
                "Another dilation",
                f"has a dilation of {dilation}",
                "Set the same dilation in both.",
                {"dilation_rate": dilation},
            )

"""What may be wrong with a layer, as changes of its settings, weights or activation that can be tried."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.parity.activation_forms import FORMS
from stethoscope.parity.recompute import Weights
from stethoscope.parity.recurrent_suspicions import recurrent_suspicions
from stethoscope.parity.suspicion import Suspicion
from stethoscope.types import Layer

_EPSILONS = tuple(float(base * 10.0**power) for power in range(-8, 1) for base in (1, 2, 3, 5, 7))
_SCALES = (0.5, 0.8, 0.9, 1.1, 1.2, 1.25, 1.3, 1.5, 2.0, 1 / 255, 255.0)
_ACTIVATIONS = ("linear", "relu", "relu6", "sigmoid", "tanh", "softmax", "elu", "silu", "softplus", "gelu")


def suspicions(layer: Layer, weights: Weights, worst: tuple[int, ...]) -> Iterator[Suspicion]:
    """Everything that is tried for a layer.

    Args:
        layer: of the group.
        weights: by short names.
        worst: channels that differ most, for what is wrong with single ones.
    """
    if "recurrent_kernel" in weights:
        yield from recurrent_suspicions(layer, weights, worst)
        return
    kernels = [name for name in ("kernel", "depthwise_kernel", "pointwise_kernel") if name in weights]
    kernel, kind = next(iter(kernels), ""), layer.type
    if kind == "BatchNormalization":
        yield Suspicion("training-mode", "BatchNormalization in training mode", "normalises with the mean and variance of the batch, not its moving statistics",
                        "Export in inference mode (training=False), and do not call the layer with training=True.", {"training": True})  # fmt: skip
    if "Normalization" in kind and "epsilon" in layer.config:
        for epsilon in _EPSILONS:
            if abs(epsilon - float(layer.config["epsilon"])) > 1e-3 * epsilon:
                yield Suspicion("epsilon", f"Another epsilon of {kind}", f"has epsilon {epsilon:.3g} instead of {float(layer.config['epsilon']):.3g}",
                                "Give both the same epsilon.", {"epsilon": epsilon})  # fmt: skip
    for name in kernels:
        yield from _kernels(weights, name, worst, transposed="Transpose" in kind)
    if kind.startswith(("Conv", "Depthwise", "Separable", "MaxPool", "AveragePool")) and "Transpose" not in kind:
        yield from _paddings(layer, weights, kernel)
    if "Pooling" in kind:
        other = "average" if "Max" in kind else "max"
        yield Suspicion(
            "pooling",
            "Another kind of pooling",
            f"takes the {'mean' if other == 'average' else 'maximum'} of {'all' if 'Global' in kind else 'a window'}",
            "Use the same pooling in both.",
            {"as": other},
        )
    if kind.startswith("AveragePooling"):
        yield Suspicion(
            "padding",
            "Padding counted in the mean",
            "counts padded places in the mean",
            "Set count_include_pad to 0 in ONNX.",
            {"count_include_pad": True},
        )
    if kind.startswith(("UpSampling", "Resizing")):
        for told, settings in (
            ("repeats pixels", {"interpolation": "nearest"}),
            ("blends pixels", {"interpolation": "bilinear"}),
            ("blends pixels with aligned corners", {"interpolation": "bilinear", "align_corners": True}),
            ("blends pixels without half-pixel centres", {"interpolation": "bilinear", "half_pixel": False}),
        ):
            yield Suspicion(
                "resize-mode",
                "Another way of resizing",
                told,
                "Set interpolation, half-pixel centres and aligned corners to the same in both.",
                dict(settings),
            )
    if kind == "Flatten":
        yield Suspicion(
            "layout",
            "Another order of axes",
            "flattens channels first",
            "Transpose to channels last before the flatten.",
            {"channels_first": True},
        )
    if kind == "Rescaling":
        yield Suspicion(
            "preprocessing",
            "Preprocessing outside the model",
            "does nothing",
            "Scale the input before the second model, or put the step into it.",
            {"scale": 1.0, "offset": 0.0},
        )
    if "activation" in layer.config or kind in _ALONE:
        told = str(layer.config.get("activation") or kind.lower())
        for name, title, _ in FORMS:
            if kind in _ALONE or kind == "Activation":
                gelu = "gelu" in told and name.startswith("gelu")
                yield Suspicion("gelu-form" if gelu else "activation", "Another form of GELU" if gelu else "Another activation", f"computes {title}",
                                f"Set the same activation in both ({title}).", form=name)  # fmt: skip
        if kind not in _ALONE and kind != "Activation":
            for name in _ACTIVATIONS:
                if name != told:
                    yield Suspicion(
                        "activation",
                        "Another activation",
                        f"ends in {name} instead of {told}",
                        "Set the same activation in both.",
                        {"activation": name},
                    )
    for name in ("gamma", "beta", "moving_mean", "moving_variance"):
        if name in weights:
            neutral = (
                np.ones_like(weights[name]) if name in ("gamma", "moving_variance") else np.zeros_like(weights[name])
            )
            if not np.allclose(weights[name], neutral):
                yield Suspicion(
                    "weights",
                    f"{name} is missing",
                    f"has {name} as it is before training",
                    "Export again from the trained model.",
                    weights={name: neutral},
                )


_ALONE = ("ReLU", "LeakyReLU", "ELU", "PReLU", "Softmax", "GELU", "Swish", "SiLU")


def _kernels(weights: Weights, kernel: str, worst: tuple[int, ...], *, transposed: bool) -> Iterator[Suspicion]:
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
    axis = -2 if transposed or kernel == "depthwise_kernel" else -1
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
    rank = (weights[kernel].ndim - 2) if kernel else (1 if layer.type.endswith("1D") else 2)
    if rank < 1 or rank > 2:
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

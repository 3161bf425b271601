"""What may be wrong with a layer that has a kernel or a window, as changes that can be tried.

Source: ArtemBoyarintsev/MachineLearningTools (kernels of Keras are (w, h, i, o), of PyTorch (o, i, w, h), dense ones transposed),
keras.utils.convert_all_kernels_in_model (Theano flips kernels), keras.applications preprocess_input (BGR for RGB), Blaizzy/mlx-vlm#986
(a factor of merged weights), fastmachinelearning/qonnx#25 and onnx/keras-onnx#98 (a bias lost, or added twice), taehoonlee/tensornets#25
(padding), ARM-software/armnn#486 (dilation), keras-team/keras#22876 (transposed convolution), onnx/onnx-tensorflow#306 (multiplier),
pytorch/pytorch#13934 (count_include_pad).

What the rules of layers have in common: a rule answers for a kind of layer, in plain numpy.

One change of a layer that can be tried: told whole, or but for a number that is estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.activations import LINEAR
from stethoscope.architecture.formulas import Array, named_function
from stethoscope.types import Layer

AGAIN = "Export again from the model whose weights are right."
_COLOURS = (3, 4)
"""Channels of a picture: red, green, blue, and how opaque it is."""


def window_suspicions(layer: Layer, weights: Weights) -> Iterator[Suspicion | Estimate]:
    """Everything that is tried for dense layers, convolutions and poolings; nothing for other layers.

    Args:
        layer: of the group.
        weights: by short names.
    """
    kernels = [name for name in ("kernel", "depthwise_kernel", "pointwise_kernel") if name in weights]
    kernel, kind = next(iter(kernels), ""), layer.type
    for name in kernels:
        yield from _turned(weights, name)
    if kernels:
        yield from scaled_bias(weights, "bias")
        yield from (_scaled(weights, name) for name in kernels)
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
    if "Depthwise" in kind or "Separable" in kind:
        yield Suspicion(
            "swapped-channels",
            "Channels are in another order",
            "puts the answers of one multiplier together, not those of one channel",
            "Order the answers by channel, then by multiplier.",
            {"multiplier_first": True},
        )
    if kind.startswith("AveragePooling"):
        yield Suspicion(
            "padding",
            "Padding counted in the mean",
            "counts padded places in the mean",
            "Set count_include_pad to 0 in ONNX.",
            {"count_include_pad": True},
        )


def scaled_bias(weights: Weights, name: str, said: str = "") -> Iterator[Suspicion | Estimate]:
    """A bias that is lost, and one that is added more than once or in part; nothing where there is none.

    Args:
        weights: by short names.
        name: of the bias.
        said: whose it is, to follow "bias".
    """
    bias = weights.get(name)
    if bias is None or not bias.any():
        return
    yield Suspicion("bias", "The bias is missing", f"adds no bias{said}", AGAIN, weights={name: np.zeros_like(bias)})
    yield Estimate(
        lambda factor: Suspicion(
            "bias", "Another bias", f"adds its bias{said} times {factor:.4g}", AGAIN, weights={name: factor * bias}
        ),
        (1.0,),
    )


def scaled(weights: Weights, name: str, told: str, advice: str = AGAIN) -> Estimate:
    """Weights times a factor; `told` holds {} for it."""
    return Estimate(
        lambda factor: Suspicion(
            "scaled-weights",
            "The weights are scaled",
            told.format(f"{factor:.4g}"),
            advice,
            weights={name: factor * weights[name]},
        ),
        (1.0,),
    )


def _scaled(weights: Weights, name: str) -> Estimate:
    return scaled(weights, name, "has its kernel times {}")


def transposed(told: str, weights: Weights) -> Suspicion:
    """A kernel whose axes are swapped."""
    return Suspicion("transposed-kernel", "The kernel is transposed", told, AGAIN, weights=dict(weights))


def _turned(weights: Weights, name: str) -> Iterator[Suspicion]:
    values = weights[name]
    if values.ndim >= 4 and values.shape[0] == values.shape[1]:
        yield transposed("has its kernel with height and width swapped", {name: values.swapaxes(0, 1)})
    if values.ndim >= 2 and values.shape[-1] == values.shape[-2] and name == "kernel":
        yield transposed("has its kernel with inputs and outputs swapped", {name: values.swapaxes(-1, -2)})
    if values.ndim >= 3:
        yield Suspicion(
            "flipped-kernel",
            "The kernel is flipped",
            "has its kernel read backwards (a true convolution)",
            AGAIN,
            weights={name: np.flip(values, tuple(range(values.ndim - 2)))},
        )
    if values.ndim >= 2 and values.shape[-2] in _COLOURS:
        order = [2, 1, 0, *range(3, values.shape[-2])]
        yield Suspicion(
            "swapped-channels",
            "Channels are swapped",
            "reads its input channels in reverse order (RGB against BGR)",
            "Reorder the channels of the input.",
            weights={name: values[..., order, :]},
        )


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
    if kernel and any(one > 1 for one in np.ravel(layer.config.get("dilation_rate") or 1)):
        yield Suspicion(
            "dilation",
            "The dilation is lost",
            "has no dilation",
            "Set the same dilation in both.",
            {"dilation_rate": 1},
        )


Weights = Mapping[str, Array]
Settings = Mapping[str, Any]
Rule = Callable[[Sequence[Array], Weights, Settings], Array]
"""Of what a layer reads, its weights by short names and its settings; KeyError for settings that it does not know."""


def sizes(value: Any, rank: int) -> tuple[int, ...]:
    """A setting that is one number or one for each axis, as one for each axis."""
    if isinstance(value, int | float):
        return (int(value),) * rank
    found = tuple(int(one) for one in value)
    return found if len(found) == rank else (found[0],) * rank


def ended(x: Array, weights: Weights, settings: Settings) -> Array:
    """With the bias and the activation that the settings ask for.

    Raises:
        KeyError: an activation that is not known here.
    """
    if settings.get("use_bias", True) and "bias" in weights:
        x = x + weights["bias"]
    kind = settings.get("activation")
    if kind in (None, LINEAR.name):
        return x
    function = named_function(str(kind))
    if function is None:
        raise KeyError(kind)
    return function(x)


def axes_of(settings: Settings, rank: int, usual: Any = -1) -> tuple[int, ...]:
    """The axes that "axis" names, counted from the front."""
    told = settings.get("axis", usual)
    told = tuple(told) if isinstance(told, list | tuple) else (told,)
    return tuple(int(one) % rank for one in told)


@dataclass(frozen=True)
class Suspicion:
    """One change of a layer."""

    cause: str
    title: str
    told: str
    """What the layer does then, to follow its name."""
    fix: str
    settings: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    function: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]] | None = None
    """An activation layer answers this of what it reads instead."""


@dataclass(frozen=True)
class Estimate:
    """A change by a number that nothing tells beforehand: least squares find it."""

    of: Callable[[float], Suspicion]
    """The change for a number."""
    starts: tuple[float, ...]
    """Numbers to begin at; the first is what the layer has now."""
    low: float = -np.inf
    """Below it there is no such layer."""

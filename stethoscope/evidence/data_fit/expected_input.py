"""What one input of a model takes: shape, dtype, kind, range, and where in the file it says so.

Networks of `keras.applications`, known by the names of their layers, and how their ImageNet weights take pixels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from stethoscope.evidence.data_fit.sampled_rows import Statistics
from stethoscope.evidence.input_route import InputRoute, input_route
from stethoscope.types import Architecture, Layer, Shape, TensorSpec

Kind = Literal["image", "tokens", "sequence", "table", "text", "array"]
Mode = Literal["pixels", "unit", "signed", "caffe", "torch", "tokens", "quantised", "around 0", "any"]
"""How values should be: `pixels` 0 … 255, `unit` 0 … 1, `signed` −1 … 1, `around 0` about 1 in size, `any` as they come."""
_CHANNELS = (1, 3, 4)
_PIXELS = 255.0


@dataclass(frozen=True)
class ExpectedInput:
    """One input."""

    name: str
    shape: Shape | None
    """With the rows' dimension, as in `TensorSpec`."""
    dtype: str
    kind: Kind
    mode: Mode
    range: tuple[float, float] | None
    """Of the values as they should arrive; None where the file says nothing."""
    why_range: str
    """One sentence."""
    channel_axis: int | None = None
    """1 or -1 for images; None for anything else."""
    quantisation: tuple[float, int] | None = None
    """(scale, zero point) of a quantised input."""
    trained: Statistics | None = None
    """Mean and deviation of each column of the training data, where the file keeps them."""

    @property
    def channels(self) -> int | None:
        """How many channels an image has; None for other inputs."""
        return None if self.channel_axis is None or self.shape is None else self.shape[self.channel_axis]


def expected_inputs(
    architecture: Architecture,
    quantisation: Mapping[str, tuple[float, int]] | None = None,
    trained: Mapping[str, Statistics] | None = None,
) -> tuple[ExpectedInput, ...]:
    """Returns one for each input of the model, in its order.

    Args:
        architecture: as described; nothing else is looked at.
        quantisation: (scale, zero point) of inputs that have them, by name.
        trained: what normalisation layers keep of the training data, by their paths.
    """
    family = family_of(architecture)
    return tuple(
        _expected(spec, architecture, family, (quantisation or {}).get(spec.name), trained or {})
        for spec in architecture.inputs
    )


def _expected(
    spec: TensorSpec,
    architecture: Architecture,
    family: Family | None,
    quantised: tuple[float, int] | None,
    trained: Mapping[str, Statistics],
) -> ExpectedInput:
    route = input_route(architecture, spec.name)
    table = _embedding(architecture, spec, route)
    axis = _channel_axis(spec.shape, route)
    kind = _kind(spec, route, table, axis)
    given = None if route.rescaling else trained.get(route.normalised)
    mode, span, why = _values(spec, route, table, family if kind == "image" else None, kind, quantised, given)
    given = given if mode == "any" else None
    return ExpectedInput(spec.name, spec.shape, spec.dtype, kind, mode, span, why, axis, quantised, given)


def _kind(spec: TensorSpec, route: InputRoute, table: Layer | None, axis: int | None) -> Kind:
    rank = None if spec.shape is None else len(spec.shape)
    if spec.dtype == "string":
        return "text"
    if table is not None or (route.looked_up and rank in (1, 2)):
        return "tokens"
    if axis is not None:
        return "image"
    if rank == 3:
        return "sequence"
    return "table" if rank == 2 else "array"


def _values(
    spec: TensorSpec,
    route: InputRoute,
    table: Layer | None,
    family: Family | None,
    kind: Kind,
    quantised: tuple[float, int] | None,
    given: Statistics | None,
) -> tuple[Mode, tuple[float, float] | None, str]:
    if kind == "text":
        return "any", None, "The model takes text."
    if table is not None:
        size = int(table.config["input_dim"])
        return "tokens", (0.0, size - 1.0), f"{table.path} looks numbers up in a table of {size:,} rows."
    if route.looked_up:
        return "any", None, f"{route.looked_up} looks the values up."
    if quantised is not None and spec.dtype.startswith(("int", "uint")):
        scale, zero = quantised
        info = np.iinfo(spec.dtype)
        low, high = ((bound - zero) * scale for bound in (int(info.min), int(info.max)))
        span = (float(info.min), float(info.max))
        return (
            "quantised",
            span,
            f"The input is quantised: {spec.dtype} stands for real values from {low:.4g} to {high:.4g}.",
        )
    if route.rescaling:
        return _rescaled(route, kind)
    if family is not None:
        return _pretrained(family, route)
    if route.normalised:
        return _normalised(route, given)
    if route.reaches_weights and route.first is not None:
        if spec.dtype.startswith(("int", "uint", "bool")):
            return "any", None, f"Whole numbers go into {route.first.path} as they are."
        why = f"{route.first.path} multiplies the values as they are; weights are made for values around 0, about 1 in size."
        return "around 0", None, why
    if route.unknown:
        return "any", None, f"{route.unknown} changes the values first; the file does not say for which range."
    return "any", None, "The file does not say."


def _rescaled(route: InputRoute, kind: Kind) -> tuple[Mode, tuple[float, float] | None, str]:
    """What becomes 0 … 1 or −1 … 1 behind the Rescaling layers."""
    name = route.rescaling[-1]
    if route.scale <= 0:
        return "any", None, f"{name} multiplies by {route.scale:.4g} first."
    least = -1.0 if route.offset < 0 else 0.0
    low, high = (least - route.offset) / route.scale, (1.0 - route.offset) / route.scale
    made = f"{name} makes {least:g} … 1 of them (× {route.scale:.4g}{f' {route.offset:+.4g}' if route.offset else ''})."
    if abs(low) <= 1 and abs(high - _PIXELS) <= 2 and kind in ("image", "array", "table", "sequence"):
        return "pixels", (0.0, _PIXELS), f"Pixels as stored: {made}"
    return "any", (low, high), made


def _pretrained(family: Family, route: InputRoute) -> tuple[Mode, tuple[float, float] | None, str]:
    about = f"The layers are named as {family.title} of keras.applications"
    if route.unknown or not family.mode:
        return (
            "pixels",
            (0.0, _PIXELS),
            f"{about}, with its preparation inside the model: it takes pixels from 0 to 255.",
        )
    if route.normalised:
        return "pixels", (0.0, _PIXELS), f"{about}, behind {route.normalised}: it takes pixels from 0 to 255."
    low, high = RANGES[family.mode]
    mode: Mode = "signed" if family.mode == "tf" else "caffe" if family.mode == "caffe" else "torch"
    what = {
        "tf": "pixels scaled to −1 … 1",
        "caffe": "BGR pixels less the mean colour",
        "torch": "pixels scaled to 0 … 1 and standardized per channel",
    }[family.mode]
    return mode, (low, high), f"{about}; its ImageNet weights take {what} (preprocess_input)."


def _normalised(route: InputRoute, given: Statistics | None) -> tuple[Mode, tuple[float, float] | None, str]:
    if given is None:
        return "any", None, f"{route.normalised} brings the values to a common scale: they come as in training."
    why = f"{route.normalised} holds the mean and deviation of the training data; these are mean ± 3 deviations."
    return "any", given.span, why


def _embedding(architecture: Architecture, spec: TensorSpec, route: InputRoute) -> Layer | None:
    """The table an input is looked up in, where its size is known."""
    found = next((layer for layer in architecture.layers if layer.path == route.looked_up), None)
    size = None if found is None else found.config.get("input_dim")
    return found if isinstance(size, int) and size > 0 and spec.dtype != "string" else None


def _channel_axis(shape: Shape | None, route: InputRoute) -> int | None:
    if shape is None or len(shape) != 4:
        return None
    said = route.first.config.get("data_format") if route.first is not None else None
    if said in ("channels_last", "channels_first") and shape[-1 if said == "channels_last" else 1] is not None:
        return -1 if said == "channels_last" else 1
    if shape[-1] in _CHANNELS:
        return -1
    return 1 if shape[1] in _CHANNELS else None


@dataclass(frozen=True)
class Family:
    """One kind of network."""

    title: str
    mode: str
    """Of `preprocess_input`: "caffe", "torch", "tf"; "" for those that take pixels from 0 to 255 and scale them inside."""
    layers: frozenset[str]
    """Names that only its networks have together."""


FAMILIES = (
    Family("ResNet V2", "tf", frozenset({"conv2_block1_preact_bn", "conv2_block1_out"})),
    Family("ResNet", "caffe", frozenset({"conv2_block1_0_conv", "conv2_block1_1_conv", "conv2_block1_out"})),
    Family("DenseNet", "torch", frozenset({"conv2_block1_0_bn", "pool2_conv"})),
    Family("VGG", "caffe", frozenset({"block1_conv1", "block5_conv3", "block5_pool"})),
    Family("Xception", "tf", frozenset({"block2_sepconv1", "block14_sepconv2"})),
    Family("Inception V3", "tf", frozenset({"mixed0", "mixed10"})),
    Family("Inception-ResNet V2", "tf", frozenset({"mixed_5b", "conv_7b"})),
    Family("MobileNet", "tf", frozenset({"conv_dw_1", "conv_pw_13"})),
    Family("MobileNet V2", "tf", frozenset({"expanded_conv_depthwise", "block_16_project"})),
    Family("NASNet", "tf", frozenset({"stem_conv1", "stem_bn1", "reduction_conv_1_stem_1"})),
    Family("ConvNeXt (tiny)", "", frozenset({"convnext_tiny_prestem_normalization"})),
    Family("ConvNeXt (small)", "", frozenset({"convnext_small_prestem_normalization"})),
    Family("ConvNeXt (base)", "", frozenset({"convnext_base_prestem_normalization"})),
    Family("ConvNeXt (large)", "", frozenset({"convnext_large_prestem_normalization"})),
    Family("EfficientNet", "", frozenset({"stem_conv", "block1a_se_reduce", "block2a_expand_conv", "top_conv"})),
)
"""Source: keras.applications (keras 3.15), each module's layer names and `preprocess_input`."""

RANGES = {"caffe": (-123.68, 151.061), "torch": (-2.1179, 2.64), "tf": (-1.0, 1.0), "": (0.0, 255.0)}
"""What `preprocess_input` makes of 0 and 255, over all channels.

Source: keras.applications.imagenet_utils: less (103.939, 116.779, 123.68); (x/255 − mean)/std; x/127.5 − 1.
"""


def family_of(architecture: Architecture) -> Family | None:
    """The family whose layer names the model has, also inside a nested model or an exported graph; None for others."""
    names = {part for layer in architecture.layers for part in layer.path.split("/")}
    return next((family for family in FAMILIES if family.layers <= names), None)

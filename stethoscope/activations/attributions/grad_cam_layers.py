"""Which layers Grad-CAM can look at: those whose output has places and channels."""

from __future__ import annotations

from stethoscope.types import Architecture, Layer

_CONVOLUTIONS = ("Conv", "DepthwiseConv", "SeparableConv", "_FusedConv2D")


def candidates(architecture: Architecture) -> list[Layer]:
    """Layers with at least one axis of places and one of channels, in the order of the file."""
    return [layer for layer in architecture.layers if _has_places(layer)]


def default_layer(architecture: Architecture) -> Layer | None:
    """The last convolution whose output still has places; else the last layer of a convolutional model that has; None without."""
    found = candidates(architecture)
    convolutions = [layer for layer in found if is_convolution(layer)]
    return convolutions[-1] if convolutions else None


def is_convolution(layer: Layer) -> bool:
    """Whether a layer or operator is a convolution."""
    kind = layer.type.rsplit(".", 1)[-1].rsplit(">", 1)[-1]
    return kind.startswith(_CONVOLUTIONS) and "Backprop" not in kind


def channels_first(layer: Layer) -> bool:
    """Whether the first axis of one row of a layer's output holds the channels."""
    told = str(layer.config.get("data_format") or "")
    return told in ("channels_first", "NCHW", "NCW", "NCDHW")


def _has_places(layer: Layer) -> bool:
    shape = layer.output_shape
    if layer.type in ("InputLayer", "Input", "Placeholder") or shape is None or len(shape) < 3:
        return False
    places = shape[2:] if channels_first(layer) else shape[1:-1]
    return any(size is None or size > 1 for size in places) and not (len(shape) == 3 and not is_convolution(layer))

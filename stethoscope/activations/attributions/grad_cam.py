"""Grad-CAM: which places of a convolution's output speak for the score.

Which layers Grad-CAM can look at: those whose output has places and channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.method import Attribution, InputKind, Point, Question, Report, Subject
from stethoscope.errors import BadSetting, CannotRun
from stethoscope.types import Architecture, Layer


class GradCam:
    """ReLU(Σ over channels of (mean gradient of the channel × the channel)), on the grid of the layer."""

    id = "grad_cam"
    title = "Grad-CAM"
    place = 5
    about = "Where a convolutional layer sees what speaks for the score, on the layer's own coarse grid."
    source = "Selvaraju et al., Grad-CAM (ICCV 2017), arXiv:1610.02391"
    needs_gradients = True
    kinds: tuple[InputKind, ...] = ("image", "sequence", "tokens")

    def explain(self, subject: Subject, question: Question, report: Report) -> Attribution:
        """See `Method.explain`; options "layer" and "layer_channels" ("last" or "first"): which axis of it holds channels."""
        if subject.no_gradients:
            raise CannotRun(f"{subject.name}: {subject.no_gradients} Occlusion works for any model.")
        layer = str(question.options.get("layer") or "")
        if not layer:
            raise CannotRun(
                f"{subject.name}: has no convolution whose output still has places. Use integrated gradients instead."
            )
        point = Point("layer", layer)
        slope = subject.slope(question.feed, question.target, [point], {})
        maps, gradients = slope.values[point], slope.gradients[point]
        if maps.ndim < 3:
            raise BadSetting(
                f"Layer {layer!r} of {subject.name}: expected an output with places and channels, got shape {maps.shape}. "
                "Choose a convolution, or a layer right after one."
            )
        first = question.options.get("layer_channels") == "first"
        report(1.0, "")
        return Attribution(
            cam(maps[0], gradients[0], channel_axis=0 if first else -1),
            float(slope.scores[0]),
            layer=layer,
            raw=subject.is_raw(question.target),
            signed=False,
        )


def cam(maps: npt.NDArray[Any], gradients: npt.NDArray[Any], channel_axis: int) -> npt.NDArray[Any]:
    """The class activation map of one sample, at least 0, of the shape of the places.

    Source: Selvaraju et al. (2017), equations 1 and 2.
    """
    activations = np.moveaxis(np.asarray(maps, np.float64), channel_axis, -1)
    slopes = np.moveaxis(np.asarray(gradients, np.float64), channel_axis, -1)
    weights = slopes.mean(axis=tuple(range(slopes.ndim - 1)))
    found: npt.NDArray[Any] = np.maximum(activations @ weights, 0.0)
    return found


METHOD = GradCam()


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

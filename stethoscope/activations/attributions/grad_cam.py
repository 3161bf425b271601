"""Grad-CAM: which places of a convolution's output speak for the score."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.method import Attribution, InputKind, Point, Question, Report, Subject
from stethoscope.errors import BadSetting, CannotRun


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

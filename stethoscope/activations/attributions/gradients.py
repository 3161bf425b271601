"""Methods that rest on gradients: as they are, times the input, added up from a baseline to the sample.

Input times gradient: the share of each part in a straight line through the sample.

Grad-CAM: which places of a convolution's output speak for the score.

Which layers Grad-CAM can look at: those whose output has places and channels.

Integrated gradients: gradients added up on the straight way from a baseline to the sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.method import (
    Attribution,
    InputKind,
    Point,
    Question,
    Report,
    Subject,
    folded,
    rows_at_once,
    slope_at_input,
    slopes,
)
from stethoscope.errors import BadSetting, CannotRun
from stethoscope.types import Architecture, Layer


class Saliency:
    """d score / d input. For tokens, the length of the gradient at the embedding."""

    id = "saliency"
    title = "Gradient"
    place = 20
    about = "How much the score would change with a small change at each place; not how much each place adds to it."
    source = "Simonyan, Vedaldi and Zisserman, Deep Inside Convolutional Networks (2013), arXiv:1312.6034"
    needs_gradients = True
    kinds: tuple[InputKind, ...] = ("image", "features", "tokens", "sequence")

    def explain(self, subject: Subject, question: Question, report: Report) -> Attribution:
        """See `Method.explain`."""
        points, slope = slope_at_input(subject, question)
        rows = {point: slope.gradients[point][0].astype(np.float64) for point in points}
        wanted = question.row.shape[1:]
        lengths = any(row.shape != wanted for row in rows.values())
        if lengths:
            values = np.sqrt(folded(question, {point: row**2 for point, row in rows.items()}))
        else:
            values = folded(question, rows)
        report(1.0, "")
        return Attribution(
            values,
            float(slope.scores[0]),
            raw=subject.is_raw(question.target),
            signed=not lengths,
            notes=("The length of the gradient at each token's embedding.",) if lengths else (),
        )


class InputTimesGradient:
    """input × d score / d input; at the embedding for tokens. Exact for a linear model."""

    id = "input_times_gradient"
    title = "Input × gradient"
    place = 30
    about = "What each place would add to the score if the model were a straight line from zero through this sample."
    source = "Shrikumar et al., Not Just a Black Box (2016), arXiv:1605.01713"
    needs_gradients = True
    kinds: tuple[InputKind, ...] = ("image", "features", "tokens", "sequence")

    def explain(self, subject: Subject, question: Question, report: Report) -> Attribution:
        """See `Method.explain`."""
        points, slope = slope_at_input(subject, question)
        shares = {
            point: slope.gradients[point][0].astype(np.float64) * slope.values[point][0].astype(np.float64)
            for point in points
        }
        report(1.0, "")
        return Attribution(folded(question, shares), float(slope.scores[0]), raw=subject.is_raw(question.target))


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


FIRST_STEPS, MOST_STEPS = 9, 2_187
TOLERANCE = 0.01
"""Share of the score's difference that the attributions may miss: the 1 % at which the steps stop being tripled.

Source: Sundararajan et al. (2017), section 5, who recommend 20 to 300 steps and checking that the sum is within 5 %.
"""
_NOTHING = 1e-9


class IntegratedGradients:
    """(input − baseline) × mean gradient between them, by the midpoint rule; steps are tripled until the shares add up.

    The midpoint rule leaves out both ends, where gradients of a network from a black picture are not what they are a hair away
    from it; of three times as many midpoints, every third is one that is known already.

    By completeness the attributions sum to score − baseline score; what is missing of it is reported. For tokens the way
    goes from the embedding of token 0 (or, with the option "zero_vector", from zero) to the embedding of each token.
    """

    id = "integrated_gradients"
    title = "Integrated gradients"
    place = 10
    about = "Shares out the difference between this score and that of the baseline: the shares add up to it."
    source = "Sundararajan, Taly and Yan, Axiomatic Attribution for Deep Networks (2017), arXiv:1703.01365"
    needs_gradients = True
    kinds: tuple[InputKind, ...] = ("image", "features", "tokens", "sequence")

    def explain(self, subject: Subject, question: Question, report: Report) -> Attribution:
        """See `Method.explain`; options "steps" (fixed instead of tripled), "most_steps", "tolerance", "zero_vector"."""
        options = question.options
        fixed = int(options.get("steps") or 0)
        most = int(options.get("most_steps") or MOST_STEPS)
        tolerance = float(options.get("tolerance") or TOLERANCE)
        if fixed < 0 or most < 1 or not 0 < tolerance < 1:
            raise BadSetting(
                "Integrated gradients: expected steps above 0 and a tolerance below 1. Change the settings."
            )
        points, end = slope_at_input(subject, question)
        stops = {point: end.values[point][0].astype(np.float64) for point in points}
        starts = self._starts(subject, question, points, stops)
        way = {point: stops[point] - starts[point] for point in points}
        ends = {point: np.stack([starts[point], stops[point]]).astype(np.float32) for point in points}
        both = slopes(subject, question, ends, points)
        before, after = float(both.scores[0]), float(both.scores[1])
        inner = {point: np.zeros_like(way[point]) for point in points}
        steps = fixed or min(FIRST_STEPS, most)
        alphas = (np.arange(steps) + 0.5) / steps
        while True:
            self._add(subject, question, points, starts, way, alphas, inner, report, steps, most)
            shares = {point: way[point] * inner[point] / steps for point in points}
            error = missing(sum(float(share.sum()) for share in shares.values()), before, after)
            if fixed or error <= tolerance or steps * 3 > most:
                break
            steps *= 3
            alphas = (np.arange(steps) + 0.5) / steps
            alphas = np.delete(alphas, np.arange(1, steps, 3))
        notes = []
        if error > tolerance:
            notes.append(
                f"The shares miss {error:.1%} of the difference after {steps:,} steps: "
                "the score jumps on the way from the baseline, or differs from run to run."
            )
        if abs(after - before) < _NOTHING:
            notes.append(
                "Sample and baseline have the same score: there is nothing to share out. Choose another baseline."
            )
        return Attribution(
            folded(question, shares),
            after,
            before,
            error,
            steps,
            raw=subject.is_raw(question.target),
            notes=tuple(notes),
        )

    def _starts(
        self, subject: Subject, question: Question, points: list[Point], stops: dict[Point, npt.NDArray[Any]]
    ) -> dict[Point, npt.NDArray[Any]]:
        if all(point.kind == "input" for point in points):
            return {point: question.baseline[0].astype(np.float64) for point in points}
        if question.options.get("zero_vector"):
            return {point: np.zeros_like(stop) for point, stop in stops.items()}
        found = subject.slope(question.feed | {question.name: question.baseline}, question.target, points, {})
        return {point: found.values[point][0].astype(np.float64) for point in points}

    def _add(
        self,
        subject: Subject,
        question: Question,
        points: list[Point],
        starts: dict[Point, npt.NDArray[Any]],
        way: dict[Point, npt.NDArray[Any]],
        alphas: npt.NDArray[Any],
        inner: dict[Point, npt.NDArray[Any]],
        report: Report,
        steps: int,
        most: int,
    ) -> None:
        size = rows_at_once(question, subject)
        for first in range(0, len(alphas), size):
            part = alphas[first : first + size]
            variants = {
                point: (starts[point][None] + part.reshape(-1, *([1] * way[point].ndim)) * way[point][None]).astype(
                    np.float32
                )
                for point in points
            }
            found = slopes(subject, question, variants, points)
            for point in points:
                inner[point] += found.gradients[point].astype(np.float64).sum(axis=0)
            report(min(1.0, (steps - len(alphas) + first) / most), f"{steps:,} steps")


def missing(total: float, before: float, after: float) -> float:
    """|total − (after − before)| as a share of that difference; where the scores agree, of the larger score.

    Source: the completeness axiom, Sundararajan et al. (2017), proposition 1.
    """
    difference = after - before
    scale = abs(difference) if abs(difference) >= _NOTHING else max(abs(after), abs(before), 1.0)
    return abs(total - difference) / scale


METHODS = (Saliency(), InputTimesGradient(), GradCam(), IntegratedGradients())

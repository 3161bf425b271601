"""Mean and deviation of the training data, as the first normalisation layer keeps them: in its settings, or among its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from stethoscope.errors import StethoscopeError
from stethoscope.evidence.input_route import input_route
from stethoscope.models.model_format import StoredWeight
from stethoscope.models.weights.stored import opened
from stethoscope.types import Architecture, Layer, ModelFile

_KEPT = {"Normalization": ("mean", "variance"), "BatchNormalization": ("moving_mean", "moving_variance")}
MOST_COLUMNS = 100_000


class Statistics(NamedTuple):
    """Of each column or channel; the same length."""

    mean: tuple[float, ...]
    std: tuple[float, ...]

    @property
    def span(self) -> tuple[float, float]:
        """From the least mean − 3 std to the largest mean + 3 std."""
        low = min(mean - 3 * std for mean, std in zip(self.mean, self.std, strict=True))
        return low, max(mean + 3 * std for mean, std in zip(self.mean, self.std, strict=True))


def trained_statistics(file: ModelFile, architecture: Architecture) -> dict[str, Statistics]:
    """Returns what each layer that normalises an input holds, by its path; layers that were never fitted are left out."""
    paths = {input_route(architecture, spec.name).normalised for spec in architecture.inputs}
    layers = [layer for layer in architecture.layers if layer.path in paths and layer.type in _KEPT]
    found = {layer.path: said for layer in layers if (said := _of_settings(layer)) is not None}
    missing = [layer for layer in layers if layer.path not in found]
    if missing:
        try:
            with opened(file) as weights:
                for layer in missing:
                    stored = _of_weights(layer, {weight.name: weight for weight in weights.get(layer.path, [])})
                    if stored is not None:
                        found[layer.path] = stored
        except StethoscopeError:
            # A format whose weights cannot be read apart says nothing about its training data.
            return found
    return found


def _of_settings(layer: Layer) -> Statistics | None:
    return _statistics(layer.config.get("mean"), layer.config.get("variance"))


def _of_weights(layer: Layer, weights: Mapping[str, StoredWeight]) -> Statistics | None:
    kept = [weights.get(name) for name in _KEPT[layer.type]]
    read = [
        np.concatenate(list(weight.pieces()))
        for weight in kept
        if weight is not None and not weight.unreadable and 0 < weight.count <= MOST_COLUMNS
    ]
    found = _statistics(*read) if len(read) == 2 else None
    never_fitted = found is not None and set(found.mean) == {0.0} and set(found.std) == {1.0}
    return None if never_fitted else found


def _statistics(mean: Any, variance: Any) -> Statistics | None:
    if mean is None or variance is None:
        return None
    try:
        means, variances = (np.asarray(values, "float64").ravel() for values in (mean, variance))
    except (TypeError, ValueError):
        return None
    if len(means) != len(variances) or not len(means) or not (np.isfinite(means).all() and (variances >= 0).all()):
        return None
    return Statistics(tuple(means.tolist()), tuple(np.sqrt(variances).tolist()))

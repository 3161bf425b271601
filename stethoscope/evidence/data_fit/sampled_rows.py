"""Some rows from all over the data, of each array by name: enough to tell shapes, ranges and classes, in bounded time and memory.

Mean and deviation of the training data, as the first normalisation layer keeps them: in its settings, or among its weights.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import Dataset
from stethoscope.errors import StethoscopeError
from stethoscope.evidence.input_route import input_route
from stethoscope.models.model_format import StoredWeight
from stethoscope.models.weights.weight_statistics import opened
from stethoscope.types import Architecture, Layer, ModelFile

Rows: TypeAlias = "npt.NDArray[Any] | list[npt.NDArray[Any]]"
"""An array with the rows first, or a list of rows of several shapes."""
_HEAVY = frozenset({"image", "mask", "audio"})
_HEAVY_SLICES, _HEAVY_ROWS = 12, 4
_SLICES, _ROWS = 16, 1_250
_MOST_BYTES = 192 << 20
_ARRAYS_OF_A_MODEL = ("x", "y")


class Sampled(NamedTuple):
    """What was read."""

    arrays: dict[str, Rows]
    """Per array the rows read. An array that is another one under a second name is left out."""
    totals: Mapping[str, int]
    """How many rows each array has in all."""


def sampled_rows(data: Dataset, time_s: float = 6.0) -> Sampled:
    """Reads slices evenly spaced over the rows: 48 rows of pictures and sounds, up to 20,000 of anything else.

    Args:
        data: opened.
        time_s: reading stops after the slice that exceeds this.

    Raises:
        TooLarge: arrays that are not rows of one table take more than the budget.
    """
    whole = data.whole()
    if whole is not None:
        totals = {name: len(array) if array.ndim else 1 for name, array in whole.items()}
        return Sampled({name: _spread(array) for name, array in whole.items()}, totals)
    heavy = any(one.kind in _HEAVY for one in data.about.fields)
    slices, rows = (_HEAVY_SLICES, _HEAVY_ROWS) if heavy else (_SLICES, _ROWS)
    found: dict[str, list[Any]] = {}
    until, held = time.monotonic() + time_s, 0
    for start, stop in _places(data.about.rows, slices, rows):
        part = _without_aliases(data.feed(start, stop))
        for name, values in part.items():
            found.setdefault(name, []).append(values)
            held += sum(np.asarray(row).nbytes for row in values)
        if time.monotonic() > until or held > _MOST_BYTES:
            break
    return Sampled({name: _joined(parts) for name, parts in found.items()}, dict.fromkeys(found, data.about.rows))


def _places(rows: int, slices: int, size: int) -> list[tuple[int, int]]:
    if rows <= slices * size:
        return [(start, min(start + size, rows)) for start in range(0, rows, size)] or [(0, 0)]
    return [(start, start + size) for start in np.linspace(0, rows - size, slices).astype(int).tolist()]


def _without_aliases(part: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    seen: set[int] = set()
    for name in sorted(part, key=lambda one: one not in _ARRAYS_OF_A_MODEL):
        if id(part[name]) not in seen:
            seen.add(id(part[name]))
            kept[name] = part[name]
    return kept


def _joined(parts: Sequence[Any]) -> Rows:
    if all(isinstance(part, np.ndarray) for part in parts) and len({part.shape[1:] for part in parts}) == 1:
        joined: npt.NDArray[Any] = np.concatenate(parts)
        return joined
    rows = [np.asarray(row) for part in parts for row in part]
    return np.stack(rows) if rows and len({row.shape for row in rows}) == 1 else rows


def _spread(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rows evenly spaced over an array."""
    if not array.ndim:
        return array.reshape(1)
    of_one = max(1, array[:1].nbytes)
    most = int(max(1, min(_SLICES * _ROWS, _MOST_BYTES // of_one)))
    return array[:: -(-len(array) // most)] if len(array) > most else array


def shapes_of(rows: Rows) -> list[tuple[int, ...]]:
    """The different shapes of a row, the commonest first."""
    if isinstance(rows, np.ndarray):
        return [rows.shape[1:]]
    counts: dict[tuple[int, ...], int] = {}
    for row in rows:
        counts[row.shape] = counts.get(row.shape, 0) + 1
    return sorted(counts, key=lambda shape: (-counts[shape], shape))


def flat(rows: Rows) -> npt.NDArray[Any]:
    """Rows as one array: as they are, or every value in a line."""
    if isinstance(rows, np.ndarray):
        return rows
    return np.concatenate([row.reshape(-1) for row in rows]) if rows else np.zeros(0)


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

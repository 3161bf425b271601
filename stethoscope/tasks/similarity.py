"""Which units (channels) of a layer behave alike over the data: a matrix, ordered so that groups show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.looking import OneLayer
from stethoscope.activations.model_rows import ModelRows
from stethoscope.activations.reduced import Layout, laid_out
from stethoscope.errors import BadSetting
from stethoscope.task import TaskContext

MOST_UNITS = 256
MEASURES = ("correlation", "cosine")
Array = npt.NDArray[Any]


@dataclass
class UnitSimilarity:
    """Running products between units, over rows and positions. Of more than `MOST_UNITS` units, those evenly spaced."""

    layout: Layout
    units: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    """Which of the layer's units are compared."""
    all_units: int = 0
    count: int = 0
    _shift: Array = field(default_factory=lambda: np.zeros(0))
    _sums: Array = field(default_factory=lambda: np.zeros(0))
    _products: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def add(self, array: Array) -> None:
        """Merges one batch of the layer's output; positions with a NaN or infinite value are left out."""
        shaped, unit_axis, _ = laid_out(array.astype(np.float32), self.layout)
        values = np.moveaxis(shaped, unit_axis, -1).reshape(-1, shaped.shape[unit_axis])
        if not self.all_units:
            self.all_units = values.shape[1]
            self.units = np.unique(
                np.linspace(0, self.all_units - 1, min(MOST_UNITS, self.all_units)).round().astype(np.int64)
            )
            self._sums = np.zeros(len(self.units))
            self._products = np.zeros((len(self.units), len(self.units)))
        chosen = values[:, self.units].astype(np.float64)
        chosen = chosen[np.isfinite(chosen).all(axis=1)]
        if not len(chosen):
            return
        if not self._shift.size:
            # Sums about a value near the mean keep their digits.
            self._shift = chosen.mean(axis=0)
        apart = chosen - self._shift
        self.count += len(apart)
        self._sums += apart.sum(axis=0)
        self._products += apart.T @ apart

    def matrix(self, measure: str) -> Array:
        """(units, units) float32 in −1 … 1; NaN where a unit never changes (correlation) or is always 0 (cosine)."""
        count = max(1, self.count)
        if measure == "correlation":
            mean = self._sums / count
            between = self._products / count - np.outer(mean, mean)
        else:
            cross = np.outer(self._sums, self._shift)
            between = (self._products + cross + cross.T) / count + np.outer(self._shift, self._shift)
        size = np.sqrt(np.maximum(np.diag(between), 0.0))
        tiny = 1e-7 * max(float(size.max(initial=0.0)), 1e-30)
        safe = np.where(size > tiny, size, np.nan)
        return np.asarray(np.clip(between / np.outer(safe, safe), -1.0, 1.0), np.float32)


def ordered(matrix: Array) -> list[int]:
    """An order of the units that puts similar ones beside each other: average linkage with optimal leaf order.

    Units without a similarity (constant ones) come last.

    Source: Bar-Joseph, Gifford & Jaakkola, Fast Optimal Leaf Ordering for Hierarchical Clustering, 2001 (as in SciPy).
    """
    known = np.flatnonzero(np.isfinite(np.diag(matrix)))
    others = [int(one) for one in np.flatnonzero(~np.isfinite(np.diag(matrix)))]
    if len(known) < 3:
        return [int(one) for one in known] + others
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    distance = 1.0 - np.nan_to_num(matrix[np.ix_(known, known)].astype(np.float64))
    distance = np.maximum((distance + distance.T) / 2, 0.0)
    np.fill_diagonal(distance, 0.0)
    flat = squareform(distance, checks=False)
    tree = optimal_leaf_ordering(linkage(flat, "average"), flat)
    return [int(known[one]) for one in leaves_list(tree)] + others


_ROWS, _BATCH_SIZE = 500, 32


@dataclass(frozen=True)
class Similarity:
    """Which units of a layer behave alike."""

    layer: str
    measure: str
    matrix: str
    """.npy in the job's outputs: units × units, in the layer's order."""
    units: tuple[int, ...]
    """Which units those are."""
    order: tuple[int, ...]
    """Places in `units`, similar ones beside each other."""
    all_units: int
    values: int
    """Numbers each unit was compared by."""
    rows: int
    rows_in_data: int
    source: str


class SimilarityTask:
    """params: {"layer", "measure": "correlation"|"cosine", "rows" (default 500), "batch_size", "seed", "preparation",
    "data_options", "trusted"}; files: "model", optionally "data"."""

    kind = "similarity"
    answer = Similarity

    def run(self, context: TaskContext) -> Similarity:
        """Compares the units over the rows."""
        params = context.params
        measure = str(params.get("measure") or "correlation")
        if measure not in MEASURES:
            raise BadSetting(f"Similarity {measure[:40]!r}: expected one of {', '.join(MEASURES)}.")
        seed, rows = int(params.get("seed") or 0), max(1, int(params.get("rows") or _ROWS))
        architecture, opened = context.open_model()
        with opened as runner:
            layer = OneLayer(context, architecture, runner)
            similarity: UnitSimilarity | None = None
            seen = 0
            with ModelRows(context, architecture, runner, dummy_rows=min(rows, 64), seed=seed) as given:
                wanted = min(rows, given.rows)
                size = layer.batch_size(int(params.get("batch_size") or _BATCH_SIZE))
                for places, feed in given.batches(wanted, size):
                    array = layer.output(feed)
                    if array.dtype.kind not in "fiub" or array.ndim < 2:
                        raise BadSetting(f"Layer {layer.path!r}: expected units to compare, got shape {array.shape}.")
                    similarity = similarity or UnitSimilarity(layer.layout(array.ndim))
                    similarity.add(array)
                    seen += len(places)
                    context.report("activations", min(1.0, seen / max(1, wanted)), f"{seen:,} of {wanted:,} rows")
                source, total = given.source, given.rows
        if similarity is None or similarity.all_units < 2:
            raise BadSetting(f"Layer {layer.path!r}: expected at least two units to compare. Choose another layer.")
        matrix = similarity.matrix(measure)
        return Similarity(
            layer=layer.path,
            measure=measure,
            matrix=context.save("similarity", matrix),
            units=tuple(int(unit) for unit in similarity.units),
            order=tuple(ordered(matrix)),
            all_units=similarity.all_units,
            values=similarity.count,
            rows=seen,
            rows_in_data=total,
            source=source,
        )


TASK = SimilarityTask()

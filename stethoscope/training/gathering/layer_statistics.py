"""Statistics of one layer's output, merged over batches: what is kept is a few numbers for each unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.activations import CAN_DIE, FLAT_ENDS
from stethoscope.evidence.model import LayerActivation, OutputSummary

Array = npt.NDArray[Any]
MOST_UNITS = 100_000
MOST_CLASSES = 1_000
_SATURATED = {name: (low, high) for name, (low, high) in FLAT_ENDS.items() if low is not None and high is not None}
"""Of activations that are flat on both sides."""


@dataclass
class LayerStatistics:
    """Running statistics of one layer. `units` lie on `axis` of its output."""

    path: str
    type: str
    activation: str
    axis: int = -1
    shape: tuple[int, ...] = ()
    rows: int = 0
    count: int = 0
    nonfinite: int = 0
    zeros: int = 0
    saturated: int = 0
    total: float = 0.0
    squares: float = 0.0
    minimum: float = np.inf
    maximum: float = -np.inf
    row_variance: float = 0.0
    largest: Array = field(default_factory=lambda: np.zeros(0))
    """For each unit the largest absolute value seen."""
    spread: Array = field(default_factory=lambda: np.zeros(0))
    """For each unit the largest difference between rows, over positions."""
    first: Array = field(default_factory=lambda: np.zeros(0))
    """The first row seen."""

    def add(self, array: Array, rows: int) -> None:
        """Merges the output for one batch of `rows` rows; leaves arrays that are not numbers alone."""
        if array.dtype.kind not in "fiub" or array.size == 0:
            return
        values = array.astype(np.float32) if array.dtype.kind != "f" or array.dtype.itemsize < 4 else array
        self.shape = self.shape or tuple(int(size) for size in array.shape)
        good = np.isfinite(values)
        bad = int(values.size - np.count_nonzero(good))
        if bad:
            self.nonfinite += bad
            values = np.where(good, values, 0.0)
        self.count += values.size - bad
        self.total += float(values.sum(dtype=np.float64))
        self.squares += float(np.einsum("i,i->", values.reshape(-1), values.reshape(-1), dtype=np.float64))
        self.minimum, self.maximum = min(self.minimum, float(values.min())), max(self.maximum, float(values.max()))
        self.zeros += int(values.size - np.count_nonzero(values)) - bad
        ends = _SATURATED.get(self.activation)
        if ends:
            self.saturated += int(np.count_nonzero((values <= ends[0]) | (values >= ends[1]))) - bad * (ends[0] >= 0)
        if values.ndim and values.shape[0] == rows:
            self._add_rows(values)

    def _add_rows(self, values: Array) -> None:
        units = values.shape[self.axis] if values.ndim > 1 else 1
        if units > MOST_UNITS:
            return
        by_unit = np.moveaxis(values, self.axis, -1) if values.ndim > 1 else values[:, None]
        flat = by_unit.reshape(values.shape[0], -1, units)
        low, high = flat.min(axis=0), flat.max(axis=0)
        if not self.rows:
            self.first = flat[0].copy() if flat[0].size <= MOST_UNITS else flat[0][:1].copy()
            self.largest, self.spread = np.zeros(units), np.zeros(units)
        first = self.first if self.first.shape == low.shape else None
        if first is not None:
            low, high = np.minimum(low, first), np.maximum(high, first)
        self.spread = np.maximum(self.spread, (high - low).max(axis=0))
        self.largest = np.maximum(self.largest, np.maximum(np.abs(low), np.abs(high)).max(axis=0))
        self.row_variance += float(flat.std(axis=0, dtype=np.float64).mean()) * values.shape[0]
        self.rows += values.shape[0]

    def result(self) -> LayerActivation:
        """The evidence."""
        count = max(1, self.count)
        mean = self.total / count
        several = self.rows > 1
        dies = self.activation in CAN_DIE and self.rows > 0 and not self.nonfinite
        return LayerActivation(
            path=self.path,
            type=self.type,
            activation=self.activation,
            shape=(self.rows, *self.shape[1:]) if self.rows else self.shape,
            mean=mean,
            std=max(0.0, self.squares / count - mean**2) ** 0.5,
            minimum=self.minimum if self.count else 0.0,
            maximum=self.maximum if self.count else 0.0,
            zero_fraction=self.zeros / count,
            nonfinite=self.nonfinite,
            dead_units_fraction=float((self.largest == 0).mean()) if dies else None,
            saturated_fraction=self.saturated / count if self.activation in _SATURATED else None,
            constant_units_fraction=float((self.spread == 0).mean()) if several else None,
            row_std=self.row_variance / self.rows if several else None,
        )


@dataclass
class OutputStatistics:
    """Running statistics of one output of the model."""

    name: str
    layer: LayerStatistics
    sum_low: float = np.inf
    sum_high: float = -np.inf
    classes: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def named(cls, name: str) -> OutputStatistics:
        """Empty statistics."""
        return cls(name, LayerStatistics(name, "", ""))

    def add(self, array: Array, rows: int) -> None:
        """Merges the output for one batch."""
        self.layer.add(array, rows)
        if array.dtype.kind != "f" or array.ndim < 2 or array.size == 0:
            return
        sums = array.sum(axis=-1, dtype=np.float64)
        if np.isfinite(sums).all():
            self.sum_low, self.sum_high = min(self.sum_low, float(sums.min())), max(self.sum_high, float(sums.max()))
            units = array.shape[-1]
            if 2 <= units <= MOST_CLASSES:
                counts = np.bincount(array.argmax(axis=-1).reshape(-1), minlength=units)
                self.classes = counts if self.classes.size != units else self.classes + counts

    def result(self) -> OutputSummary:
        """The evidence."""
        found = self.layer.result()
        summed = self.sum_low <= self.sum_high
        return OutputSummary(
            name=self.name,
            shape=found.shape,
            minimum=found.minimum,
            maximum=found.maximum,
            mean=found.mean,
            std=found.std,
            row_std=found.row_std or 0.0,
            nonfinite=found.nonfinite,
            row_sum_minimum=self.sum_low if summed else None,
            row_sum_maximum=self.sum_high if summed else None,
            predicted_class_counts=tuple(int(count) for count in self.classes),
        )

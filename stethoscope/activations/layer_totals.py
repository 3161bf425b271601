"""Statistics of one layer, merged over batches: what is kept is a few numbers for each unit, and who excites it most."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.reduced import Layout
from stethoscope.architecture.activations import CAN_DIE, FLAT_ENDS

Array = npt.NDArray[Any]
TOP_SAMPLES = 8
"""Rows kept for each unit: those with its largest values."""
BINS = 60
_KEPT_VALUES = 1 << 16
UNIT_FIELDS = [
    ("mean", "<f4"),
    ("std", "<f4"),
    ("min", "<f4"),
    ("max", "<f4"),
    ("zero_fraction", "<f4"),
    ("saturated_fraction", "<f4"),
]
"""Columns of a layer's units-<n>.npy; "saturated_fraction" is NaN where the activation has no flat ends."""
TOP_FIELDS = [("place", "<i8"), ("value", "<f4")]
"""Columns of a layer's top-<n>.npy (units × `TOP_SAMPLES`, largest first); place −1 where there were fewer rows."""


@dataclass(frozen=True)
class ValueHistogram:
    """Counts of a layer's values between edges."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    of: int
    """How many values the counted ones were drawn from."""


@dataclass(frozen=True)
class LayerStatistics:
    """One layer's output over all rows. Files are .npy in the job's outputs; None where there is nothing to write."""

    path: str
    """With "#2" for its second call and ":1" for its second output."""
    type: str
    activation: str
    shape: tuple[int | None, ...]
    values: int
    mean: float | None
    std: float | None
    min: float | None
    max: float | None
    zero_fraction: float
    saturated_fraction: float | None
    """None where the activation has no flat ends."""
    nonfinite: int
    rows: int
    units: int
    unit_axis: int | None
    dead_units: int | None
    """0 for every row; None where the activation cannot die."""
    saturated_units: int | None
    histogram: ValueHistogram | None
    layer: str = ""
    """The layer, without the marks of a call or an output."""
    units_file: str | None = None
    """One row per unit, of `UNIT_FIELDS`."""
    top_file: str | None = None
    """For each unit the rows with its largest values, of `TOP_FIELDS`."""
    outputs_file: str | None = None
    """The whole outputs of the first rows."""
    time_s: float | None = None
    """In one call; None where the format does not tell it, or nobody asked."""


@dataclass
class LayerTotals:
    """Running statistics of one layer's output."""

    path: str
    type: str
    activation: str
    layout: Layout
    shape: tuple[int, ...] = ()
    """Of the first batch."""
    varies: bool = False
    """Whether the sizes beyond the rows differ between batches."""
    rows: int = 0
    """Rows seen, where the output has one entry for each; 0 otherwise."""
    nonfinite: int = 0
    count: Array = field(default_factory=lambda: np.zeros(0))
    mean: Array = field(default_factory=lambda: np.zeros(0))
    m2: Array = field(default_factory=lambda: np.zeros(0))
    low: Array = field(default_factory=lambda: np.zeros(0))
    high: Array = field(default_factory=lambda: np.zeros(0))
    zeros: Array = field(default_factory=lambda: np.zeros(0))
    saturated: Array = field(default_factory=lambda: np.zeros(0))
    top_values: Array = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    top_places: Array = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    _samples: list[Array] = field(default_factory=list)
    _sampled: int = 0
    _seen: int = 0

    def add(self, reduced: Mapping[str, Array], places: Array) -> None:
        """Merges one batch.

        Args:
            reduced: as `reduced.reduce_array` returns it.
            places: of the batch's rows in the data.
        """
        shape = tuple(int(size) for size in reduced["shape"])
        self.shape = self.shape or shape
        self.varies = self.varies or shape[1:] != self.shape[1:]
        mean = np.atleast_1d(np.asarray(reduced["mean"], np.float64))
        values = math.prod(shape) / mean.size
        new = {
            name: np.broadcast_to(np.asarray(reduced.get(name, missing), np.float64), mean.shape)
            for name, missing in (("count", values), ("m2", 0), ("low", 0), ("high", 0), ("zeros", 0), ("saturated", 0))
        } | {"mean": mean}
        self.nonfinite += int(reduced.get("bad", 0))
        if self.count.size and self.count.shape != mean.shape:
            # Another number of units than before (attention over a sentence of another length): one unit for all.
            new, self.top_values = _as_one(new), np.zeros((0, 0), np.float32)
            for name, value in _as_one({name: getattr(self, name) for name in new}).items():
                setattr(self, name, value)
        self._merge(new)
        row_high = np.asarray(reduced["row_high"], np.float32)
        if len(row_high) == len(places):
            self.rows += len(places)
            if mean.size == self.count.size:
                self._rank(row_high, places)
        self._keep(np.asarray(reduced["sample"]).reshape(-1))

    def _merge(self, new: Mapping[str, Array]) -> None:
        """Adds one batch's sums. Source: Chan, Golub & LeVeque, Updating Formulae … for Computing Sample Variances, 1979."""
        if not self.count.size:
            for name, value in new.items():
                setattr(self, name, np.array(value, np.float64))
            return
        total = self.count + new["count"]
        safe = np.maximum(total, 1.0)
        apart = new["mean"] - self.mean
        self.m2 = self.m2 + new["m2"] + apart**2 * self.count * new["count"] / safe
        self.mean = np.where(total > 0, self.mean + apart * new["count"] / safe, 0.0)
        self.low, self.high = np.minimum(self.low, new["low"]), np.maximum(self.high, new["high"])
        self.zeros, self.saturated = self.zeros + new["zeros"], self.saturated + new["saturated"]
        self.count = total

    def _rank(self, row_high: Array, places: Array) -> None:
        values = row_high.T
        held = np.broadcast_to(np.asarray(places, np.int64), values.shape)
        if self.top_values.shape[:1] == values.shape[:1]:
            values, held = np.hstack([self.top_values, values]), np.hstack([self.top_places, held])
        if values.shape[1] > TOP_SAMPLES:
            chosen = np.argpartition(-values, TOP_SAMPLES - 1, axis=1)[:, :TOP_SAMPLES]
            values, held = np.take_along_axis(values, chosen, 1), np.take_along_axis(held, chosen, 1)
        self.top_values, self.top_places = values, np.array(held)

    def _keep(self, values: Array) -> None:
        """Keeps a sample of all batches, each with about the same share."""
        self._seen += values.size
        self._samples.append(values)
        self._sampled += values.size
        if self._sampled > 2 * _KEPT_VALUES:
            pool = np.concatenate(self._samples)
            self._samples = [np.random.default_rng(self._seen).choice(pool, _KEPT_VALUES, replace=False)]
            self._sampled = _KEPT_VALUES

    @property
    def units(self) -> int:
        """How many units are told apart."""
        return int(self.count.size)

    @property
    def top(self) -> Array:
        """(units, `TOP_SAMPLES`) of `TOP_FIELDS`, largest first."""
        found = np.zeros((len(self.top_values), TOP_SAMPLES), TOP_FIELDS)
        found["place"], found["value"] = -1, np.nan
        order = np.argsort(-self.top_values, axis=1, kind="stable")
        width = order.shape[1] if order.ndim == 2 else 0
        if width:
            found["place"][:, :width] = np.take_along_axis(self.top_places, order, 1)
            found["value"][:, :width] = np.take_along_axis(self.top_values, order, 1)
        return found

    @property
    def by_unit(self) -> Array:
        """(units,) of `UNIT_FIELDS`."""
        found = np.zeros(self.units, UNIT_FIELDS)
        count = np.maximum(self.count, 1.0)
        known = self.count > 0
        found["mean"], found["std"] = self.mean, np.sqrt(np.maximum(self.m2, 0.0) / count)
        found["min"], found["max"] = np.where(known, self.low, np.nan), np.where(known, self.high, np.nan)
        found["zero_fraction"] = self.zeros / count
        found["saturated_fraction"] = self.saturated / count if self.activation in FLAT_ENDS else np.nan
        return found

    def result(self) -> LayerStatistics:
        """The layer's statistics, without its files."""
        whole = _as_one(
            {name: getattr(self, name) for name in ("count", "mean", "m2", "low", "high", "zeros", "saturated")}
        )
        count = float(whole["count"][0])
        safe = max(count, 1.0)
        ends, dies = self.activation in FLAT_ENDS, self.activation in CAN_DIE
        rows_shape = (self.rows or None, *self.shape[1:]) if self.rows else self.shape
        return LayerStatistics(
            path=self.path,
            type=self.type,
            activation=self.activation,
            shape=(rows_shape[0], *(None if self.varies else size for size in rows_shape[1:])) if rows_shape else (),
            values=int(count) + self.nonfinite,
            mean=float(whole["mean"][0]) if count else None,
            std=float(np.sqrt(max(0.0, whole["m2"][0]) / safe)) if count else None,
            min=float(whole["low"][0]) if count else None,
            max=float(whole["high"][0]) if count else None,
            zero_fraction=float(whole["zeros"][0]) / safe,
            saturated_fraction=float(whole["saturated"][0]) / safe if ends else None,
            nonfinite=self.nonfinite,
            rows=self.rows,
            units=self.units,
            unit_axis=self._unit_axis(),
            dead_units=int(np.count_nonzero(self.zeros >= self.count)) if dies and not self.nonfinite else None,
            saturated_units=int(np.count_nonzero(self.saturated >= np.maximum(self.count, 1))) if ends else None,
            histogram=self._histogram(whole),
        )

    def _unit_axis(self) -> int | None:
        if len(self.shape) < 2 or self.units <= 1 < self.shape[-1 if len(self.shape) == 2 else self.layout.axis]:
            return None
        return len(self.shape) - 1 if len(self.shape) == 2 or self.layout.axis == -1 else self.layout.axis

    def _histogram(self, whole: Mapping[str, Array]) -> ValueHistogram | None:
        """Counts of the values kept, over the whole range."""
        pool = np.concatenate(self._samples) if self._samples else np.zeros(0)
        pool = pool.astype(np.float64)
        pool = pool[np.isfinite(pool)]
        low, high = float(whole["low"][0]), float(whole["high"][0])
        if not pool.size or not np.isfinite(high - low):
            return None
        top = high if high > low else low + max(1.0, abs(low))
        counts, edges = np.histogram(np.clip(pool, low, high), bins=BINS, range=(low, top))
        return ValueHistogram(
            tuple(float(edge) for edge in edges), tuple(int(one) for one in counts), int(whole["count"][0])
        )


def _as_one(parts: Mapping[str, Array]) -> dict[str, Array]:
    """The sums of several units as those of one."""
    count = parts["count"]
    total = float(count.sum())
    mean = float((parts["mean"] * count).sum() / max(total, 1.0))
    known = count > 0
    return {
        "count": np.array([total]),
        "mean": np.array([mean]),
        "m2": np.array([float((parts["m2"] + (parts["mean"] - mean) ** 2 * count).sum())]),
        "low": np.array([parts["low"][known].min() if known.any() else np.nan]),
        "high": np.array([parts["high"][known].max() if known.any() else np.nan]),
        "zeros": np.array([parts["zeros"].sum()]),
        "saturated": np.array([parts["saturated"].sum()]),
    }

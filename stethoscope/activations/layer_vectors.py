"""One vector per row of the data for a layer, gathered in batches: what projections and neighbours are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.model_rows import ModelRows
from stethoscope.activations.reduced import Layout, laid_out
from stethoscope.errors import BadSetting
from stethoscope.types import Feed

MOST_FLAT = 4_096
"""Values of one row that are taken as they are; of more, each unit's mean over positions is."""
MOST_ROWS = 5_000


@dataclass(frozen=True)
class LayerVectors:
    """`vectors` is (rows, features) float32; `places` where the rows are in the data; `taken` how a row became a vector."""

    vectors: npt.NDArray[np.float32]
    places: npt.NDArray[np.int64]
    taken: str
    """"values", or "means" over positions."""
    left_out: int = 0
    """Rows with NaN or infinite values."""


def gather_vectors(
    given: ModelRows,
    output: Callable[[Feed], npt.NDArray[Any]],
    layout: Layout,
    rows: int,
    batch_size: int,
    report: Callable[[float, str], None],
    layer: str,
) -> LayerVectors:
    """Runs the model over at most `rows` rows, evenly spaced.

    Args:
        given: the rows.
        output: the layer's output for a feed.
        layout: how it is read.
        rows: at most so many.
        batch_size: rows in one call.
        report: progress, 0 … 1 and a sentence.
        layer: for error sentences.

    Raises:
        BadSetting: the output has no entry for each row, or holds no numbers.
    """
    wanted = min(rows, MOST_ROWS, given.rows)
    parts: list[npt.NDArray[Any]] = []
    seen: list[npt.NDArray[Any]] = []
    means: bool | None = None
    for places, feed in given.batches(wanted, batch_size):
        array = output(feed)
        if array.dtype.kind not in "fiub" or not array.ndim or len(array) != len(places):
            raise BadSetting(f"Layer {layer!r}: expected numbers with one entry for each row, got shape {array.shape}.")
        values = array.astype(np.float32)
        shaped, unit_axis, _ = laid_out(values, layout)
        if means is None:
            means = values[0].size > MOST_FLAT and shaped.shape[unit_axis] > 1
        parts.append(shaped.mean(axis=3 - unit_axis) if means else _flat(values))
        seen.append(places)
        report(
            min(1.0, sum(len(one) for one in seen) / max(1, wanted)),
            f"{sum(len(one) for one in seen):,} of {wanted:,} rows",
        )
    widths = {part.shape[1] for part in parts}
    if len(widths) != 1:
        raise BadSetting(
            f"Layer {layer!r}: its output differs in size from row to row. Choose a later layer, or add the step Pad."
        )
    vectors, places = np.concatenate(parts), np.concatenate(seen)
    # A fixed batch repeats rows where there are too few of them.
    places, first = np.unique(places, return_index=True)
    vectors = vectors[first]
    good = np.isfinite(vectors).all(axis=1)
    return LayerVectors(vectors[good], places[good], "means" if means else "values", int((~good).sum()))


def _flat(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    flat = values.reshape(len(values), -1)
    return flat[:, :: -(-flat.shape[1] // (16 * MOST_FLAT))] if flat.shape[1] > 16 * MOST_FLAT else flat

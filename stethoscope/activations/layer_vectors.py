"""One vector per row of the data for a layer, gathered in batches: what projections and neighbours are made of.

Points in two or three dimensions for vectors of many: principal components, UMAP where it is installed; neighbours.
"""

from __future__ import annotations

import importlib.util
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


METHODS = ("pca", "umap")
NEIGHBOURS = 8
_MOST_EXACT = 1_024
_UMAP_ROWS = 4


@dataclass(frozen=True)
class Projection:
    """`points` is (rows, dimensions) float32; `explained` the share of variance of each axis (principal components only)."""

    points: npt.NDArray[np.float32]
    explained: tuple[float, ...]


def umap_installed() -> bool:
    """Whether UMAP can be had."""
    return importlib.util.find_spec("umap") is not None


def project(vectors: npt.NDArray[np.float32], method: str, dimensions: int, seed: int) -> Projection:
    """Projects (rows, features) vectors.

    Principal components: signs are chosen so that the largest loading of each axis is positive. Beyond 1,024 features and
    rows they come from a randomised range finder with four power iterations.

    Source: Halko, Martinsson & Tropp, Finding Structure with Randomness, 2011; McInnes et al., UMAP, 2018.

    Raises:
        BadSetting: an unknown method, UMAP without its package, too few rows.
    """
    if method not in METHODS:
        raise BadSetting(f"Projection {method[:40]!r}: expected one of {', '.join(METHODS)}.")
    if len(vectors) < 2:
        raise BadSetting(f"Projection: expected at least 2 rows, got {len(vectors)}. Use more data.")
    if method == "umap":
        return _umap(vectors, dimensions, seed)
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    total = float(np.square(centred).sum())
    rank = min(dimensions, *centred.shape)
    if min(centred.shape) <= _MOST_EXACT:
        left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    else:
        random = np.random.default_rng(seed)
        basis = centred @ random.standard_normal((centred.shape[1], rank + 16))
        for _ in range(4):
            basis = centred @ (centred.T @ np.linalg.qr(basis)[0])
        basis = np.linalg.qr(basis)[0]
        left, sizes, right = np.linalg.svd(basis.T @ centred, full_matrices=False)
        left = basis @ left
    signs = np.sign(right[np.arange(rank), np.abs(right[:rank]).argmax(axis=1)])
    points = left[:, :rank] * sizes[:rank] * np.where(signs == 0, 1.0, signs)
    explained = tuple(float(size**2 / total) if total else 0.0 for size in sizes[:rank])
    short = dimensions - rank
    padded = np.hstack([points, np.zeros((len(points), short))]) if short > 0 else points
    return Projection(padded.astype(np.float32), explained + (0.0,) * max(0, short))


def nearest(
    vectors: npt.NDArray[np.float32], count: int = NEIGHBOURS
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """For each row the numbers of its nearest other rows by cosine distance, nearest first, and those distances (0 … 2)."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    count = max(0, min(count, len(vectors) - 1))
    places = np.zeros((len(vectors), count), np.int64)
    far = np.zeros((len(vectors), count), np.float32)
    for start in range(0, len(vectors), 512):
        distance = 1.0 - unit[start : start + 512] @ unit.T
        distance[np.arange(len(distance)), np.arange(start, start + len(distance))] = np.inf
        chosen = np.argpartition(distance, count - 1, axis=1)[:, :count] if count else places[start : start + 512]
        chosen_far = np.take_along_axis(distance, chosen, 1)
        order = np.argsort(chosen_far, axis=1, kind="stable")
        places[start : start + 512] = np.take_along_axis(chosen, order, 1)
        far[start : start + 512] = np.clip(np.take_along_axis(chosen_far, order, 1), 0.0, 2.0)
    return places, far


def _umap(vectors: npt.NDArray[np.float32], dimensions: int, seed: int) -> Projection:
    if not umap_installed():
        raise BadSetting(
            "UMAP: the package umap-learn is not installed here. Install it, or choose principal components."
        )
    if len(vectors) < _UMAP_ROWS:
        raise BadSetting(f"UMAP: expected at least {_UMAP_ROWS} rows, got {len(vectors)}. Choose principal components.")
    import umap

    made = umap.UMAP(n_components=dimensions, random_state=seed, n_neighbors=min(15, len(vectors) - 1), init="random")
    return Projection(np.asarray(made.fit_transform(vectors), np.float32), ())

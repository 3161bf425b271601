"""Calling a model on rows in as many calls as its batch asks for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from stethoscope.data.feeds.batching import Batching
from stethoscope.types import Feed


def in_calls(call: Callable[[Feed], Feed], feed: Feed, batching: Batching, batch_size: int | None = None) -> Feed:
    """The outputs for all rows of a feed, joined.

    Args:
        call: runs the model once.
        feed: any number of rows.
        batching: of the model's inputs; a fixed batch is filled with repeated rows, whose outputs are dropped.
        batch_size: rows in a call, where the model takes any; all of them for None.
    """
    rows = batching.rows(feed)
    size = batching.fixed or batch_size or rows
    if not batching.names or (rows <= size and batching.fixed is None):
        return call(feed)
    parts: dict[str, list[npt.NDArray[np.generic]]] = {}
    for start in range(0, rows, size):
        part = batching.part(feed, start, start + size)
        kept = batching.rows(part)
        full = batching.take(part, size) if batching.fixed else part
        for name, array in call(full).items():
            cut = array.ndim > 0 and len(array) == batching.rows(full) > kept
            parts.setdefault(name, []).append(array[:kept] if cut else array)
    return {name: _joined(arrays) for name, arrays in parts.items()}


def _joined(arrays: list[npt.NDArray[np.generic]]) -> npt.NDArray[np.generic]:
    if len(arrays) == 1:
        return arrays[0]
    if all(array.ndim and array.shape[1:] == arrays[0].shape[1:] for array in arrays):
        return np.concatenate(arrays)
    return arrays[-1]

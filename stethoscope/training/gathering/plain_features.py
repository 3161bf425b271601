"""A model's inputs as one table of numbers, for models that know nothing but tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.evidence.input_route import input_route
from stethoscope.types import Architecture, Feed

Array = npt.NDArray[Any]
MAX_COLUMNS = 1_024
MAX_VOCABULARY = 1_000


def table_of(inputs: Feed, architecture: Architecture, rows: Array) -> tuple[npt.NDArray[np.float32], list[str]]:
    """Returns shape (len(rows), columns) for the given row numbers, and what was left out, one sentence each.

    Numbers are flattened (images thinned out to at most 1,024 values), numbers of words become counts of the 1,000 most
    frequent, text becomes hashed word counts.
    """
    parts: list[Array] = []
    notes: list[str] = []
    for name, array in inputs.items():
        chosen = array[rows]
        if chosen.dtype.kind in "US":
            parts.append(_words(chosen))
            notes.append(f"The text of {name} was given to the baselines as hashed counts of words.")
        elif input_route(architecture, name).looked_up and _whole(chosen):
            parts.append(_counts(chosen, array))
            notes.append(f"The numbers of words or categories of {name} were given to the baselines as counts.")
        elif chosen.dtype.kind in "iufb":
            thin, said = _thinned(name, chosen)
            parts.append(thin)
            notes += said
        else:
            notes.append(f"The baselines cannot use input {name} ({array.dtype}).")
    if not parts:
        return np.zeros((len(rows), 0), np.float32), notes
    table = np.concatenate([np.asarray(part, np.float32) for part in parts], axis=1)
    table[~np.isfinite(table)] = np.nan
    return table, notes


def _whole(array: Array) -> bool:
    return array.dtype.kind in "iub" or bool((array == np.rint(array)).all())


def _thinned(name: str, array: Array) -> tuple[Array, list[str]]:
    flat = array.reshape(len(array), -1)
    width = flat.shape[1]
    if width <= MAX_COLUMNS:
        return flat, []
    if array.ndim == 4:
        step = math.ceil(math.sqrt(width / MAX_COLUMNS))
        height, breadth = (size // step * step for size in array.shape[1:3])
        if height and breadth:
            blocks = array[:, :height, :breadth].reshape(
                len(array), height // step, step, breadth // step, step, array.shape[3]
            )
            small = blocks.mean(axis=(2, 4), dtype=np.float32).reshape(len(array), -1)
            return small[:, :MAX_COLUMNS], [f"The baselines saw the images of {name} {step} times smaller."]
    chosen = np.linspace(0, width - 1, MAX_COLUMNS).astype(np.int64)
    return flat[:, chosen], [f"The baselines saw {MAX_COLUMNS:,} of the {width:,} columns of {name}."]


def _counts(chosen: Array, everything: Array) -> Array:
    flat = chosen.reshape(len(chosen), -1).astype(np.int64)
    sample = everything.reshape(-1)[: 1 << 22].astype(np.int64)
    numbers, counts = np.unique(sample, return_counts=True)
    kept = np.sort(numbers[np.argsort(-counts, kind="stable")[:MAX_VOCABULARY]])
    place = np.clip(np.searchsorted(kept, flat), 0, len(kept) - 1)
    known = kept[place] == flat
    table = np.zeros((len(flat), len(kept)), np.float32)
    rows = np.broadcast_to(np.arange(len(flat))[:, None], flat.shape)
    np.add.at(table, (rows[known], place[known]), 1.0)
    return table


def _words(array: Array) -> Array:
    from sklearn.feature_extraction.text import HashingVectorizer

    texts = [" ".join(_text(item) for item in np.ravel(row)) for row in array]
    found: Array = HashingVectorizer(n_features=MAX_VOCABULARY, alternate_sign=False).transform(texts).toarray()
    return found


def _text(item: Any) -> str:
    return item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)

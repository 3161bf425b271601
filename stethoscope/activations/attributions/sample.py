"""The row of the data that is explained, as the model gets it, and some others to compare it with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stethoscope.activations.model_rows import ModelRows
from stethoscope.errors import BadInput, TooLarge
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Runner

REFERENCE_ROWS = 256


@dataclass(frozen=True)
class Explained:
    """One row for each input, (1, …); rows of the data beside it."""

    feed: Feed
    reference: Feed
    """At most `REFERENCE_ROWS` rows; empty for random input."""
    source: str
    """"dummy" or the data file's name."""
    place: int
    classes: tuple[str, ...] = ()
    """Names of the classes in the order of their numbers, where the data has them. Hostile text."""


def explained_row(context: TaskContext, architecture: Architecture, runner: Runner, place: int, seed: int) -> Explained:
    """Row `place` of files["data"], prepared as params["preparation"] says, or of random input where there is no data.

    Raises:
        BadInput: there is no such row, or the model does not take it.
        UnreadableFile, UnsafeFile, TooLarge, BadSetting: as `DataReader.open`.
    """
    with ModelRows(context, architecture, runner, seed=seed) as given:
        _, feed = given.at([place])
        reference: Feed = {}
        if given.source != "dummy" and given.rows > 1:
            try:
                _, reference = next(given.batches(REFERENCE_ROWS, REFERENCE_ROWS), (None, {}))
            except (BadInput, TooLarge):
                # The mean of the data is a baseline one may do without; another row's fault is not this row's.
                reference = {}
        names = given.batching.names
        one = {name: array[:1] if name in names and array.ndim else array for name, array in feed.items()}
        return Explained(one, reference, given.source, place, tuple(given.classes))


def as_plain(array: Any) -> Any:
    """Half precision as float32, which every reader of .npy knows."""
    return array.astype(np.float32) if array.dtype.name in ("bfloat16", "float16") else array

"""All rows of a data file as arrays, prepared as the user asked: what every job that runs a model on data begins with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import open_data
from stethoscope.data.dataset import Dataset
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.errors import BadInput, TooLarge
from stethoscope.task import TaskContext
from stethoscope.types import Feed, ModelFile

ROWS_AT_ONCE, FIRST_ROWS = 1_024, 16
PART_BYTES = 64 << 20
"""Of the rows read at once, before they are prepared: a photograph may be made a hundred times smaller."""
_MODEL_ARRAYS = ("x", "y")


def data_of(context: TaskContext, most_rows: int | None = None) -> Feed:
    """The arrays of a job's files["data"], prepared as its params["preparation"] and params["data_options"] say.

    All rows, or the first `most_rows`.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge, BadSetting: as `DataReader.open`.
        BadInput: rows of several shapes that no step makes one, or a step that does not apply.
    """
    params = context.params
    return read_rows(
        context.files["data"],
        context.budget.memory_bytes,
        Preparation.from_json(params.get("preparation") or ()),
        params.get("data_options") or {},
        most_rows,
    )


def read_rows(
    file: ModelFile,
    budget_bytes: int,
    preparation: Preparation,
    options: Mapping[str, Any] | None = None,
    most_rows: int | None = None,
) -> Feed:
    """Reads every row (or the first `most_rows`) as one array per name, in parts that are prepared one after another.

    An array beside x and y whose rows have no one shape is left out.

    Raises:
        TooLarge: the prepared arrays would take more than `budget_bytes`.
        BadInput: see `data_of`.
    """
    with open_data(file, budget_bytes, options) as data:
        whole = data.whole() if most_rows is None else None
        if whole is not None:
            return {name: preparation.apply_to(name, values) for name, values in whole.items()}
        return _Collected(file, budget_bytes, preparation).of(data, most_rows)


class _Collected:
    """Prepared parts of each array, counted against the budget."""

    def __init__(self, file: ModelFile, budget_bytes: int, preparation: Preparation) -> None:
        self._file, self._budget, self._preparation = file, budget_bytes, preparation
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}
        self._same_as: dict[str, str] = {}
        """Arrays that are another one under a second name ("x" and "image") and are held once."""
        self._uneven: set[str] = set()
        self._held = 0

    def of(self, data: Dataset, most_rows: int | None) -> Feed:
        """Reads every row, or the first `most_rows`; see `read_rows`."""
        start, step = 0, FIRST_ROWS
        while True:
            # How many rows there are may turn out only while they are read.
            rows, exact = data.about.rows, data.about.rows_exact
            stop = min(start + step, rows) if exact else start + step
            stop = stop if most_rows is None else min(stop, most_rows)
            if start and stop <= start:
                break
            part = data.feed(start, stop)
            if start == 0 or any(len(values) for values in part.values()):
                self._add(part, stop, rows)
            elif start >= data.about.rows:
                break
            if stop <= start:
                break
            step = _step(part, stop - start)
            start = stop
        feed = {name: _joined(self._file, name, arrays) for name, arrays in self._parts.items()}
        feed |= {name: feed[other] for name, other in self._same_as.items() if other in feed}
        return feed

    def _add(self, part: Mapping[str, Any], stop: int, rows: int) -> None:
        seen: dict[int, str] = {}
        for name in sorted(part, key=lambda one: one not in _MODEL_ARRAYS):
            values = part[name]
            first = seen.setdefault(id(values), name)
            if first != name and not self._preparation.of(name):
                self._same_as[name] = first
                continue
            if name in self._uneven:
                continue
            try:
                made = self._preparation.apply_to(name, values)
            except BadInput:
                # Only the arrays a model is known to get decide; a list of boxes beside them may be of any length.
                if name in _MODEL_ARRAYS or self._preparation.of(name):
                    raise
                self._uneven.add(name)
                self._parts.pop(name, None)
                continue
            self._held += made.nbytes
            if self._held > self._budget:
                raise TooLarge(
                    f"{self._file.name}: its arrays take more than the {self._budget:,} bytes allowed, at row {stop:,} of "
                    f"{rows:,}. Send fewer rows, or resize them first."
                )
            kept = self._parts.setdefault(name, [])
            if name not in _MODEL_ARRAYS and kept and kept[0].shape[1:] != made.shape[1:]:
                self._uneven.add(name)
                self._parts.pop(name)
                continue
            kept.append(made)


def _step(part: Mapping[str, Any], rows: int) -> int:
    """How many rows to read at once, going by what the last ones took: photographs are larger than numbers."""
    sizes = {id(values): _bytes(values) for values in part.values()}
    return max(1, min(ROWS_AT_ONCE, PART_BYTES * rows // max(1, sum(sizes.values()))))


def _bytes(values: Any) -> int:
    return sum(np.asarray(row).nbytes for row in values) if isinstance(values, list) else int(np.asarray(values).nbytes)


def _joined(file: ModelFile, name: str, arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if len(arrays) == 1:
        return arrays[0]
    shapes = {array.shape[1:] for array in arrays}
    if len(shapes) > 1:
        several = " and ".join(str(shape) for shape in sorted(shapes, key=str)[:3])
        raise BadInput(
            f"{file.name}: expected every row of {name!r} to have one shape, got {several}. Add the step Resize or Pad."
        )
    return np.concatenate(arrays)

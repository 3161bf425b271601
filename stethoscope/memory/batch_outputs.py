"""The batches of a prediction: which of them is under way, and their outputs joined. Used in a worker."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.task import TaskContext
from stethoscope.types import Architecture

PREVIEW_ROWS, PREVIEW_VALUES = 5, 12
Value = bool | int | float | str


class Batches:
    """Says which batch is under way; `model.predict` tells when one is done, other styles are asked batch by batch."""

    def __init__(self, context: TaskContext) -> None:
        self._context, self.total, self.done = context, 0, 0

    def begin(self, total: int) -> None:
        """Says that so many batches are to come."""
        self.total, self.done = total, 0
        self.report()

    def finished(self, done: int) -> None:
        """Says that so many are done."""
        if self.total:  # not while warming up and calibrating
            self.done = done
            self.report()

    def report(self) -> None:
        """Says where the run is."""
        if self.done < self.total:
            self._context.report("predict", self.done / self.total, f"batch {self.done + 1} of {self.total}")
        else:
            self._context.report("collect", 1.0, "joining the outputs")

    @property
    def collecting(self) -> bool:
        """Whether all batches are done."""
        return 0 < self.total <= self.done

    @property
    def current(self) -> str:
        """The batch under way, or what follows the last."""
        if self.collecting:
            return f"Joining the outputs of {self.total} batches"
        return f"Batch {self.done + 1} of {self.total}"


def join(arrays: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The outputs of all batches as one array; the last where they do not go together."""
    if len(arrays) == 1:
        return arrays[0]
    if arrays[0].ndim == 0:
        return np.stack(arrays)
    if len({array.shape[1:] for array in arrays}) == 1:
        return np.concatenate(arrays)
    return arrays[-1]


def preview(array: npt.NDArray[Any]) -> tuple[tuple[Value, ...], ...]:
    """The first values of the first rows."""
    rows = array.reshape(array.shape[0], -1) if array.ndim > 1 else array.reshape(-1, 1)
    return tuple(tuple(_value(item) for item in row[:PREVIEW_VALUES]) for row in rows[:PREVIEW_ROWS])


def _value(item: Any) -> Any:
    if isinstance(item, bytes):
        return item.decode("utf-8", "replace")[:200]
    return item.item() if hasattr(item, "item") else str(item)[:200]


def declared_shape(architecture: Architecture, operator: str, rows: int) -> tuple[int, ...] | None:
    """The output shape the file declares for an operator, for frameworks whose message has none."""
    for layer in architecture.layers:
        shape = layer.output_shape
        if operator and layer.path == operator and shape and None not in shape[1:]:
            return tuple(rows if size is None else size for size in shape)
    return None

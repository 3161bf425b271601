"""Which number of a model's outputs is explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.errors import BadSetting, CannotRun
from stethoscope.types import Feed


@dataclass(frozen=True)
class Target:
    """A unit of one output: a class of a classification, the value of a regression.

    Outputs with positions (a class for each pixel, token or time step) are averaged over them, unless one is chosen.
    """

    output: str
    unit: int
    """Along the last axis of the output; 0 for an output without one."""
    position: tuple[int, ...] = ()
    """Along the axes between the rows and the last; () for the mean over all of them."""
    raw: bool = True
    """Whether the score is taken before the last softmax or sigmoid where that is possible."""

    def score(self, output: Any, mean: Any) -> Any:
        """The score of each row.

        Args:
            output: an array or tensor of (rows, …).
            mean: takes (tensor, axes) and averages: numpy's or TensorFlow's.
        """
        rank = len(output.shape)
        if rank < 2:
            return output
        if self.position:
            return output[(slice(None), *self.position, self.unit)]
        chosen = output[..., self.unit]
        return mean(chosen, tuple(range(1, rank - 1))) if rank > 2 else chosen

    def of_arrays(self, outputs: Feed) -> npt.NDArray[Any]:
        """The score of each row, (rows,) float64."""
        found = self.score(np.asarray(outputs[self.output], np.float64), lambda array, axes: array.mean(axis=axes))
        return np.asarray(found, np.float64)


def choose(outputs: Feed, asked: Mapping[str, Any], model: str) -> tuple[Target, tuple[int, ...], bool]:
    """What a job's parameters ask to be explained.

    Args:
        outputs: what the model gives for the row, by output name: (1, …).
        asked: {"output": name or None, "target": class number or "top", "position": […] or None, "score": "raw" or "output"}.
        model: the file's name.

    Returns:
        (the target, the output's shape of one row, whether it was the highest).

    Raises:
        BadSetting: no such output, unit or position.
        CannotRun: the output holds no numbers.
    """
    numbers = {name: array for name, array in outputs.items() if array.dtype.kind in "fiub" and array.size}
    if not numbers:
        raise CannotRun(f"{model}: expected an output of numbers, got none. Attributions need a score to explain.")
    name = asked.get("output") or next(iter(numbers))
    if name not in numbers:
        raise BadSetting(f"Output {name!r} of {model}: expected one of {sorted(numbers)[:20]}. Choose one of these.")
    array = numbers[name]
    shape = array.shape[1:]
    units = shape[-1] if shape else 1
    position = tuple(int(part) for part in asked.get("position") or ())
    if position and (
        len(position) != len(shape) - 1 or not all(0 <= at < size for at, size in zip(position, shape, strict=False))
    ):
        raise BadSetting(
            f"Position {list(position)}: expected one inside {list(shape[:-1])}, got another. Choose a position of the output."
        )
    wanted = asked.get("target")
    top = wanted is None or wanted == "top"
    unit = _top(array, position) if top else _number(wanted, units)
    return Target(name, unit, position, str(asked.get("score") or "raw") != "output"), shape, top


def _top(array: npt.NDArray[Any], position: Sequence[int]) -> int:
    if array.ndim < 2:
        return 0
    row = array[0].astype(np.float64)
    row = row[tuple(position)] if position else row.reshape(-1, row.shape[-1]).mean(axis=0)
    return int(np.argmax(np.where(np.isnan(row), -np.inf, row)))


def _number(wanted: Any, units: int) -> int:
    try:
        unit = int(wanted)
    except (TypeError, ValueError):
        unit = -1
    if not 0 <= unit < units:
        raise BadSetting(
            f"Target {wanted!r}: expected a number from 0 to {units - 1}, or top, got another. Choose one."
        )
    return unit

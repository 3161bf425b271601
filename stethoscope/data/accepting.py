"""Which rows a model takes in one call: asked of the model itself."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Protocol

from stethoscope.data.batching import Batching, uneven
from stethoscope.errors import BadInput, CannotRun, OutOfMemory
from stethoscope.framework_errors import explain, named_by
from stethoscope.types import Feed, TensorSpec


class Predicts(Protocol):
    """What is needed of a runner here: also a `Caller` has it."""

    inputs: tuple[TensorSpec, ...]

    def predict(self, feed: Feed) -> Feed:
        """Runs the model once."""
        ...


def rows_of_outputs(outputs: Sequence[TensorSpec]) -> int | None:
    """The number of rows that all outputs have, whatever they are fed; None where one leaves it open, or they differ."""
    sizes = {spec.shape[0] if spec.shape else None for spec in outputs}
    return sizes.pop() if len(sizes) == 1 else None


def rows_together(
    runner: Predicts, batching: Batching, feed: Feed, batch_size: int, returned: int | None = None
) -> int | None:
    """Runs the model on the first row, else on the rows of a call: a graph may take them only together, whatever its inputs say.

    Args:
        runner: the model.
        batching: of its inputs.
        feed: rows.
        batch_size: of a call.
        returned: see `rows_of_outputs`.

    Returns:
        None where one row will do, or the inputs say how many; else as `Batching.together`.

    Raises:
        BadInput: arrays of different lengths, which the model does not take.
        Exception: what the model says to one row, where more help nothing.
    """
    if not batching.are_even(feed):
        try:
            try_once(runner, batching, feed)
        except OutOfMemory:
            raise
        except Exception as error:
            raise uneven(feed) from error
        return 0
    try:
        try_once(runner, batching, batching.take(feed, batching.fixed or 1))
    except OutOfMemory:
        raise
    except Exception:
        rows = batching.rows(feed)
        asked = min(rows, batch_size)
        if batching.fixed or not batching.names:
            raise
        if returned is not None and returned > 1:
            with contextlib.suppress(BadInput, CannotRun):
                try_once(runner, batching, batching.take(feed, returned))
                return returned if returned != rows else 0
        if asked < 2:
            raise
        with contextlib.suppress(BadInput, CannotRun):
            try_once(runner, batching, batching.part(feed, 0, asked))
            return asked if asked < rows else 0
        raise
    return None


def try_once(runner: Predicts, batching: Batching, feed: Feed) -> None:
    """Runs the model; memory that ran out is told as such.

    Raises:
        OutOfMemory: it ran out.
        Exception: what the model says.
    """
    try:
        runner.predict(feed)
    except Exception as error:
        cause = explain(error)
        if cause is not None:
            raise OutOfMemory("", {"oom": named_by(cause, batching.rows(feed))}) from error
        raise

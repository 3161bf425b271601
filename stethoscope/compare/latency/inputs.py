"""The rows that all models are timed on: those of the first that could be opened, turned into what each other takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stethoscope.activations.model_rows import ModelRows
from stethoscope.compare.parity.inputs import TurnedInputs
from stethoscope.compare.parity.output_pairs import pair_inputs
from stethoscope.compare.parity.side import Side
from stethoscope.data.feeds.batching import Batching
from stethoscope.errors import BadInput
from stethoscope.models.formats.feed import checked
from stethoscope.task import TaskContext
from stethoscope.types import Feed, TensorSpec

MOST_ROWS = 32
"""Different rows in a batch; larger batches repeat them."""


class Unasked:
    """A model that is run to find input only where its open dimensions must be tried: its first call is to be timed."""

    def __init__(self, side: Side) -> None:
        self._runner, self.inputs = side.runner, side.runner.inputs
        self.tried = False

    def predict(self, feed: Feed) -> Feed:
        """Nothing, unless there is something to try."""
        if not any(spec.shape is None or None in spec.shape[1:] for spec in self.inputs):
            return {}
        self.tried = True
        found: Feed = self._runner.predict(feed)
        return found


class SharedRows:
    """The rows, by model."""

    def __init__(self, context: TaskContext, rows: int, seed: int) -> None:
        self._context, self._rows, self._seed = context, max(1, min(rows, MOST_ROWS)), seed
        self._specs: Sequence[TensorSpec] = ()
        self._feed: Feed | None = None
        self._first = ""
        self.source = "dummy"
        self.notes: list[str] = []

    def of(self, side: Side) -> tuple[Feed, bool]:
        """Rows as a model takes them (its names, layout, dtypes, integers), and whether it has been run to find them.

        Called while the model can be run. The first caller decides what the rows are.

        Raises:
            BadInput: the data does not fit, or the model takes other inputs than the first.
            StethoscopeError: as `ModelRows`.
        """
        if self._feed is None:
            self._feed, tried = self._drawn(side)
            self._specs, self._first = side.runner.inputs, side.file.name
            return self._fitting(side, self._feed), tried
        try:
            return self._fitting(side, self._turned(side, self._feed)), False
        except BadInput:
            if self.source != "dummy":
                raise
            feed, tried = self._drawn(side)
            self.notes.append(
                f"{side.file.name} takes other inputs than {self._first}: it was timed on random input of its own."
            )
            return self._fitting(side, feed), tried

    def _drawn(self, side: Side) -> tuple[Feed, bool]:
        unasked = Unasked(side)
        with ModelRows(self._context, side.architecture, unasked, dummy_rows=self._rows, seed=self._seed) as rows:
            self.source = rows.source
            parts = [feed for _, feed in rows.calls(range(min(self._rows, rows.rows)))]
            names = rows.batching.names
        joined = {
            name: np.concatenate([part[name] for part in parts]) if name in names else array
            for name, array in parts[0].items()
        }
        return joined, unasked.tried

    def _turned(self, side: Side, feed: Feed) -> Feed:
        specs = side.runner.inputs
        inputs = pair_inputs(self._specs, specs)
        missing = [spec.name for spec in specs if spec.name not in inputs]
        if missing:
            raise BadInput(
                f"{side.file.name}: input {missing[0]!r} has no counterpart in {self._first}. Time models that take the same inputs."
            )
        return TurnedInputs(inputs, specs).feed(feed)

    def _fitting(self, side: Side, feed: Feed) -> Feed:
        """Checked once, so that no call needs to."""
        batching = Batching.of(side.runner.inputs)
        fed = side.fed(feed)
        checked(batching.take(fed, batching.fixed or 1), side.runner.inputs, side.file.name)
        return fed

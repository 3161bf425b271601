"""The output of one layer for feeds, as the tasks that study a single layer need it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.reach import base, fed_by, known_layers, reachable
from stethoscope.activations.real_values import real_values
from stethoscope.activations.reduced import Layout
from stethoscope.activations.study import wanted_layers
from stethoscope.activations.watching import Watching, output_bytes
from stethoscope.errors import BadSetting
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Runner

_HELD_BYTES = 256 << 20


class OneLayer:
    """The layer that params["layer"] names."""

    def __init__(self, context: TaskContext, architecture: Architecture, runner: Runner) -> None:
        """Checks that it can be seen.

        Raises:
            BadSetting: there is no such layer, or its output cannot be seen; says why.
        """
        asked = str(context.params.get("layer") or "")
        expected = reachable(architecture, runner)
        path = wanted_layers(architecture, expected, [asked], context.files["model"].name)[0]
        self.path = path
        self._layer = known_layers(architecture, runner)[path]
        self._runner = runner
        self._key = asked if base(asked, expected) == path and asked else path
        self._watching = Watching(architecture, runner, [path], context.budget.memory_bytes)

    def batch_size(self, wanted: int) -> int:
        """At most `wanted` rows in one call, fewer where the layer's output is large."""
        return max(1, min(wanted, _HELD_BYTES // max(1, output_bytes(self._layer, 1))))

    def layout(self, rank: int) -> Layout:
        """How its output is read."""
        return self._watching.layout(self.path, rank)

    @property
    def rank(self) -> int:
        """Of its output as described; 2 where that is unknown."""
        return len(self._layer.output_shape) if self._layer.output_shape is not None else 2

    def output(self, feed: Feed) -> npt.NDArray[Any]:
        """Its output (the call that was asked for, else the first) on a feed.

        Raises:
            BadSetting: it has none on this feed.
        """
        if name := fed_by(self._layer, feed):
            return feed[name]
        found: Feed = self._runner.activations(feed, [self.path])
        array = found.get(self._key, found.get(self.path, next(iter(found.values()), np.zeros(0, object))))
        if array.dtype == object and not array.size:
            raise BadSetting(f"Layer {self.path!r}: its output cannot be read on this data. Choose another layer.")
        return real_values(array, self._layer)

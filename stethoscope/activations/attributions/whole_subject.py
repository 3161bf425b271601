"""Models whose inputs have no dimension for rows (one signal of a fixed length): they get one here, of size 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.method import Point, Slope, Subject
from stethoscope.activations.attributions.target import Target
from stethoscope.data.feeds.batching import Batching
from stethoscope.errors import CannotRun
from stethoscope.types import Feed, TensorSpec


def without_rows(inputs: Sequence[TensorSpec]) -> frozenset[str]:
    """Names of the inputs whose first dimension is not one of rows, in a model that is called as a whole."""
    if Batching.of(inputs).names:
        return frozenset()
    return frozenset(spec.name for spec in inputs if not spec.shape or spec.shape[0] != 1)


class WholeSubject:
    """A subject that takes one row more dimension for these inputs than the model does."""

    def __init__(self, subject: Subject, bare: frozenset[str]) -> None:
        """Wraps `subject`; `bare` are the inputs of `without_rows`."""
        self._subject, self._bare = subject, bare
        self.name, self.no_gradients = subject.name, subject.no_gradients
        self.inputs = tuple(
            replace(spec, shape=(1, *(spec.shape or ()))) if spec.name in bare else spec for spec in subject.inputs
        )

    def with_rows(self, feed: Feed) -> Feed:
        """A feed of the model, each input as one row: (1, …)."""
        return {name: array[None] if name in self._bare else array for name, array in feed.items()}

    def scores(self, feed: Feed, target: Target) -> npt.NDArray[Any]:
        """See `Subject.scores`."""
        return np.atleast_1d(self._subject.scores(self._bared(feed), target))

    def slope(self, feed: Feed, target: Target, points: Sequence[Point], given: Mapping[Point, Any]) -> Slope:
        """See `Subject.slope`."""
        found = self._subject.slope(self._bared(feed), target, points, given)
        if np.size(found.scores) != 1:
            raise CannotRun(
                f"{self.name}: its output {target.output!r} has no dimension for rows either, so the gradient is that of "
                f"{np.size(found.scores):,} scores together. Occlusion works for any model."
            )
        return Slope(np.reshape(found.scores, 1), self._rows(found.values), self._rows(found.gradients))

    def points(self, feed: Feed, name: str) -> list[Point]:
        """See `Subject.points`."""
        return self._subject.points(self._bared(feed), name)

    def is_raw(self, target: Target) -> bool:
        """See `Subject.is_raw`."""
        return self._subject.is_raw(target)

    def _bared(self, feed: Feed) -> Feed:
        return {name: array[0] if name in self._bare else array for name, array in feed.items()}

    def _rows(self, found: Mapping[Point, npt.NDArray[Any]]) -> dict[Point, npt.NDArray[Any]]:
        return {
            point: array[None] if point.kind == "input" and point.name in self._bare else array
            for point, array in found.items()
        }

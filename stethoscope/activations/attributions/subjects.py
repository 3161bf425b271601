"""The subject that fits an opened model: with gradients where its runtime has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.method import Point, Slope, Subject
from stethoscope.activations.attributions.target import Target
from stethoscope.activations.watching import real_values
from stethoscope.data.feeds.batching import Batching
from stethoscope.errors import CannotRun
from stethoscope.models.capabilities import Inlined, InSession, LiveModel
from stethoscope.types import Architecture, Feed, Runner, TensorSpec


def subject_of(name: str, runner: Runner, architecture: Architecture) -> Subject:
    """The subject for an opened model. Only ever called in a worker."""
    if isinstance(live := runner.can(LiveModel), LiveModel):
        from stethoscope.activations.attributions.keras_subject import KerasSubject

        return KerasSubject(name, live)
    if isinstance(inlined := runner.can(Inlined), Inlined):
        from stethoscope.activations.attributions.graph_subject import FunctionSubject

        return FunctionSubject(name, inlined, architecture)
    if isinstance(session := runner.can(InSession), InSession):
        from stethoscope.activations.attributions.graph_subject import SessionSubject

        return SessionSubject(name, session, architecture)
    return PlainSubject(name, runner, architecture)


class PlainSubject:
    """A model that only predicts."""

    def __init__(self, name: str, runner: Runner, architecture: Architecture) -> None:
        """Wraps `runner`."""
        self.name, self._runner, self._architecture = name, runner, architecture
        self.inputs = runner.inputs
        kind = architecture.display_format or "These"
        self.no_gradients = f"{kind} files hold a finished computation without its gradients."

    def scores(self, feed: Feed, target: Target) -> npt.NDArray[Any]:
        """See `Subject.scores`."""
        return target.of_arrays(real_outputs(self._runner.predict(feed), self._architecture))

    def slope(self, feed: Feed, target: Target, points: Sequence[Point], given: Mapping[Point, Any]) -> Slope:
        """See `Subject.slope`: never possible here."""
        raise CannotRun(f"{self.name}: {self.no_gradients} Occlusion works for any model.")

    def points(self, feed: Feed, name: str) -> list[Point]:
        """See `Subject.points`: never possible here."""
        raise CannotRun(f"{self.name}: {self.no_gradients} Occlusion works for any model.")

    def is_raw(self, target: Target) -> bool:
        """See `Subject.is_raw`."""
        return False


def real_outputs(outputs: Feed, architecture: Architecture) -> Feed:
    """Outputs as the numbers they stand for: those of a quantised model are whole numbers otherwise."""
    if len(outputs) != 1 or not architecture.layers:
        return outputs
    known = {layer.path: layer for layer in architecture.layers}
    last = next((known[path] for path in architecture.output_layers if path in known), architecture.layers[-1])
    return {name: real_values(array, last) for name, array in outputs.items()}


def arrays(values: Sequence[Any]) -> list[npt.NDArray[Any]]:
    """Tensors as arrays; half precision becomes float32."""
    found = [np.asarray(value) for value in values]
    return [one.astype(np.float32) if one.dtype.name in ("bfloat16", "float16") else one for one in found]


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

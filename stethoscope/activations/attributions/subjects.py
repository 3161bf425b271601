"""The subject that fits an opened model: with gradients where its runtime has them.

TensorFlow graphs without a live Keras model: loaded functions, and graphs in a session. Worker only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.baselines import lookup_of
from stethoscope.activations.attributions.method import Point, Slope, Subject
from stethoscope.activations.attributions.target import Target
from stethoscope.activations.watching import real_values
from stethoscope.data.batching import Batching
from stethoscope.errors import CannotRun
from stethoscope.models.capabilities import Inlined, InSession, LiveModel
from stethoscope.types import Architecture, Feed, Runner, TensorSpec


def subject_of(name: str, runner: Runner, architecture: Architecture) -> Subject:
    """The subject for an opened model. Only ever called in a worker."""
    if isinstance(live := runner.can(LiveModel), LiveModel):
        from stethoscope.activations.attributions.keras_subject import KerasSubject

        return KerasSubject(name, live)
    if isinstance(inlined := runner.can(Inlined), Inlined):
        return FunctionSubject(name, inlined, architecture)
    if isinstance(session := runner.can(InSession), InSession):
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


R = TypeVar("R", bound=Runner)
_SQUASHING = ("Softmax", "Sigmoid")
_PASSING = ("Identity", "IdentityN", "StopGradient", "Cast")


class _GraphSubject(Generic[R]):
    """What both kinds share: where whole numbers become numbers with a gradient is read from the architecture."""

    no_gradients = ""

    def __init__(self, name: str, runner: R, architecture: Architecture) -> None:
        self.name, self._runner, self._architecture = name, runner, architecture
        self.inputs = runner.inputs

    def scores(self, feed: Feed, target: Target) -> npt.NDArray[Any]:
        """See `Subject.scores`."""
        return target.of_arrays(self._runner.predict(feed))

    def points(self, feed: Feed, name: str) -> list[Point]:
        """See `Subject.points`."""
        found = lookup_of(name, self._architecture)
        if found:
            return [Point("layer", path) for path in found]
        if feed[name].dtype.kind == "f":
            return [Point("input", name)]
        raise CannotRun(
            f"{self.name}: no table was found in which the whole numbers of the input {name!r} are looked up, so there is no "
            "gradient. Occlusion works for any model."
        )

    def _missing(self, target: Target, point: Point) -> CannotRun:
        return CannotRun(
            f"{self.name}: the output {target.output!r} does not change smoothly with {point.name!r}: on the way values are "
            "rounded, looked up or cut off from the gradient. Occlusion works for any model."
        )


class FunctionSubject(_GraphSubject[Inlined]):
    """A SavedModel of TensorFlow 2: gradients through its function with all calls inlined."""

    def is_raw(self, target: Target) -> bool:
        """See `Subject.is_raw`."""
        flat = self._runner.flat_function()
        return target.raw and flat.before(self._runner.output_tensor(target.output), _SQUASHING, _PASSING) is not None

    def slope(self, feed: Feed, target: Target, points: Sequence[Point], given: Mapping[Point, Any]) -> Slope:
        """See `Subject.slope`."""
        import tensorflow as tf

        flat = self._runner.flat_function()
        score = self._runner.output_tensor(target.output)
        if target.raw:
            score = flat.before(score, _SQUASHING, _PASSING) or score
        operators = self._runner.operators()
        where: dict[Point, str] = {}
        for point in points:
            if point.kind == "layer" and point.name not in operators:
                raise CannotRun(
                    f"{self.name}: {point.name!r} is not an operator of its function. Choose one of the table."
                )
            where[point] = f"{operators[point.name]}:0" if point.kind == "layer" else flat.input_tensor(point.name)
        inner = [point for point in points if point.kind == "layer"]
        values: dict[Point, Any] = {point: tf.convert_to_tensor(value) for point, value in given.items()}
        missing = [point for point in inner if point not in values]
        with self._runner.explained("differentiating it"):
            if missing:
                found = flat.called(feed, {}, [where[point] for point in missing])
                values |= dict(zip(missing, found, strict=True))
            for point in points:
                if point.kind == "input":
                    values[point] = flat.as_tensor(point.name, feed[point.name])
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                for point in points:
                    tape.watch(values[point])
                (output,) = flat.called(feed, {where[point]: values[point] for point in points}, [score])
                scores = target.score(output, lambda tensor, axes: tf.reduce_mean(tensor, axis=list(axes)))
            gradients = tape.gradient(scores, [values[point] for point in points])
        for point, gradient in zip(points, gradients, strict=True):
            if gradient is None:
                raise self._missing(target, point)
        return Slope(
            np.asarray(scores, np.float64),
            dict(zip(points, arrays([values[point] for point in points]), strict=True)),
            dict(zip(points, arrays([tf.convert_to_tensor(gradient) for gradient in gradients]), strict=True)),
        )


class SessionSubject(_GraphSubject[InSession]):
    """A TensorFlow 1 graph or a frozen one: gradient operators are added to the graph in its session."""

    def is_raw(self, target: Target) -> bool:
        """See `Subject.is_raw`."""
        return target.raw and self._scored(target)[1]

    def slope(self, feed: Feed, target: Target, points: Sequence[Point], given: Mapping[Point, Any]) -> Slope:
        """See `Subject.slope`."""
        import tensorflow as tf

        graph, session = self._runner.session_graph()
        tensors = [self._tensor(point) for point in points]
        with self._runner.explained("differentiating it"):
            with graph.as_default():
                scores, gradients = self._operators(target, tuple(points))
            for point, gradient in zip(points, gradients, strict=True):
                if gradient is None:
                    raise self._missing(target, point)
            with graph.as_default():
                dense = [tf.convert_to_tensor(gradient) for gradient in gradients]
            fed = self._runner.session_feed(feed)
            fed |= {self._tensor(point): np.asarray(value) for point, value in given.items()}
            found = session.run([scores, tensors, dense], fed)
        return Slope(
            np.asarray(found[0], np.float64),
            dict(zip(points, arrays(found[1]), strict=True)),
            dict(zip(points, arrays(found[2]), strict=True)),
        )

    def _operators(self, target: Target, points: tuple[Point, ...]) -> tuple[Any, list[Any]]:
        import tensorflow as tf

        if not hasattr(self, "_made"):
            self._made: dict[Any, tuple[Any, list[Any]]] = {}
        if (target, points) not in self._made:
            output = self._scored(target)[0]
            scores = target.score(output, lambda tensor, axes: tf.reduce_mean(tensor, axis=list(axes)))
            self._made[target, points] = scores, tf.gradients(scores, [self._tensor(point) for point in points])
        return self._made[target, points]

    def _tensor(self, point: Point) -> Any:
        graph, _ = self._runner.session_graph()
        name = self._runner.tensor_name(point.name, is_input=point.kind == "input")
        if not name:
            raise CannotRun(f"{self.name}: {point.name!r} is not an operator of its graph. Choose one of the table.")
        return graph.get_tensor_by_name(name)

    def _scored(self, target: Target) -> tuple[Any, bool]:
        """The tensor that is scored, and whether it is before a softmax or sigmoid."""
        graph, _ = self._runner.session_graph()
        output = graph.get_tensor_by_name(self._runner.output_tensor(target.output))
        if not target.raw:
            return output, False
        found = output
        while found.op.type in _PASSING and len(found.op.inputs):
            found = found.op.inputs[found.value_index if found.op.type == "IdentityN" else 0]
        return (found.op.inputs[0], True) if found.op.type in _SQUASHING else (output, False)

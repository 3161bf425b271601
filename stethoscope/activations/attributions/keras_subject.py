"""A live Keras model, differentiated through one traced function. Worker only.

Reading and replacing what single live Keras layers put out, by their own `call`, always restored. Worker only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.method import Point, Slope
from stethoscope.activations.attributions.subjects import arrays
from stethoscope.activations.attributions.target import Target
from stethoscope.architecture.activations import SIGMOID, SOFTMAX
from stethoscope.errors import BadSetting, CannotRun
from stethoscope.models.capabilities import LiveModel
from stethoscope.models.formats.keras_model.keras_activations import hooked
from stethoscope.types import Feed

_SQUASHING = (SOFTMAX.name, SIGMOID.name)


class KerasSubject:
    """See `Subject`. Works for functional, sequential, subclassed and nested models of Keras 3 and tf_keras."""

    no_gradients = ""

    def __init__(self, name: str, runner: LiveModel) -> None:
        """Wraps `runner`."""
        self.name, self._runner = name, runner
        self.inputs = runner.inputs
        self._functions: dict[Any, Any] = {}
        self._layers: dict[str, Any] = {}
        self._last: dict[str, Any] | None = None
        """For each output, the layer that yields it."""

    def scores(self, feed: Feed, target: Target) -> npt.NDArray[Any]:
        """See `Subject.scores`."""
        return target.of_arrays(self._runner.predict(feed))

    def points(self, feed: Feed, name: str) -> list[Point]:
        """See `Subject.points`."""
        if feed[name].dtype.kind == "f" and not self._embeds(feed, name):
            return [Point("input", name)]
        found = self._embeds(feed, name) or self._like(feed, name)
        if not found:
            raise CannotRun(
                f"{self.name}: no embedding or scaling was found that turns the input {name!r} into numbers with a gradient. "
                "Occlusion works for any model."
            )
        return [Point("layer", path) for path in found]

    def is_raw(self, target: Target) -> bool:
        """See `Subject.is_raw`."""
        return target.raw and self._squashed(target.output) is not None

    def slope(self, feed: Feed, target: Target, points: Sequence[Point], given: Mapping[Point, Any]) -> Slope:
        """See `Subject.slope`."""
        import tensorflow as tf

        self._look(feed)
        key = (target, tuple(points), tuple(given))
        if key not in self._functions:
            self._functions[key] = tf.function(self._traced(target, points, list(given)), reduce_retracing=True)
        with self._runner.explained("differentiating it"):
            tensors = self._runner.tensors(feed)
            replacements = [tf.convert_to_tensor(np.asarray(value, np.float32)) for value in given.values()]
            scores, values, gradients = self._functions[key](tensors, replacements)
        return Slope(
            np.asarray(scores, np.float64),
            dict(zip(points, arrays(values), strict=True)),
            dict(zip(points, arrays(gradients), strict=True)),
        )

    def _traced(self, target: Target, points: Sequence[Point], given: Sequence[Point]) -> Any:
        import tensorflow as tf

        names = [spec.name for spec in self.inputs]

        def mean(tensor: Any, axes: Sequence[int]) -> Any:
            return tf.reduce_mean(tensor, axis=list(axes))

        @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
        def compute(tensors: list[Any], replacements: list[Any]) -> Any:
            seen: dict[Point, Any] = {}
            put = dict(zip(given, replacements, strict=True))
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                for point in points:
                    if point.kind == "input":
                        seen[point] = tensors[names.index(point.name)]
                        tape.watch(seen[point])

                def change(point: Point) -> Any:
                    def changed(result: Any) -> Any:
                        made = tf.cast(put[point], result.dtype) if point in put else result
                        if point in put:
                            made = tf.ensure_shape(made, result.shape)
                        tape.watch(made)
                        seen[point] = made
                        return made

                    return changed

                taps = {
                    point.name: (*self._layer(point.name), change(point)) for point in points if point.kind == "layer"
                }
                with tapped(taps), self._raw(target):
                    outputs = self._runner.live_outputs(tensors)
                    scores = tf.cast(target.score(outputs[target.output], mean), tf.float32)
            for point in points:
                if point not in seen:
                    raise CannotRun(f"{self.name}: layer {point.name!r} is not called. Choose another layer.")
            sources = [seen[point] for point in points]
            gradients = tape.gradient(scores, sources)
            for point, gradient in zip(points, gradients, strict=True):
                if gradient is None:
                    raise CannotRun(
                        f"{self.name}: the output {target.output!r} does not change smoothly with {point.name!r}: on the way "
                        "values are rounded, looked up or cut off from the gradient. Occlusion works for any model."
                    )
            return scores, sources, [tf.convert_to_tensor(gradient) for gradient in gradients]

        return compute

    def _layer(self, path: str) -> tuple[Any, int]:
        """The live layer of a path ("path#2" for its second call), and which call is meant."""
        base, _, occurrence = path.partition("#")
        if path in self._layers:
            return self._layers[path], 1
        if base not in self._layers:
            raise BadSetting(f"Layer {path!r} of {self.name}: expected a layer of the model. Choose one of the table.")
        return self._layers[base], int(occurrence) if occurrence.isdecimal() else 1

    def _look(self, feed: Feed) -> None:
        """Traces the model once to see which layers are called, and which of them yields each output."""
        if self._last is not None:
            return
        import tensorflow as tf

        paths = self._runner.layer_paths()
        makers: dict[int, tuple[Any, Any]] = {}

        def saw(layer: Any, result: Any) -> None:
            path = paths.get(id(layer))
            if path is not None:
                self._layers.setdefault(path, layer)
            if not isinstance(result, dict | list | tuple):
                # The result is kept beside its maker: its identity must not be given to another tensor.
                makers.setdefault(id(result), (layer, result))

        last: dict[str, Any] = {}

        @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
        def call(tensors: list[Any]) -> Any:
            outputs = self._runner.live_outputs(tensors)
            last.update({name: makers[id(tensor)][0] for name, tensor in outputs.items() if id(tensor) in makers})
            return outputs

        # Traced, not run: a recurrent layer takes seconds to run step by step.
        with self._runner.explained("tracing it"), hooked(self._runner.keras, saw):
            tf.function(call).get_concrete_function(self._runner.tensors(feed))
        self._last = last

    def _squashed(self, output: str) -> Any:
        """The layer whose softmax or sigmoid makes an output, or None."""
        layer = (self._last or {}).get(output)
        if layer is None:
            return None
        activation = getattr(getattr(layer, "activation", None), "__name__", "")
        return layer if activation in _SQUASHING or type(layer).__name__.lower() in _SQUASHING else None

    def _raw(self, target: Target) -> AbstractContextManager[None]:
        layer = self._squashed(target.output) if target.raw else None
        if layer is None:
            return nullcontext()
        if getattr(getattr(layer, "activation", None), "__name__", "") in _SQUASHING:
            return replaced({0: (layer, "activation", _same)})
        return replaced({0: (layer, "call", _first)})

    def _embeds(self, feed: Feed, name: str) -> list[str]:
        """Layers that look up exactly the numbers of this input."""
        self._look(feed)
        import tensorflow as tf

        asked: dict[int, list[Any]] = {}

        def noting(layer: Any) -> Any:
            original = layer.call

            @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
            def call(inputs: Any, *args: Any, **kwargs: Any) -> Any:
                asked.setdefault(id(layer), []).append(inputs)
                return original(inputs, *args, **kwargs)

            return call

        every = self._runner.model._flatten_layers()
        tables = {
            id(one): one for one in every if hasattr(one, "embeddings") or type(one).__name__.endswith("Embedding")
        }
        if not tables:
            return []
        changes = {key: (layer, "call", noting(layer)) for key, layer in tables.items()}
        with self._runner.explained("running it"), replaced(changes):
            self._runner.live_outputs(self._runner.tensors(feed))
        paths = self._runner.layer_paths()
        found: list[str] = []
        for key, layer in tables.items():
            if any(_equal(one, feed[name]) for one in asked.get(key, ())):
                path = paths.get(key) or str(layer.name)
                self._layers[path] = layer
                found.append(path)
        return found

    def _like(self, feed: Feed, name: str) -> list[str]:
        """The first layer that gives floats of the input's shape: a cast or a rescaling of whole numbers."""
        shape = feed[name].shape
        paths = self._runner.layer_paths()
        found: list[str] = []

        def saw(layer: Any, result: Any) -> None:
            path = paths.get(id(layer))
            kind = getattr(getattr(result, "dtype", None), "is_floating", False)
            if path is not None and kind and tuple(result.shape) == shape:
                found.append(path)

        with self._runner.explained("running it"), hooked(self._runner.keras, saw):
            self._runner.live_outputs(self._runner.tensors(feed))
        return [path for path in found if type(self._layers.get(path)).__name__ != "InputLayer"][:1]


def _equal(tensor: Any, fed: npt.NDArray[Any]) -> bool:
    try:
        array = np.asarray(tensor)
    except (TypeError, ValueError, NotImplementedError):
        return False
    return array.dtype.kind in "iuf" and array.size == fed.size and bool(np.array_equal(array.reshape(fed.shape), fed))


def _same(tensor: Any) -> Any:
    return tensor


def _first(tensor: Any, *args: Any, **kwargs: Any) -> Any:
    return tensor


@contextmanager
def tapped(taps: Mapping[str, tuple[Any, int, Callable[[Any], Any]]]) -> Iterator[None]:
    """Sends each layer's result through a function that may return another in its place.

    Args:
        taps: by any name, (live layer or operation, which of its calls from 1 (0: every call), the function).
    """
    by_layer: dict[int, list[tuple[Any, int, Callable[[Any], Any]]]] = {}
    for layer, occurrence, change in taps.values():
        by_layer.setdefault(id(layer), []).append((layer, occurrence, change))
    with replaced({id(one[0][0]): (one[0][0], "call", _wrapped(one)) for one in by_layer.values()}):
        yield


def _wrapped(taps: list[tuple[Any, int, Callable[[Any], Any]]]) -> Any:
    import tensorflow as tf

    original = taps[0][0].call
    count = 0

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        count += 1
        result = original(*args, **kwargs)
        for _, occurrence, change in taps:
            if occurrence in (0, count):
                # A recurrent layer returns its output and then its states.
                result = [change(result[0]), *result[1:]] if isinstance(result, list | tuple) else change(result)
        return result

    return call


@contextmanager
def replaced(changes: Mapping[int, tuple[Any, str, Any]]) -> Iterator[None]:
    """Gives objects another attribute of their own for a while, whatever their class makes of setting one."""
    done: list[tuple[Any, str, bool, Any]] = []
    try:
        for thing, name, value in changes.values():
            own = vars(thing)
            done.append((thing, name, name in own, own.get(name)))
            own[name] = value
        yield
    finally:
        for thing, name, had, before in reversed(done):
            if had:
                vars(thing)[name] = before
            else:
                vars(thing).pop(name, None)

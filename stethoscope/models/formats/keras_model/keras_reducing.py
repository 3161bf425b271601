"""One traced call of a Keras model in which each layer's output is reduced where it is made. Worker only.

The function returns what the reductions return: no output outlives the layers that read it, so memory stays at what the
plain call needs.

How long each layer of a live Keras model takes in an eager call, without the layers inside it. Worker only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from stethoscope.models.capabilities import Reduce
from stethoscope.models.formats.keras_model.keras_activations import calls_wrapped, hooked, layer_paths
from stethoscope.models.formats.tf_graph import tf_calls
from stethoscope.types import Feed, ModelFile

MOST_CALLS = 64
"""Of one layer that are told apart; a layer called more often is counted as called so often."""
INSIDE = "It is called inside a loop, a branch or a function of its own, so its output has no single value."


class ReducingCall:
    """A model as a function from a feed to its reduced layer outputs. Traced once for each set of sizes beyond the rows."""

    def __init__(
        self,
        file: ModelFile,
        keras: Any,
        model: Any,
        call: Callable[[Sequence[Any]], Any],
        fed: Callable[[Feed], dict[str, Any]],
        reduce: Reduce,
        wanted: Sequence[str] | None,
    ) -> None:
        """Takes what `KerasRunner` knows.

        Args:
            file: for error sentences.
            keras: the package the model is of.
            model: the live model.
            call: calls it on a list of tensors, one per input.
            fed: a feed as such tensors by name, in that order.
            reduce: see `Reduce`; called while the model is traced.
            wanted: paths to reduce; None for all.
        """
        self._file, self._keras, self._call, self._reduce = file, keras, call, reduce
        self._fed = fed
        self._names: list[str] = []
        self._paths = layer_paths(keras, model)
        self._wanted = None if wanted is None else set(wanted)
        self._functions: dict[tuple[Any, ...], Any] = {}
        self.hidden: dict[str, str] = {}
        """Why a layer that was called could not be reduced, by path."""

    def __call__(self, feed: Feed) -> dict[str, Feed]:
        """Runs the model once; returns the reductions by layer path, in the order of the calls.

        Raises:
            BadInput: names, shapes or dtypes do not fit.
            CannotRun: the model cannot be traced or run.
        """
        named = self._fed(feed)
        self._names, tensors = list(named), list(named.values())
        key = tuple((tensor.dtype, *tensor.shape[1:]) for tensor in tensors)
        with tf_calls.explained(self._file, tf_calls.RUNNING):
            if key not in self._functions:
                self._functions[key] = self._traced(tensors)
            found = self._functions[key](*tensors)
            return {path: {name: part.numpy() for name, part in parts.items()} for path, parts in found.items()}

    def _traced(self, tensors: Sequence[Any]) -> Any:
        """The function for any number of rows; for exactly these where the model does not trace with an open number."""
        import tensorflow as tf

        open_rows = [tf.TensorSpec((None, *t.shape[1:]) if t.shape.rank else t.shape, t.dtype) for t in tensors]
        fixed = [tf.TensorSpec(t.shape, t.dtype) for t in tensors]
        failure: Exception | None = None
        for specs, inline in ((open_rows, True), (open_rows, False), (fixed, False)):
            try:
                with _inlined(inline):
                    made = tf.function(self._body, autograph=False).get_concrete_function(*specs)
            except Exception as error:  # noqa: BLE001 - kept, and raised again if no way of tracing works
                failure = failure or error
                continue
            if specs is fixed:
                return tf.function(self._body, autograph=False)
            return made
        assert failure is not None
        raise failure

    def _body(self, *tensors: Any) -> dict[str, Any]:
        import tensorflow as tf

        outer = tf.compat.v1.get_default_graph()
        named = dict(zip(self._names, tensors, strict=True))
        found: dict[str, Any] = {}
        calls: dict[str, int] = {}
        known: dict[int, tuple[Any, Any]] = {}
        self.hidden.clear()

        def saw(layer: Any, result: Any) -> None:
            path = self._paths.get(id(layer))
            if path is None or calls.get(path, 0) >= MOST_CALLS:
                return
            count = calls[path] = calls.get(path, 0) + 1
            key = path if count == 1 else f"{path}#{count}"
            if self._wanted is not None and not {path, key} & self._wanted:
                return
            for index, tensor in enumerate(flat_tensors(result)):
                name = key if index == 0 else f"{key}:{index}"
                if getattr(tensor, "graph", outer) is not outer:
                    self.hidden[name] = INSIDE
                    continue
                # Layers that hand on what they were given (dropout at inference) cost nothing.
                if id(tensor) not in known:
                    known[id(tensor)] = (tensor, self._reduce(name, tensor, named))
                reduced = known[id(tensor)][1]
                if reduced is not None:
                    found[name] = dict(reduced)

        with hooked(self._keras, saw):
            self._call(list(tensors))
        return found


def flat_tensors(result: Any, depth: int = 0) -> list[Any]:
    """The tensors of a layer's result, symbolic or not; ragged and sparse ones as they are."""
    import tensorflow as tf

    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, list | tuple) and depth < 8:
        return [tensor for item in result for tensor in flat_tensors(item, depth + 1)]
    return [result] if tf.is_tensor(result) else []


@contextmanager
def _inlined(wanted: bool) -> Any:
    """While it lasts, functions that a model calls are traced as part of the model, so that their layers can be seen."""
    import tensorflow as tf

    before = tf.config.functions_run_eagerly()
    if wanted:
        tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)


def layer_times(keras: Any, model: Any, call: Callable[[], Any]) -> dict[str, float]:
    """Seconds by layer path, summed over its calls, of the second of two eager calls (the first one warms up).

    On an accelerator, work that is only handed over is not waited for: the times are those of handing it over.

    Args:
        keras: the package the model is of.
        model: the live model.
        call: runs the model once, eagerly.
    """
    paths = layer_paths(keras, model)
    call()
    seconds: dict[str, float] = {}
    with _timed(keras, paths, seconds):
        call()
    return seconds


@contextmanager
def _timed(keras: Any, paths: dict[int, str], seconds: dict[str, float]) -> Iterator[None]:
    inside: list[float] = []
    """For each layer being called, the seconds of the known layers inside it so far."""

    def wrapped(_kind: type, original: Any) -> Any:
        def called(layer: Any, *args: Any, **kwargs: Any) -> Any:
            path = paths.get(id(layer))
            if path is None:
                return original(layer, *args, **kwargs)
            inside.append(0.0)
            start = time.perf_counter()
            try:
                return original(layer, *args, **kwargs)
            finally:
                spent = time.perf_counter() - start
                own = spent - inside.pop()
                seconds[path] = seconds.get(path, 0.0) + max(0.0, own)
                if inside:
                    inside[-1] += spent

        return called

    with calls_wrapped(keras, wrapped):
        yield

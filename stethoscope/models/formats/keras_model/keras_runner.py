"""Runs a Keras 3 or tf_keras model. Imported only in a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stethoscope.errors import CannotRun
from stethoscope.models.capabilities import Attentive, LayersTimed, LiveModel, Observable, Reduce, Reducible, Reduction
from stethoscope.models.formats import feed as feeds
from stethoscope.models.formats.keras_model.keras_activations import (
    Scores,
    attention_scores,
    layer_outputs,
    layer_paths,
    visit_outputs,
)
from stethoscope.models.formats.keras_model.keras_builtins import saved_and_loaded
from stethoscope.models.formats.keras_model.keras_ends import unique_names
from stethoscope.models.formats.keras_model.keras_reducing import ReducingCall, layer_times
from stethoscope.models.formats.tf_graph import tf_calls
from stethoscope.types import Architecture, Feed, ModelFile, TensorSpec


class KerasRunner(LiveModel, Observable, Reducible, Attentive, LayersTimed):
    """One opened Keras model, called through a `tf.function`: half the memory of an eager call."""

    def __init__(self, file: ModelFile, model: Any, keras: Any, architecture: Architecture) -> None:
        """Wraps a loaded model.

        Raises:
            CannotRun: the file does not say what its inputs are.
        """
        self.model = model
        self._file, self._keras, self._architecture = file, keras, architecture
        self._modern = keras.__name__ == "keras"
        self.inputs = _input_specs(model, architecture, self._modern)
        if not self.inputs:
            raise CannotRun(
                f"{file.name}: a subclassed model that does not say what its inputs are. Save it after calling it once."
            )
        self.outputs = architecture.outputs if architecture.outputs else _output_specs(model, self._modern)
        self._functions: dict[bool, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._functions.clear()
        self.model = None

    def forget(self) -> None:
        """See `Runner.forget`: recurrent layers begin anew."""
        if not self._architecture.keeps_state:
            return
        for layer in self.model._flatten_layers():
            if isinstance(layer, self._keras.layers.RNN) and layer.stateful:
                layer.reset_states() if not self._modern else layer.reset_state()

    def predict(self, feed: Feed, *, training: bool = False) -> Feed:
        """Runs the model once; see `Runner.predict`."""
        import tensorflow as tf

        values = feeds.checked(feed, self.inputs, self._file.name)
        if training not in self._functions:
            self._functions[training] = tf.function(
                lambda tensors: self._call(tensors, training), reduce_retracing=True
            )
        with tf_calls.explained(self._file, "running it"):
            found = self._functions[training](self._tensors(values))
            return {name: _plain(tf_calls.array(value)) for name, value in self._named(found)}

    @property
    def keras(self) -> Any:
        """The package the model is of: keras or tf_keras."""
        return self._keras

    @property
    def traces(self) -> int:
        """How often the function behind `predict` (in inference mode) was traced."""
        made = self._functions.get(False)
        return 0 if made is None else int(made.experimental_get_tracing_count())

    def called_with(self, feed: Feed, call: Callable[[Any], Any], *, as_arrays: bool = False) -> Feed:
        """Hands `feed` to `call` in the structure the model takes, and names what comes back.

        Args:
            feed: one array per input name.
            call: gets one tensor, or the list or dict of them that `model(…)` takes.
            as_arrays: numpy arrays instead of tensors (text is a tensor all the same).

        Raises:
            BadInput: names, shapes or dtypes do not fit.
            CannotRun: TensorFlow cannot do what `call` asks of it.
        """
        values = feeds.checked(feed, self.inputs, self._file.name)
        with tf_calls.explained(self._file, tf_calls.RUNNING):
            text = any(array.dtype.kind in "OSU" for array in values.values())
            given = list(values.values()) if as_arrays and not text else self._tensors(values)
            found = call(self._structured(given))
            return {name: _plain(tf_calls.array(value)) for name, value in self._named(found)}

    def tensors(self, feed: Feed) -> list[Any]:
        """A feed as the list of tensors that `live_outputs` takes.

        Raises:
            BadInput: names, shapes or dtypes do not fit.
        """
        return self._tensors(feeds.checked(feed, self.inputs, self._file.name))

    @property
    def trackable(self) -> Any:
        """What holds the variables that `live_outputs` reads."""
        return self.model

    def live_outputs(self, tensors: Sequence[Any]) -> dict[str, Any]:
        """The model's outputs by name as tensors, for a tensor per input in their order: what gradients are taken through."""
        return dict(self._named(self._call(tensors, False)))

    def explained(self, doing: str) -> AbstractContextManager[None]:
        """Turns what TensorFlow raises while `doing` something with the model into sentences; see `tf_calls.explained`."""
        return tf_calls.explained(self._file, doing)

    def concrete_function(self, shapes: Sequence[Sequence[int]] | None = None) -> Any:
        """The function behind `predict`, traced but not run: for inputs of these shapes, else with every open dimension open.

        Raises:
            CannotRun: the model cannot be traced so.
        """
        import tensorflow as tf

        def traced(tensors: Any) -> Any:
            return self._call(tensors, False)

        asked: Sequence[Sequence[int | None] | None] = shapes or [spec.shape for spec in self.inputs]
        specs = [
            tf.TensorSpec(shape, tf.as_dtype(_dtype(spec)), name=f"fed_{place}")
            for place, (shape, spec) in enumerate(zip(asked, self.inputs, strict=True))
        ]
        with tf_calls.explained(self._file, "tracing it"):
            return tf.function(traced).get_concrete_function(specs)

    def replaced(self, model: Any) -> KerasRunner:
        """A runner of the same file with another live model in it, of the same structure."""
        return KerasRunner(self._file, model, self._keras, self._architecture)

    def activations(self, feed: Feed, layers: Sequence[str] | None = None) -> Feed:
        """Returns each layer's output ("path", and "path#2" … where it is called again) of one eager call, in execution order."""
        values = feeds.checked(feed, self.inputs, self._file.name)
        with tf_calls.explained(self._file, "running it"):
            tensors = self._tensors(values)
            outputs = layer_outputs(self._file, self._keras, self.model, layers, lambda: self._call(tensors, False))
            return {path: _plain(tf_calls.array(value)) for path, value in outputs.items()}

    def observe(self, feed: Feed, visit: Callable[[str, npt.NDArray[Any]], None]) -> Feed:
        """Shows `visit` each layer's output of one eager call as it is computed, keeping none; returns the model's outputs.

        Memory stays at what the call itself needs, and nothing is traced.
        """
        values = feeds.checked(feed, self.inputs, self._file.name)
        found: list[Any] = []
        with tf_calls.explained(self._file, "running it"):
            tensors = self._tensors(values)
            visit_outputs(
                self._file,
                self._keras,
                self.model,
                None,
                lambda: found.append(self._call(tensors, False)),
                lambda path, tensor: visit(path, _plain(tf_calls.array(tensor))),
            )
            return {name: _plain(tf_calls.array(value)) for name, value in self._named(found[0])}

    def reducing(self, reduce: Reduce, layers: Sequence[str] | None = None) -> Reduction:
        """The model as a function that answers with what `reduce` made of each layer's output (all, or those named).

        The reductions are part of the traced call: nothing of the outputs is kept.
        """

        def fed(feed: Feed) -> dict[str, Any]:
            values = feeds.checked(feed, self.inputs, self._file.name)
            return dict(zip(values, self._tensors(values), strict=True))

        def call(tensors: Sequence[Any]) -> Any:
            return self._call(tensors, False)

        made = ReducingCall(self._file, self._keras, self.model, call, fed, reduce, layers)
        return Reduction(made, made.hidden)

    def attention(self, feed: Feed, layers: Sequence[str]) -> Scores:
        """The attention scores inside each of `layers`: (rows, heads, queries, keys) or without heads, in the order they ran."""
        values = feeds.checked(feed, self.inputs, self._file.name)
        with tf_calls.explained(self._file, tf_calls.RUNNING):
            tensors = self._tensors(values)
            return attention_scores(self._keras, self.model, layers, lambda: self._call(tensors, False))

    def layer_times(self, feed: Feed) -> dict[str, float]:
        """Seconds each layer takes in one eager call, without the layers inside it."""
        values = feeds.checked(feed, self.inputs, self._file.name)
        with tf_calls.explained(self._file, tf_calls.RUNNING):
            tensors = self._tensors(values)
            return layer_times(self._keras, self.model, lambda: self._call(tensors, False))

    def layer_paths(self) -> dict[int, str]:
        """The path, as in the layer table, of each live layer by its identity."""
        return layer_paths(self._keras, self.model)

    def reloaded(self, folder: Path, *, trusted: bool) -> KerasRunner:
        """Saves the model into `folder` as a file of the kind it came from, and opens what was saved."""
        model = saved_and_loaded(self._file, self.model, self._keras, folder, trusted=trusted)
        return KerasRunner(self._file, model, self._keras, self._architecture)

    def weights(self) -> dict[str, npt.NDArray[Any]]:
        """Every weight of the model by its path, in the model's order."""
        paths = [str(getattr(weight, "path", "") or weight.name) for weight in self.model.weights]
        arrays = [_plain(np.asarray(weight)) for weight in self.model.weights]
        return dict(zip(unique_names(paths), arrays, strict=True))

    def _call(self, tensors: Sequence[Any], training: bool) -> Any:
        # Without the argument a layer's own training=True stands, as in `model(x)` and in every export; an explicit
        # False (as `model.predict` gives) overrides it in Keras 3 and would hide dropout left on.
        mode = {"training": True} if training else {}
        return self.model(self._structured(list(tensors)), **mode)

    def _tensors(self, values: Feed) -> list[Any]:
        import tensorflow as tf

        return [
            tf_calls.tensor(value, tf.as_dtype(_dtype(spec)))
            for spec, value in zip(self.inputs, values.values(), strict=True)
        ]

    def _structured(self, tensors: list[Any]) -> Any:
        structure = getattr(self.model, "_inputs_struct" if self._modern else "_nested_inputs", None)
        if structure is None:
            return tensors[0] if len(tensors) == 1 else tensors
        if self._modern:
            return self._keras.tree.pack_sequence_as(structure, tensors)
        import tensorflow as tf

        return tf.nest.pack_sequence_as(structure, tensors)

    def _named(self, found: Any) -> list[tuple[str, Any]]:
        flat = _flat(found, "")
        if all(name for name, _ in flat):
            return flat
        names = [spec.name for spec in self.outputs]
        if len(names) != len(flat):
            names = ["output"] if len(flat) == 1 else [f"output_{index}" for index in range(len(flat))]
        return list(zip(names, (value for _, value in flat), strict=True))


def _flat(value: Any, name: str) -> list[tuple[str, Any]]:
    """(name, tensor) for each tensor of a result; names come from dict keys, "" where there are none."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _flat(item, f"{name}/{key}" if name else str(key))]
    if isinstance(value, list | tuple):
        return [leaf for index, item in enumerate(value) for leaf in _flat(item, f"{name}/{index}" if name else "")]
    return [(name, value)]


def _plain(array: Any) -> Any:
    """bfloat16 as float32, which every reader of .npy knows."""
    return array.astype(np.float32) if array.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2") else array


def _dtype(spec: TensorSpec) -> str:
    return spec.dtype or "float32"


def _input_specs(model: Any, architecture: Architecture, modern: bool) -> tuple[TensorSpec, ...]:
    try:
        tensors = list(model.inputs or ())
    except (AttributeError, ValueError):
        tensors = []
    if not tensors:
        return architecture.inputs
    names = [tensor.name for tensor in tensors] if modern else list(getattr(model, "input_names", None) or [])
    described = [spec.name for spec in architecture.inputs]
    # Keras sorts a dict of inputs by key, the file does not: the same names stay with their tensors.
    if len(described) == len(tensors) and sorted(described) != sorted(names):
        names = described
    if len(names) != len(tensors):
        names = unique_names(["input"] * len(tensors))
    return tuple(
        TensorSpec(str(name), _shape(tensor.shape), _dtype_of(tensor))
        for name, tensor in zip(names, tensors, strict=True)
    )


def _output_specs(model: Any, modern: bool) -> tuple[TensorSpec, ...]:
    try:
        tensors = list(model.outputs or ())
    except (AttributeError, ValueError):
        return ()
    names = unique_names([str(name) for name in getattr(model, "output_names", None) or ["output"] * len(tensors)])
    return tuple(
        TensorSpec(name, _shape(tensor.shape), _dtype_of(tensor)) for name, tensor in zip(names, tensors, strict=False)
    )


def _shape(shape: Any) -> tuple[int | None, ...] | None:
    try:
        return tuple(None if size is None else int(size) for size in shape)
    except (TypeError, ValueError):
        return None


def _dtype_of(tensor: Any) -> str:
    dtype = tensor.dtype
    return str(getattr(dtype, "name", dtype))

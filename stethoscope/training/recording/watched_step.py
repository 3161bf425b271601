"""A model's own training step, traced a second time with gradients, updates and activations measured in it.

The step that `fit` traced stays as it is, so steps that are not looked at cost nothing. The watched one trains just the
same and hands back a few numbers for each layer with its logs; no weight or activation leaves the device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.activations import CAN_DIE, SATURATED
from stethoscope.logs.curves import (
    ACTIVATION_STD,
    DEAD_FRACTION,
    GRADIENT_NORM,
    SATURATED_FRACTION,
    UPDATE_RATIO,
    ZERO_FRACTION,
    of_layer,
)
from stethoscope.models.formats.keras_model.keras_activations import hooked, layer_paths
from stethoscope.training.instruments import activation_name, flat, owners

UPDATES, OUTPUTS = "_stethoscope_updates", "_stethoscope_outputs"
_OUTPUT_KINDS = (ZERO_FRACTION, DEAD_FRACTION, SATURATED_FRACTION, ACTIVATION_STD)
_TINY = 1e-12


class WatchedStep:
    """The watched twin of `model.train_function`; called like it, returns the same logs, keeps what it measured.

    Args:
        keras: the package the model is of.
        model: compiled, inside `fit`.
    """

    def __init__(self, keras: Any, model: Any) -> None:
        self._keras, self._model = keras, model
        self._paths = layer_paths(keras, model)
        self._outputs: list[str] = []
        self._place: dict[int, int] = {}
        self._layers: list[str] = []
        self._sizes: list[int] = []
        self.calls = 0
        """How often it has trained: an error after the first time is the training's own."""
        self.values: dict[str, float] = {}
        """What the last call measured, by tag."""
        self._function: Callable[[Any], Any] | None = None
        owner = {id(variable): path for path, layer in owners(keras, model) for variable in layer.trainable_variables}
        for index, variable in enumerate(model.trainable_variables):
            self._place[id(variable)] = index
            self._layers.append(owner.get(id(variable), model.name))
            self._sizes.append(math.prod(variable.shape))

    def __call__(self, iterator: Any) -> Any:
        """Trains on the iterator's next batch (or batches) and measures; errors of the training pass through."""
        self.values = {}
        with _attribute(self._model, "train_step", self._step(self._model.train_step)):
            if self._function is None:
                self._function = self._made()
            logs = dict(self._function(iterator))
        self.calls += 1
        updates, outputs = logs.pop(UPDATES, None), logs.pop(OUTPUTS, None)
        if updates is not None:
            self.values |= self._by_layer(np.asarray(updates))
        if outputs is not None:
            self.values |= _named(self._outputs, np.asarray(outputs))
        return logs

    def _made(self) -> Callable[[Any], Any]:
        plain = self._model.train_function
        graph = getattr(self._model, "train_tf_function", None)
        try:
            self._model.make_train_function(force=True)
            made: Callable[[Any], Any] = self._model.train_function
            return made
        finally:
            self._model.train_function = plain
            if graph is not None:
                self._model.train_tf_function = graph

    def _step(self, original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def train_step(data: Any) -> Any:
            import tensorflow as tf

            rows: dict[int, Any] = {}
            graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
            outputs: dict[str, Any] = {}

            def saw(layer: Any, result: Any) -> None:
                path, activation = self._paths.get(id(layer)), activation_name(layer)
                if path is None or path in outputs or not activation or not _can_be_read(result, graph):
                    return
                outputs[path] = _output_summary(result, activation)

            with hooked(self._keras, saw), self._watched_optimizers(rows):
                logs = dict(original(data))
            nothing = tf.zeros((4,))
            logs[UPDATES] = tf.stack([rows.get(index, nothing) for index in range(len(self._layers))] or [nothing])
            if outputs:
                self._outputs = list(outputs)
                logs[OUTPUTS] = tf.stack(list(outputs.values()))
            return logs

        return train_step

    @contextmanager
    def _watched_optimizers(self, rows: dict[int, Any]) -> Iterator[None]:
        """While it lasts, whatever an optimizer of the model applies is measured; `rows` by the variable's place."""
        with ExitStack() as stack:
            for optimizer in _optimizers(self._model):
                if _is_modern(optimizer):
                    stack.enter_context(_attribute(optimizer, "apply", self._apply(optimizer, rows)))
                else:
                    apply = self._apply_gradients(optimizer, rows)
                    stack.enter_context(_attribute(optimizer, "apply_gradients", apply))
            yield

    def _apply(self, optimizer: Any, rows: dict[int, Any]) -> Callable[..., Any]:
        """Keras 3: every update goes through `apply`."""
        original = optimizer.apply

        def apply(grads: Any, trainable_variables: Any = None) -> Any:
            gradients = list(grads)
            variables = optimizer._trainable_variables if trainable_variables is None else list(trainable_variables)
            given = None if trainable_variables is None else variables
            # Gradients of a scaled loss come scaled.
            pairs = list(zip(gradients, variables, strict=False))
            return self._measured(pairs, optimizer.scale_loss(1.0), rows, lambda: original(gradients, given))

        return apply

    def _apply_gradients(self, optimizer: Any, rows: dict[int, Any]) -> Callable[..., Any]:
        """tf_keras: every update goes through `apply_gradients`."""
        original = optimizer.apply_gradients

        def apply_gradients(grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            pairs = list(grads_and_vars)
            return self._measured(pairs, 1.0, rows, lambda: original(pairs, *args, **kwargs))

        return apply_gradients

    def _measured(
        self, pairs: Sequence[tuple[Any, Any]], scale: Any, rows: dict[int, Any], update: Callable[[], Any]
    ) -> Any:
        import tensorflow as tf

        factor = tf.square(tf.cast(scale, tf.float32))
        watched = [
            (self._place[id(variable)], gradient, variable)
            for gradient, variable in pairs
            if gradient is not None and id(variable) in self._place
        ]
        slopes = [_sum_of_squares(gradient) / factor for _, gradient, _ in watched]
        before = [tf.identity(flat(variable)) for _, _, variable in watched]
        result = update()
        for (place, _, variable), slope, was in zip(watched, slopes, before, strict=True):
            moved = tf.reduce_sum(tf.square(flat(variable) - was))
            rows[place] = tf.stack([slope, moved, tf.reduce_sum(tf.square(was)), 1.0])
        return result

    def _by_layer(self, rows: npt.NDArray[Any]) -> dict[str, float]:
        """Sums of squares of each variable to the norms of each layer."""
        found: dict[str, float] = {}
        for layer in dict.fromkeys(self._layers):
            places = [place for place, name in enumerate(self._layers) if name == layer]
            seen = rows[places].astype(np.float64)
            # A variable that was given no gradient counts as unchanged; a layer without any was not trained here.
            touched = seen[seen[:, 3] > 0]
            if len(touched):
                slope, moved, held, _ = touched.sum(axis=0)
                size = sum(self._sizes[place] for place in places)
                found[of_layer(GRADIENT_NORM, layer)] = float(np.sqrt(slope / size))
                with np.errstate(invalid="ignore"):  # infinite by infinite is NaN, and is recorded so
                    found[of_layer(UPDATE_RATIO, layer)] = float(np.sqrt(moved) / (np.sqrt(held) + _TINY))
        return found


def _named(layers: Sequence[str], rows: npt.NDArray[Any]) -> dict[str, float]:
    """Output summaries by tag; what an activation does not have is left out."""
    found: dict[str, float] = {}
    for layer, (zero, dead, saturated, std, kind) in zip(layers, rows.astype(np.float64), strict=True):
        values = (zero, dead, saturated, std)
        wanted = {1: (True, True, False, True), 2: (False, False, True, True)}.get(
            int(kind), (False, False, False, True)
        )
        for name, value, want in zip(_OUTPUT_KINDS, values, wanted, strict=True):
            if want:
                found[of_layer(name, layer)] = float(value)
    return found


def _output_summary(value: Any, activation: str) -> Any:
    """[zero, dead, saturated, std, kind]; kind is 1 for rectifiers, 2 for activations that saturate, else 0."""
    import tensorflow as tf

    value = tf.cast(value, tf.float32)
    zero = dead = saturated = tf.constant(0.0)
    kind = 0.0
    if activation in CAN_DIE:
        kind = 1.0
        units = tf.reshape(value, (-1, tf.shape(value)[-1]))
        zero = tf.reduce_mean(tf.cast(units <= 0.0, tf.float32))
        dead = tf.reduce_mean(tf.cast(tf.reduce_max(units, axis=0) <= 0.0, tf.float32))
    elif activation in SATURATED:
        kind = 2.0
        low, high = SATURATED[activation]
        saturated = tf.reduce_mean(tf.cast((value <= low) | (value >= high), tf.float32))
    return tf.stack([zero, dead, saturated, tf.math.reduce_std(value), tf.constant(kind)])


def _can_be_read(result: Any, graph: Any) -> bool:
    """Whether a layer's output is one float tensor of the step itself, not of a loop or branch inside it."""
    import tensorflow as tf

    if not tf.is_tensor(result) or isinstance(result, tf.SparseTensor | tf.RaggedTensor):
        return False
    if not result.dtype.is_floating or result.shape.rank in (None, 0):
        return False
    return graph is None or getattr(result, "graph", None) is graph


def _sum_of_squares(gradient: Any) -> Any:
    import tensorflow as tf

    return tf.reduce_sum(tf.square(tf.cast(tf.convert_to_tensor(gradient), tf.float32)))


def _optimizers(model: Any) -> list[Any]:
    """The optimizers of the model: `optimizer`, and others that a model with its own step keeps as attributes."""
    found = [getattr(model, "optimizer", None), *vars(model).values()]
    wanted = [item for item in found if hasattr(item, "apply_gradients") and hasattr(item, "iterations")]
    return list({id(item): item for item in wanted}.values())


def _is_modern(optimizer: Any) -> bool:
    return not any(kind.__module__.split(".")[0] == "tf_keras" for kind in type(optimizer).__mro__)


@contextmanager
def _attribute(holder: Any, name: str, value: Any) -> Iterator[None]:
    """Shadows a method of one object; written past `__setattr__`, where Keras tracks what it is given."""
    before = holder.__dict__.get(name)
    holder.__dict__[name] = value
    try:
        yield
    finally:
        del holder.__dict__[name]
        if before is not None:
            holder.__dict__[name] = before

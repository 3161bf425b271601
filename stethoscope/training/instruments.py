"""What is measured while training: gradients and updates of sampled steps, activations on a fixed batch. Worker only.

Nothing but a few numbers for each layer leaves the TensorFlow program; a step that is not sampled pays for one branch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.activations import ACTIVATION_LAYERS, CAN_DIE, LINEAR, OPERATORS, SATURATED, plain_type
from stethoscope.evidence.training import LayerTraining
from stethoscope.models.formats.keras_model.keras_activations import hooked, layer_paths
from stethoscope.training.model import call, package

MAX_SAMPLES = 60
PROBE_ROWS = 128
_TINY = 1e-12


def sample_steps(total: int, most: int = MAX_SAMPLES) -> list[int]:
    """Steps (counted from 1) to look at: 1, 2, 4, 8 … and evenly spread ones; few when there are few steps."""
    wanted = min(most, max(min(12, total), total // 32))
    powers = {1 << k for k in range(max(1, total).bit_length()) if 1 << k <= total}
    powers = set(sorted(powers)[:: max(1, math.ceil(len(powers) / max(1, wanted - 1)))])
    even = {max(1, round(place)) for place in np.linspace(1, max(1, total), max(2, wanted - len(powers)))}
    return sorted(powers | even)[: most + 1]


def owners(keras: Any, model: Any) -> list[tuple[str, Any]]:
    """(path, layer) of every layer that can be seen, in the order of the layer table's names."""
    paths = layer_paths(keras, model)
    found: list[tuple[str, Any]] = []
    waiting = [model]
    seen: set[int] = set()
    while waiting:
        holder = waiting.pop(0)
        for layer in getattr(holder, "layers", None) or []:
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            if id(layer) in paths:
                found.append((paths[id(layer)], layer))
            waiting.append(layer)
    return found


class StepStatistics:
    """Gradient size and update ratio of each layer with trainable weights, of one step."""

    def __init__(self, keras: Any, model: Any) -> None:
        trainable = list(model.trainable_variables)
        place = {id(variable): index for index, variable in enumerate(trainable)}
        owner: dict[int, str] = {}
        for path, layer in owners(keras, model):
            for variable in layer.trainable_variables:
                if id(variable) in place and len(path) >= len(owner.get(place[id(variable)], "")):
                    owner[place[id(variable)]] = path
        self.paths = list(dict.fromkeys(owner[index] for index in sorted(owner)))
        self._groups = [[index for index in sorted(owner) if owner[index] == path] for path in self.paths]
        self._sizes = [sum(int(np.prod(trainable[i].shape)) for i in group) for group in self._groups]

    def nothing(self) -> Any:
        """The value before anything was sampled, of shape (2, layers)."""
        import tensorflow as tf

        return tf.zeros((2, len(self.paths)), tf.float32)

    def before(self, variables: Sequence[Any], wanted: Any) -> list[Any]:
        """The weights before the update if this step is `wanted`, else nothing worth the copy."""
        import tensorflow as tf

        if not self.paths:
            return []
        # Read inside the branch: a tensor read before the update would make every update a copy.
        return list(
            tf.cond(
                wanted,
                lambda: [tf.identity(flat(variable)) for variable in variables],
                lambda: [tf.zeros((0,), tf.float32) for _ in variables],
            )
        )

    def after(
        self, variables: Sequence[Any], gradients: Sequence[Any], before: Sequence[Any], wanted: Any, last: Any
    ) -> Any:
        """Row 0: root mean square of the gradient; row 1: norm of the update over norm of the weights."""
        import tensorflow as tf

        if not self.paths:
            return last

        def measured() -> Any:
            slopes, updates = [], []
            for group, size in zip(self._groups, self._sizes, strict=True):
                squares = [
                    tf.reduce_sum(tf.square(tf.cast(tf.convert_to_tensor(gradients[i]), tf.float32)))
                    for i in group
                    if gradients[i] is not None
                ]
                slopes.append(tf.sqrt(tf.add_n(squares) / size) if squares else tf.constant(0.0))
                moved = [tf.reduce_sum(tf.square(flat(variables[i]) - before[i])) for i in group]
                held = [tf.reduce_sum(tf.square(before[i])) for i in group]
                updates.append(tf.sqrt(tf.add_n(moved)) / (tf.sqrt(tf.add_n(held)) + _TINY))
            return tf.stack([tf.stack(slopes), tf.stack(updates)])

        return tf.cond(wanted, measured, lambda: last)


def flat(variable: Any) -> Any:
    """A variable or gradient as one row of float32."""
    import tensorflow as tf

    return tf.reshape(tf.cast(tf.convert_to_tensor(variable), tf.float32), (-1,))


class Probe:
    """Activations of every layer on one fixed batch, in inference mode: dead and saturated shares, spread, finiteness."""

    def __init__(self, modern: bool, model: Any) -> None:
        self._modern, self._model = modern, model
        self._keras = package(modern)
        self._paths = layer_paths(self._keras, model)
        self.seen: list[tuple[str, Any]] = []
        self._function: Callable[..., Any] | None = None

    def measure(self, x: Sequence[Any]) -> npt.NDArray[Any]:
        """Returns float32 (layers, 4): dead share, saturated share (NaN where it cannot be), std, 1 when all is finite."""
        import tensorflow as tf

        if self._function is None:
            self._function = tf.function(self._measured, autograph=False, reduce_retracing=True)
        return np.asarray(self._function(list(x)))

    def _measured(self, x: list[Any]) -> Any:
        import tensorflow as tf

        self.seen = []
        rows: list[Any] = []

        def saw(layer: Any, result: Any) -> None:
            path = self._paths.get(id(layer))
            if (
                path is None
                or not tf.is_tensor(result)
                or not result.dtype.is_floating
                or result.shape.rank in (None, 0)
            ):
                return
            if any(path == known for known, _ in self.seen):
                return
            self.seen.append((path, layer))
            rows.append(_summary(result, activation_name(layer)))

        with hooked(self._keras, saw):
            call(self._model, self._modern, x, training=False)
        return tf.stack(rows) if rows else tf.zeros((0, 4))


def _summary(value: Any, activation: str) -> Any:
    import tensorflow as tf

    value = tf.cast(value, tf.float32)
    dead = saturated = tf.constant(float("nan"))
    if activation in CAN_DIE:
        units = tf.reshape(value, (-1, tf.shape(value)[-1]))
        dead = tf.reduce_mean(tf.cast(tf.reduce_max(units, axis=0) <= 0.0, tf.float32))
    if activation in SATURATED:
        low, high = SATURATED[activation]
        saturated = tf.reduce_mean(tf.cast((value <= low) | (value >= high), tf.float32))
    finite = tf.cast(tf.reduce_all(tf.math.is_finite(value)), tf.float32)
    return tf.stack([dead, saturated, tf.math.reduce_std(value), finite])


def activation_name(layer: Any) -> str:
    """The activation a live layer applies; "" when none."""
    kind = type(layer).__name__
    if kind in ACTIVATION_LAYERS and plain_type(kind) in OPERATORS:
        return OPERATORS[plain_type(kind)].name
    if kind in ("LSTM", "GRU", "SimpleRNN", "Bidirectional", "RNN", "TimeDistributed"):
        return ""
    name = getattr(getattr(layer, "activation", None), "__name__", "")
    return "" if name == LINEAR.name else str(name)


@dataclass
class Recording:
    """The base run's measurements, gathered step by step; becomes `LayerTraining`."""

    statistics: StepStatistics
    probe: Probe | None
    probe_x: Sequence[Any]
    wanted: set[int]
    steps: list[int] = field(default_factory=list)
    gradients: list[npt.NDArray[Any]] = field(default_factory=list)
    activations: list[npt.NDArray[Any]] = field(default_factory=list)

    def add(self, step: int, statistics: npt.NDArray[Any]) -> None:
        """Takes a sampled step's statistics and looks at the activations after it."""
        self.steps.append(step)
        self.gradients.append(statistics)
        if self.probe is not None:
            self.activations.append(self.probe.measure(self.probe_x))

    def layers(self, keras: Any, model: Any, change: dict[str, float]) -> tuple[LayerTraining, ...]:
        """Everything measured, by layer in the model's order."""
        slopes = {path: index for index, path in enumerate(self.statistics.paths)}
        seen = {path: index for index, (path, _) in enumerate(self.probe.seen)} if self.probe is not None else {}
        found = []
        for path, layer in owners(keras, model):
            activation = activation_name(layer)
            own = path in slopes or path in change
            if not own and not activation:
                continue
            gradient = tuple(float(item[0, slopes[path]]) for item in self.gradients) if path in slopes else ()
            update = tuple(float(item[1, slopes[path]]) for item in self.gradients) if path in slopes else ()
            dead = self._series(seen.get(path), 0)
            finite = self._series(seen.get(path), 3)
            broken = [
                step
                for place, step in enumerate(self.steps)
                if (gradient and not math.isfinite(gradient[place])) or (finite and finite[place] < 1)
            ]
            found.append(
                LayerTraining(
                    path=path,
                    type=type(layer).__name__,
                    activation=activation or LINEAR.name,
                    trainable=bool(layer.trainable),
                    parameters=int(layer.count_params()) if layer.built else 0,
                    gradient_norm=gradient,
                    update_ratio=update,
                    dead_fraction=() if any(math.isnan(item) for item in dead) else dead,
                    saturated_fraction=tuple(item for item in self._series(seen.get(path), 1) if not math.isnan(item)),
                    activation_std=self._series(seen.get(path), 2),
                    relative_change=change.get(path),
                    nonfinite_step=broken[0] if broken else None,
                )
            )
        return tuple(found)

    def _series(self, place: int | None, column: int) -> tuple[float, ...]:
        return () if place is None else tuple(float(item[place, column]) for item in self.activations)

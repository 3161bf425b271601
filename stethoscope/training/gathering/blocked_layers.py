"""Layers through which no learning passes, on a few rows: no gradient, dead, constant, saturated, frozen, not finite. Worker only.

Holds the gradients that are computed against the slope of the loss that is measured. Worker only.

Each layer's weights are moved a little back and forth along a direction; (L(w+h) − L(w−h)) / 2h is what the gradient along
it should be. Costs twelve evaluations of the loss per layer, so it is meant for models with operations whose gradient may
be wrong or missing.
Source: cs231n.github.io/neural-networks-3, gradient checks (centred differences, relative error).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.activations import CAN_DIE
from stethoscope.architecture.activations import SATURATED as FLAT_ENDS
from stethoscope.evidence.training import GradientError
from stethoscope.evidence.trials import (
    CONSTANT,
    DEAD,
    FROZEN,
    GRADIENT_ZERO,
    NON_FINITE,
    SATURATED,
    BlockedLayer,
    gravest_first,
    vanishing,
)
from stethoscope.models.formats.keras_model.keras_activations import hooked, layer_paths
from stethoscope.training.instruments import activation_name, owners
from stethoscope.training.model import as_fed, call, package

Array = npt.NDArray[Any]
MOSTLY = 0.95
"""Share of values on the flat ends from which a layer counts as saturated."""
MOST_NAMED = 12
_SILENT = (CONSTANT, DEAD)


def blocked_layers(
    model: Any, modern: bool, x: Sequence[Any], y: Sequence[Any], losses: Sequence[Any]
) -> tuple[BlockedLayer, ...]:
    """Looks at the model as it stands; the gravest reason of each layer, the one that blocks first.

    Args:
        model: a live model.
        x: one array per input, y: one per output, a few rows.
        losses: live losses, None for an output without one.
    """
    seen = (*_by_output(model, modern, x), *_by_gradient(model, modern, x, y, losses))
    return gravest_first(seen)[:MOST_NAMED]


def _by_output(model: Any, modern: bool, x: Sequence[Any]) -> list[BlockedLayer]:
    keras = package(modern)
    paths = layer_paths(keras, model)
    found: dict[str, BlockedLayer | None] = {}

    def saw(layer: Any, result: Any) -> None:
        path = paths.get(id(layer))
        if path is None or path in found or type(layer).__name__ == "InputLayer" or not hasattr(result, "shape"):
            return
        values = np.asarray(result)
        if values.dtype.kind != "f" or values.ndim < 2 or values.size == 0:
            return
        reason = _reason(values, activation_name(layer))
        found[path] = None if reason is None else BlockedLayer(path, *reason)

    with hooked(keras, saw):
        call(model, modern, [_plain(array) for array in x], training=False)
    return _stops(list(found.values()))


def _stops(order: Sequence[BlockedLayer | None]) -> list[BlockedLayer]:
    """What was found, in the order of the calls, without what only follows from an earlier layer.

    Where the input's influence ends, every layer behind is constant: the first of them is the place to look at. A
    constant layer whose followers vary (position embeddings) is no stop. What is not finite stays so.
    """
    tail = len(order)
    while tail and order[tail - 1] is not None and order[tail - 1].reason in _SILENT:  # type: ignore[union-attr]
        tail -= 1
    kept: list[BlockedLayer] = []
    for place, layer in enumerate(order):
        if layer is None or (layer.reason == CONSTANT and place != tail):
            continue
        if layer.reason != NON_FINITE or all(other.reason != NON_FINITE for other in kept):
            kept.append(layer)
    return kept


def _reason(values: Array, activation: str) -> tuple[str, float] | None:
    finite = np.isfinite(values)
    if not finite.all():
        return NON_FINITE, float((~finite).mean())
    flat = values.reshape(len(values), -1).astype(np.float64)
    if activation in CAN_DIE and (flat <= 0).all():
        return DEAD, 1.0
    size = float(np.abs(flat).max())
    if len(flat) > 1 and float(np.ptp(flat, axis=0).max()) <= 1e-7 * max(size, 1e-30):
        return CONSTANT, float(flat[0, 0])
    if activation in FLAT_ENDS:
        low, high = FLAT_ENDS[activation]
        share = float(np.mean((flat <= low) | (flat >= high)))
        if share >= MOSTLY:
            return SATURATED, share
    return None


def _by_gradient(
    model: Any, modern: bool, x: Sequence[Any], y: Sequence[Any], losses: Sequence[Any]
) -> list[BlockedLayer]:
    import tensorflow as tf

    variables = list(model.trainable_variables)
    with tf.GradientTape() as tape:
        outputs = call(model, modern, [_plain(array) for array in x], training=True)
        parts = [
            tf.reduce_mean(loss(_plain(truth), output))
            for loss, truth, output in zip(losses, y, outputs, strict=False)
            if loss is not None
        ]
        total = tf.add_n([tf.cast(part, tf.float32) for part in parts])
    slopes = {id(variable): slope for variable, slope in zip(variables, tape.gradient(total, variables), strict=True)}
    found: list[BlockedLayer] = []
    strength: dict[str, float] = {}
    for path, layer in owners(package(modern), model):
        if getattr(layer, "layers", None):
            continue
        own = [variable for variable in layer.trainable_variables if id(variable) in slopes]
        if not own:
            if layer.weights and not layer.trainable:
                found.append(BlockedLayer(path, FROZEN))
            continue
        sizes = [
            0.0 if slopes[id(item)] is None else float(np.abs(np.asarray(tf.convert_to_tensor(slopes[id(item)]))).max())
            for item in own
        ]
        if not np.isfinite(sizes).all():
            found.append(BlockedLayer(path, NON_FINITE))
        elif max(sizes) == 0.0:
            found.append(BlockedLayer(path, GRADIENT_ZERO, 0.0))
        else:
            strength[path] = _root_mean_square([slopes[id(item)] for item in own])
    return found + vanishing(strength)


def _root_mean_square(slopes: Sequence[Any]) -> float:
    import tensorflow as tf

    known = [np.asarray(tf.convert_to_tensor(slope), np.float64) for slope in slopes if slope is not None]
    count = sum(array.size for array in known)
    return float(np.sqrt(sum(np.square(array).sum() for array in known) / count)) if count else 0.0


def _plain(array: Array) -> Any:
    import tensorflow as tf

    return tf.constant(as_fed(array))


MOST_LAYERS = 40
_STEPS = (1e-3, 4e-3, 1.6e-2)
"""Lengths of a step over the norm of the weights: rounding spoils shorter ones, curvature longer ones."""
_ROUNDING = 2e-6
"""What a 32-bit loss may be off by, relative: some twenty roundings of 6e-8."""
_AGREE = 0.3
"""Two step lengths must measure the same slope up to this share; else the direction crosses a kink and says nothing."""
_SUSPECT_OPERATIONS = frozenset(
    {"StopGradient", "Round", "Floor", "Ceil", "Sign", "Argmax", "Argmin", "FloorDivide", "CustomGradient", "Lambda"}
)


def has_suspects(layers: Sequence[Any], losses: Sequence[Any] = ()) -> bool:
    """Whether a live model holds layers, operations or losses that are not Keras' own, or that cut gradients off.

    Args:
        layers: `model.operations` where the model has it (operations are no layers), else its layers.
        losses: Keras loss objects.
    """
    own = any(type(layer).__name__ in _SUSPECT_OPERATIONS or not _built_in(layer) for layer in layers)
    return own or any(loss is not None and not _built_in(getattr(loss, "fn", loss)) for loss in losses)


def gradient_errors(layers: Sequence[tuple[str, Any]], loss: Callable[[], Any]) -> tuple[GradientError, ...]:
    """Returns one entry for each of the first 40 layers with trainable 32- or 64-bit weights.

    Args:
        layers: (path, live layer) in the model's order; each weight is looked at once, in the first layer that holds it.
        loss: the loss as a scalar tensor on a fixed batch, in inference mode, from the weights as they are now.
    """
    import tensorflow as tf

    groups: list[tuple[str, list[Any]]] = []
    seen: set[int] = set()
    for path, layer in layers:
        if getattr(layer, "layers", None):
            continue
        own = [one for one in layer.trainable_variables if id(one) not in seen and "float" in str(one.dtype)]
        own = [one for one in own if "16" not in str(one.dtype)]
        seen.update(map(id, own))
        if own and len(groups) < MOST_LAYERS:
            groups.append((path, own))
    variables = [getattr(variable, "value", variable) for _, own in groups for variable in own]
    with tf.GradientTape() as tape:
        start = loss()
    slopes = iter(tape.gradient(start, [_tensor_variable(variable) for variable in variables]))
    level = abs(float(start))
    if not math.isfinite(level):
        return ()
    generator = np.random.default_rng(0)
    found = []
    for path, own in groups:
        gradient = [_dense(next(slopes), variable) for variable in own]
        found.append(_layer_error(path, own, gradient, loss, level, generator))
    return tuple(found)


def _layer_error(
    path: str,
    own: Sequence[Any],
    gradient: Sequence[npt.NDArray[Any]],
    loss: Callable[[], Any],
    level: float,
    generator: np.random.Generator,
) -> GradientError:
    weights = [np.asarray(variable) for variable in own]
    scale = math.sqrt(sum(float(np.sum(np.square(item, dtype=np.float64))) for item in weights)) or 1.0
    directions = [[generator.choice((-1.0, 1.0), item.shape) for item in weights]]
    if any(np.any(item) for item in gradient):
        directions.append([np.asarray(item, np.float64) for item in gradient])
    worst = GradientError(path, 0.0, 0.0, 0.0)
    for direction in directions:
        size = math.sqrt(sum(float(np.sum(np.square(item))) for item in direction)) or 1.0
        unit = [item / size for item in direction]
        computed = sum(float(np.sum(one * along)) for one, along in zip(gradient, unit, strict=True))
        error = _compare(
            path, computed, [_slope(own, weights, unit, step * scale, loss) for step in _STEPS], level, scale
        )
        if error is not None and error.relative_error >= worst.relative_error:
            worst = error
    return worst


def _compare(path: str, computed: float, measured: Sequence[float], level: float, scale: float) -> GradientError | None:
    """The error of the step length that agrees best; None when the lengths do not agree among each other."""
    floors = [_ROUNDING * max(level, 1e-3) / (step * scale) for step in _STEPS]
    middle, long = measured[1], measured[2]
    if not all(map(math.isfinite, measured)) or abs(middle - long) > _AGREE * max(abs(middle), abs(long)) + floors[1]:
        return None
    best = min(range(len(_STEPS)), key=lambda at: max(0.0, abs(measured[at] - computed) - floors[at]))
    gap = abs(measured[best] - computed)
    larger = max(abs(measured[best]), abs(computed))
    relative = gap / larger if gap > floors[best] and larger > 0 else 0.0
    return GradientError(path, computed, measured[best], relative)


def _slope(
    own: Sequence[Any],
    weights: Sequence[npt.NDArray[Any]],
    unit: Sequence[npt.NDArray[Any]],
    step: float,
    loss: Callable[[], Any],
) -> float:
    """(L(w+h) − L(w−h)) / 2h; the weights are put back."""
    values = []
    try:
        for sign in (1.0, -1.0):
            for variable, item, along in zip(own, weights, unit, strict=True):
                variable.assign((item + sign * step * along).astype(item.dtype))
            values.append(float(loss()))
    finally:
        for variable, item in zip(own, weights, strict=True):
            variable.assign(item)
    return (values[0] - values[1]) / (2 * step)


def _dense(slope: Any, variable: Any) -> npt.NDArray[Any]:
    import tensorflow as tf

    if slope is None:
        return np.zeros(tuple(variable.shape))
    return np.asarray(tf.convert_to_tensor(slope), np.float64)


def _tensor_variable(variable: Any) -> Any:
    return getattr(variable, "_value", variable)


def _built_in(thing: Any) -> bool:
    module = getattr(thing, "__module__", "") or type(thing).__module__
    return module.split(".")[0] in ("keras", "tf_keras", "tensorflow")

"""Holds the gradients that are computed against the slope of the loss that is measured. Worker only.

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

from stethoscope.evidence.training import GradientError

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

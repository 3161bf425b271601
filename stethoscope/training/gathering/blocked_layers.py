"""Layers through which no learning passes, on a few rows: no gradient, dead, constant, saturated, frozen, not finite. Worker only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.activations import CAN_DIE
from stethoscope.architecture.activations import SATURATED as FLAT_ENDS
from stethoscope.evidence.blocking import (
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

"""What layers of Keras compute that move, pad, repeat, look up or merge values, in plain numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from stethoscope.compare.parity.kernel_suspicions import Array, Rule, Settings, Weights


def ends(told: Any, rank: int) -> list[tuple[int, int]]:
    """ "padding" or "cropping" as (before, after) of each axis."""
    if rank == 1 and isinstance(told, list | tuple) and not isinstance(told[0], list | tuple):
        told = [told]
    each = told if isinstance(told, list | tuple) else [told] * rank
    return [(int(one[0]), int(one[1])) if isinstance(one, list | tuple) else (int(one), int(one)) for one in each]


def padded(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    """ZeroPadding."""
    return np.pad(inputs[0], ((0, 0), *ends(settings["padding"], inputs[0].ndim - 2), (0, 0)))


def cropped(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    """Cropping."""
    x = inputs[0]
    cut = ends(settings["cropping"], x.ndim - 2)
    return x[(slice(None), *(slice(before, x.shape[1 + at] - after) for at, (before, after) in enumerate(cut)))]


def rescaled(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    """Rescaling."""
    scale, offset = (
        np.asarray(settings.get(name, usual), np.float64) for name, usual in (("scale", 1.0), ("offset", 0.0))
    )
    return np.asarray(inputs[0] * scale + offset)


def flattened(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    """Flatten; "channels_first": after the channels were moved to the front."""
    x = np.moveaxis(inputs[0], -1, 1) if settings.get("channels_first") else inputs[0]
    return x.reshape(len(x), -1)


def reshaped(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    """Reshape; "before": the order of axes in which they are read, "after": in which the new ones are filled."""
    x, shape = inputs[0], [int(one) for one in settings["target_shape"]]
    before, after = settings.get("before"), settings.get("after")
    if before is not None:
        x = x.transpose(0, *before)
    if after is None:
        return x.reshape(len(x), *shape)
    if -1 in shape:
        shape[shape.index(-1)] = int(np.prod(x.shape[1:])) // -int(np.prod(shape))
    filled = x.reshape(len(x), *(shape[axis - 1] for axis in after))
    return filled.transpose(0, *(1 + int(one) for one in np.argsort(after)))


def permuted(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    """Permute: "dims" counts from 1."""
    return inputs[0].transpose(0, *(int(one) for one in settings["dims"]))


def repeated(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    """RepeatVector; "each": every value n times, then cut."""
    x, count = inputs[0], int(settings["n"])
    if settings.get("each"):
        return np.repeat(x, count, axis=1).reshape(len(x), count, -1)
    return np.repeat(x[:, None], count, axis=1)


def looked_up(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """Embedding; "shift" is added to each index."""
    table = weights["embeddings"]
    places = np.clip(np.rint(inputs[0]).astype(int) + int(settings.get("shift") or 0), 0, len(table) - 1)
    return np.asarray(table[places])


def joined(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    """Concatenate; "reversed": the last first."""
    parts = inputs[::-1] if settings.get("reversed") else inputs
    return np.concatenate(parts, axis=int(settings.get("axis", -1)))


MERGES: dict[str, Callable[[Sequence[Array]], Array]] = {
    "Add": lambda arrays: reduce(np.add, arrays),
    "Subtract": lambda arrays: arrays[0] - arrays[1],
    "Multiply": lambda arrays: reduce(np.multiply, arrays),
    "Average": lambda arrays: reduce(np.add, arrays) / len(arrays),
    "Maximum": lambda arrays: reduce(np.maximum, arrays),
    "Minimum": lambda arrays: reduce(np.minimum, arrays),
}


def merging(kind: str) -> Rule:
    """Of one of `MERGES`."""
    return lambda inputs, _weights, _settings: np.asarray(MERGES[kind](inputs))


def dotted(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    """Dot: sums over one axis of both."""
    first, second = inputs
    told = settings["axes"]
    one, other = (
        int(axis) % array.ndim
        for axis, array in zip(told if isinstance(told, list | tuple) else (told, told), inputs, strict=True)
    )
    if settings.get("normalize"):
        first, second = (
            array / np.sqrt(np.maximum(np.square(array).sum(axis=axis, keepdims=True), 1e-12))
            for array, axis in ((first, one), (second, other))
        )
    first, second = np.moveaxis(first, one, -1), np.moveaxis(second, other, -1)
    made = first.reshape(len(first), -1, first.shape[-1]) @ second.reshape(len(second), -1, second.shape[-1]).swapaxes(
        1, 2
    )
    rest = (*first.shape[1:-1], *second.shape[1:-1])
    return made.reshape(len(first), *(rest or (1,)))

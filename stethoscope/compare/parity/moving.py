"""Layers that move, pad, repeat, look up or merge values: what they compute, and what may be wrong with one.

Source: keras.io/api/datasets/imdb (words counted from 0, 1 or 3), SamLynnEvans/Transformer#10 (tables times the root of their width),
gmalivenko/onnx2keras#50 (padding of one end only), pytorch/pytorch#10604 and Blaizzy/mlx-vlm#1241 (ways of resizing),
henrysky.github.io/blog/2023-10-23-keras-torch (order of Flatten, and of Reshape), pytorch/pytorch#50013 (repeat against tile),
PINTO0309/PINTO_model_zoo#400 (order of parts), keras.applications preprocess_input (scaling inside or outside).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.kernel_suspicions import Estimate, Rule, Settings, Suspicion, Weights, scaled
from stethoscope.types import Layer


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


_MOST_RESERVED = 3
"""Numbers before the first word: for what pads, what begins, what is not known."""


def moving_suspicions(layer: Layer, weights: Weights) -> Iterator[Suspicion | Estimate]:
    """Everything that is tried for such a layer; nothing for other layers.

    Args:
        layer: of the group.
        weights: by short names.
    """
    kind = layer.type
    if kind == "Embedding" and "embeddings" in weights:
        yield from _embedding(weights)
    if kind.startswith(("ZeroPadding", "Cropping")):
        yield from _ends(layer)
    if kind.startswith(("UpSampling", "Resizing")):
        yield from _resizing()
    rule = _SINGLE.get(kind)
    if rule is not None:
        yield from rule(layer)


def _embedding(weights: Weights) -> Iterator[Suspicion | Estimate]:
    for by in range(1, _MOST_RESERVED + 1):
        for shift, side in ((by, "after"), (-by, "before")):
            yield Suspicion(
                "shifted-index",
                "The index is shifted",
                f"looks up the row {by} {side} the one it is asked for",
                "Count the words of the vocabulary alike in both (from 0 or 1, with the same reserved numbers).",
                {"shift": shift},
            )
    wide = weights["embeddings"].shape[1]
    told = f"has its table times {{}} (the root of its width is {wide**0.5:.4g})"
    yield scaled(weights, "embeddings", told, "Scale what is looked up in both or in none.")


def _ends(layer: Layer) -> Iterator[Suspicion]:
    """The same number of places in all, at other ends."""
    name = "padding" if layer.type.startswith("Zero") else "cropping"
    each = ends(layer.config.get(name, 1), int(layer.type[-2]))
    verb, advice = (
        ("pads", "Pad both alike at each end.")
        if name == "padding"
        else ("cuts off", "Cut the same off at each end in both.")
    )
    choices = [[(before, sum(pair) - before) for before in range(sum(pair) + 1)] for pair in each]
    for way in itertools.islice(itertools.product(*choices), 128):
        if list(way) != each:
            yield Suspicion(
                "padding",
                f"Another {name}",
                f"{verb} {', '.join(f'{before} before and {after} after' for before, after in way)}",
                advice,
                {name: list(way)},
            )


def _resizing() -> Iterator[Suspicion]:
    for told, settings in (
        ("repeats pixels", {"interpolation": "nearest"}),
        ("blends pixels", {"interpolation": "bilinear"}),
        ("blends pixels with aligned corners", {"interpolation": "bilinear", "align_corners": True}),
        ("blends pixels without half-pixel centres", {"interpolation": "bilinear", "half_pixel": False}),
        ("blends pixels with a cubic kernel", {"interpolation": "bicubic"}),
        ("blends pixels with a cubic kernel of -0.75", {"interpolation": "bicubic", "cubic": -0.75, "clamped": True}),
        ("blends pixels with a cubic kernel that repeats the edge", {"interpolation": "bicubic", "clamped": True}),
    ):
        yield Suspicion(
            "resize-mode",
            "Another way of resizing",
            told,
            "Set interpolation, half-pixel centres and aligned corners to the same in both.",
            dict(settings),
        )


def _flatten(_layer: Layer) -> Iterator[Suspicion]:
    yield Suspicion(
        "layout",
        "Another order of axes",
        "flattens channels first",
        "Transpose to channels last before the flatten.",
        {"channels_first": True},
    )


def _reshape(layer: Layer) -> Iterator[Suspicion]:
    new = len(layer.config.get("target_shape") or ())
    for setting, ranks in (("before", range(2, 5)), ("after", range(new, new + 1) if new > 1 else ())):
        for rank in ranks:
            for order in dict.fromkeys(((rank, *range(1, rank)), (*range(2, rank + 1), 1), tuple(range(rank, 0, -1)))):
                said = ", ".join(map(str, order))
                told = f"{'reads' if setting == 'before' else 'fills'} its axes in the order {said}"
                yield Suspicion(
                    "layout",
                    "Another order of axes",
                    told,
                    "Reshape in the same order of axes (the last one fastest).",
                    {setting: order},
                )


def _repeat(_layer: Layer) -> Iterator[Suspicion]:
    yield Suspicion(
        "layout",
        "Repeated in another order",
        "repeats every value by itself, not the whole vector",
        "Repeat the vector as a whole (tile, not repeat) in both.",
        {"each": True},
    )


def _rescale(layer: Layer) -> Iterator[Suspicion | Estimate]:
    yield Suspicion(
        "preprocessing",
        "Preprocessing outside the model",
        "does nothing",
        "Scale the input before the second model, or put the step into it.",
        {"scale": 1.0, "offset": 0.0},
    )
    if isinstance(own := layer.config.get("scale", 1.0), int | float):
        yield Estimate(
            lambda scale: Suspicion(
                "preprocessing",
                "Another scale of the input",
                f"multiplies with {scale:.4g}, not with {own:.4g}",
                "Give both the same scale and offset of the input.",
                {"scale": scale},
            ),
            (float(own),),
        )


def _concatenate(_layer: Layer) -> Iterator[Suspicion]:
    yield Suspicion(
        "swapped-channels",
        "Parts are joined in another order",
        "joins what it reads in reverse order",
        "Join the parts in the same order in both.",
        {"reversed": True},
    )


_SINGLE: dict[str, Callable[[Layer], Iterator[Suspicion | Estimate]]] = {
    "Flatten": _flatten,
    "Reshape": _reshape,
    "RepeatVector": _repeat,
    "Rescaling": _rescale,
    "Concatenate": _concatenate,
}

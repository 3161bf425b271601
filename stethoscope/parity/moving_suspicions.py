"""What may be wrong with a layer that moves, pads, repeats, looks up or merges values, as changes that can be tried."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from stethoscope.parity.layer_rule import Weights
from stethoscope.parity.moving import MERGES
from stethoscope.parity.suspicion import Suspicion
from stethoscope.types import Layer

_AGAIN = "Export again from the model whose weights are right."
_MOST_ROWS = 256


def moving_suspicions(layer: Layer, weights: Weights, worst: tuple[int, ...]) -> Iterator[Suspicion]:
    """Everything that is tried for such a layer; nothing for other layers.

    Args:
        layer: of the group.
        weights: by short names.
        worst: channels that differ most.
    """
    kind = layer.type
    if kind == "Embedding" and "embeddings" in weights:
        yield from _embedding(layer, weights, worst)
    if kind.startswith(("ZeroPadding", "Cropping")):
        yield from _ends(layer)
    if kind.startswith(("UpSampling", "Resizing")):
        yield from _resizing()
    if kind in MERGES:
        yield from _merges(layer)
    rule = _SINGLE.get(kind)
    if rule is not None:
        yield from rule(layer)


def _embedding(layer: Layer, weights: Weights, worst: tuple[int, ...]) -> Iterator[Suspicion]:
    table = weights["embeddings"]
    count, wide = table.shape
    for shift in (1, -1, 2, -2, 3, -3):
        yield Suspicion("shifted-index", "The index is shifted", f"looks up the row {abs(shift)} {'after' if shift > 0 else 'before'} the one it is asked for",
                        "Count the words of the vocabulary alike in both (from 0 or 1, with the same reserved numbers).", {"shift": shift})  # fmt: skip
    for row in [*range(min(count, _MOST_ROWS)), count - 1]:
        gone = table.copy()
        gone[row] = 0
        said = " (what mask_zero or a padding index does)" if row == 0 else ""
        yield Suspicion(
            "zeroed-row",
            "A row is zero",
            f"has zeros in row {row} of its table{said}",
            _AGAIN,
            weights={"embeddings": gone},
        )
    for times, told in (
        (wide**0.5, "the root of the width"),
        (wide**-0.5, "one over the root of the width"),
        *((one, f"{one:g}") for one in (0.5, 0.9, 1.1, 2.0)),
    ):
        yield Suspicion(
            "scaled-weights",
            "The weights are scaled",
            f"has its table times {told}",
            "Scale what is looked up in both or in none.",
            {"times": times},
        )
    yield Suspicion("sign", "The sign is turned", "has its table with the opposite sign", _AGAIN, {"times": -1.0})
    yield Suspicion(
        "flipped-kernel",
        "The table is flipped",
        "has the rows of its table in reverse order",
        _AGAIN,
        weights={"embeddings": table[::-1]},
    )
    for channel in (one for one in worst[:3] if one < wide):
        yield Suspicion(
            "zeroed-channel",
            "A channel is zero",
            f"has zeros for channel {channel}",
            _AGAIN,
            weights={"embeddings": np.where(np.arange(wide) == channel, 0, table)},
        )
    if len(worst) >= 2 and max(worst[:2]) < wide:
        order = np.arange(wide)
        order[list(worst[:2])] = order[list(worst[1::-1])]
        yield Suspicion(
            "swapped-channels",
            "Channels are swapped",
            f"has channels {worst[0]} and {worst[1]} exchanged",
            _AGAIN,
            weights={"embeddings": table[:, order]},
        )


def _ends(layer: Layer) -> Iterator[Suspicion]:
    name = "padding" if layer.type.startswith("Zero") else "cropping"
    rank = int(layer.type[-2])
    told = layer.config.get(name, 1)
    if rank == 1 and isinstance(told, list | tuple) and not isinstance(told[0], list | tuple):
        told = [told]
    each = [
        tuple(one) if isinstance(one, list | tuple) else (one, one)
        for one in (told if isinstance(told, list | tuple) else [told] * rank)
    ]
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
    if name == "padding":
        for fill, said in (
            ("edge", "the value at the edge"),
            ("reflect", "what lies inside, mirrored"),
            (1.0, "ones"),
            (-1.0, "minus ones"),
        ):
            yield Suspicion(
                "padding", "Another padding", f"fills with {said}", "Fill with the same values in both.", {"fill": fill}
            )


def _resizing() -> Iterator[Suspicion]:
    for told, settings in (
        ("repeats pixels", {"interpolation": "nearest"}),
        ("repeats the whole picture", {"tiled": True}),
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


def _merges(layer: Layer) -> Iterator[Suspicion]:
    for other in MERGES:
        if other != layer.type:
            yield Suspicion(
                "merge-kind",
                "Merged otherwise",
                f"computes {other} instead of {layer.type}",
                "Merge in the same way in both.",
                {"as": other},
            )
    if layer.type == "Subtract":
        yield Suspicion(
            "exchanged-inputs",
            "Inputs are exchanged",
            "takes the first from the second",
            "Give both the inputs in the same order.",
            {"reversed": True},
        )
    elif len(layer.inputs) > 1:
        for place, path in enumerate(layer.inputs[:8]):
            yield Suspicion(
                "merge-kind",
                "An input is missing",
                f"leaves out {path!r}",
                "Merge the same inputs in both.",
                {"without": place},
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
    advice = "Reshape in the same order of axes (the last one fastest)."
    new = len(layer.config.get("target_shape") or ())
    for rank in range(2, 5):
        yield from _orders(
            tuple(range(1, rank + 1)), "reads its axes in the order {} before it reshapes", advice, "before"
        )
    if 2 <= new <= 4:
        yield from _orders(tuple(range(1, new + 1)), "fills the new axes in the order {}", advice, "after")


def _permute(layer: Layer) -> Iterator[Suspicion]:
    own = tuple(int(one) for one in layer.config.get("dims") or ())
    if len(own) <= 4:
        yield from _orders(own, "puts its axes in the order {}", "Permute alike in both.", "dims")


def _orders(own: tuple[int, ...], told: str, advice: str, setting: str) -> Iterator[Suspicion]:
    """Every order of axes but the layer's own."""
    for order in itertools.permutations(sorted(own)):
        if order != own:
            yield Suspicion(
                "layout", "Another order of axes", told.format(", ".join(map(str, order))), advice, {setting: order}
            )


def _repeat(_layer: Layer) -> Iterator[Suspicion]:
    yield Suspicion(
        "layout",
        "Repeated in another order",
        "repeats every value by itself, not the whole vector",
        "Repeat the vector as a whole (tile, not repeat) in both.",
        {"each": True},
    )


def _rescale(_layer: Layer) -> Iterator[Suspicion]:
    yield Suspicion(
        "preprocessing",
        "Preprocessing outside the model",
        "does nothing",
        "Scale the input before the second model, or put the step into it.",
        {"scale": 1.0, "offset": 0.0},
    )


def _concatenate(_layer: Layer) -> Iterator[Suspicion]:
    yield Suspicion(
        "swapped-channels",
        "Parts are joined in another order",
        "joins what it reads in reverse order",
        "Join the parts in the same order in both.",
        {"reversed": True},
    )


def _dot(layer: Layer) -> Iterator[Suspicion]:
    normal = bool(layer.config.get("normalize"))
    told = "does not make its inputs of length 1" if normal else "makes its inputs of length 1 (a cosine)"
    yield Suspicion(
        "merge-kind", "Merged otherwise", told, "Set normalize to the same in both.", {"normalize": not normal}
    )
    yield Suspicion(
        "attention-scale",
        "The product is scaled",
        "divides by the root of the width",
        "Scale the product in both or in none.",
        {"divided": True},
    )
    for axes in itertools.product((1, 2, 3), repeat=2):
        yield Suspicion(
            "axis",
            "Another axis",
            f"sums over axes {axes[0]} and {axes[1]}",
            "Give both the same axes.",
            {"axes": axes},
        )


_SINGLE: dict[str, Callable[[Layer], Iterator[Suspicion]]] = {
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Permute": _permute,
    "RepeatVector": _repeat,
    "Rescaling": _rescale,
    "Concatenate": _concatenate,
    "Dot": _dot,
}

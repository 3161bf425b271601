"""What may be wrong with a layer that moves, pads, repeats, looks up or merges values, as changes that can be tried.

Source: keras.io/api/datasets/imdb (words counted from 0, 1 or 3), SamLynnEvans/Transformer#10 (tables times the root of their width),
gmalivenko/onnx2keras#50 (padding of one end only), pytorch/pytorch#10604 and Blaizzy/mlx-vlm#1241 (ways of resizing),
henrysky.github.io/blog/2023-10-23-keras-torch (order of Flatten, and of Reshape), pytorch/pytorch#50013 (repeat against tile),
PINTO0309/PINTO_model_zoo#400 (order of parts), keras.applications preprocess_input (scaling inside or outside).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from stethoscope.compare.parity.kernel_suspicions import Estimate, Suspicion, Weights, scaled
from stethoscope.compare.parity.moving import ends
from stethoscope.types import Layer

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

"""The same input in other shapes: fewer rows, and shorter where the model's inputs leave a dimension open."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stethoscope.data.feeds.batching import Batching
from stethoscope.errors import StethoscopeError
from stethoscope.types import Feed, TensorSpec

BATCHES = (1, 2, 3, 4, 5, 6, 7, 8)
"""Batch sizes whose shapes are tried: small, as shapes are what matters."""
SHARES = (1.0, 0.75, 0.5, 0.25)
"""Of an open dimension's size."""


def resized(feed: Feed, inputs: Sequence[TensorSpec], size: int) -> Feed:
    """Cuts every open dimension but the first to at most `size`; what is fixed stays."""
    found: Feed = {}
    for spec in inputs:
        array = feed[spec.name]
        if spec.shape is not None and array.ndim == len(spec.shape):
            cut = (slice(None), *(slice(None if length else size) for length in spec.shape[1:]))
            array = array[cut[: array.ndim]]
        found[spec.name] = array
    return found


def open_size(feed: Feed, inputs: Sequence[TensorSpec]) -> int | None:
    """The largest size of an open dimension other than the batch; None when there is none."""
    sizes = [
        length
        for spec in inputs
        if spec.shape is not None and feed[spec.name].ndim == len(spec.shape)
        for declared, length in zip(spec.shape[1:], feed[spec.name].shape[1:], strict=True)
        if declared is None
    ]
    return max(sizes, default=None)


def other_shapes(
    feed: Feed, inputs: Sequence[TensorSpec], batching: Batching, accepts: Callable[[Feed], object]
) -> list[Feed]:
    """Feeds of different shapes that the model takes, in an order in which two neighbours differ.

    Args:
        feed: an accepted feed.
        inputs: the model's inputs.
        batching: which of them have rows.
        accepts: runs the model; raises a `StethoscopeError` for a shape it does not take.
    """
    whole = open_size(feed, inputs)
    sizes: list[int | None] = [None]
    if whole is not None:
        wanted = sorted({max(1, int(whole * share)) for share in SHARES}, reverse=True)
        sizes = [
            size for size in wanted if _accepted(accepts, resized(batching.take(feed, _rows(batching)), inputs, size))
        ]
    if batching.fixed is not None or not batching.names:
        batches: Sequence[int] = [_rows(batching)] * (len(sizes) if batching.fixed or not batching.names else 1)
    else:
        batches = BATCHES
    found: list[Feed] = []
    for number, batch in enumerate(batches):
        part = batching.take(feed, batch)
        size = sizes[number % len(sizes)] if sizes else None
        found.append(part if size is None else resized(part, inputs, size))
    return found


def _rows(batching: Batching) -> int:
    return batching.fixed or 1


def _accepted(accepts: Callable[[Feed], object], feed: Feed) -> bool:
    try:
        accepts(feed)
    except StethoscopeError:
        return False
    return True

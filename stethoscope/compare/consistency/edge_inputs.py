"""Inputs at the edge of what a model may meet: zeros, ones, huge, tiny, NaN, indices that are not in the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.open_sizes import filled
from stethoscope.compare.consistency.subject import Subject
from stethoscope.data.dummy import Draw, draws, looks_up, vocabulary_of
from stethoscope.types import Feed

Array = npt.NDArray[Any]
Kind = Literal["ordinary", "arithmetic", "nan", "infinity", "vocabulary", "unknown", "empty"]
Fill = Callable[[Draw, Array, bool], Array | None]
"""From how an input is drawn, an array of it, and whether the model computes in float16, to the edge case; None to keep it."""
EDGE_ROWS = 4
"""Rows of an edge-case input: enough to see whether one row reaches its neighbours."""
HUGE, HUGE_HALF = 1e6, 1e3
"""Unscaled data is this large: prices, timestamps, bytes. Half precision ends at 65,504."""
TINY, TINY_HALF = 1e-30, 1e-7
"""Near the smallest normal float32 (1.2e-38) once it is squared; subnormal in float16."""
_LARGE_INTEGER = 1_000
_UNSEEN_TEXT = "\u2603 never seen before"


@dataclass(frozen=True)
class Edge:
    """One edge-case input. `row` is the one that is special, where only one is; `about` says what is in it."""

    id: str
    name: str
    kind: Kind
    feed: Feed
    about: str
    row: int | None = None
    vocabulary: int | None = None


def ordinary(subject: Subject) -> Feed:
    """The first rows of the study's input, as many as an edge case has."""
    return subject.batching.take(subject.feed, subject.batching.fixed or EDGE_ROWS)


def another(subject: Subject, feed: Feed, salt: int = 7) -> Feed:
    """Random input of the shapes of `feed`, from a seed of its own."""
    random = [np.random.default_rng([subject.seed, salt, place]) for place in range(len(feed))]
    return {
        spec.name: draw.array(feed[spec.name].shape, generator).astype(feed[spec.name].dtype, copy=False)
        for spec, draw, generator in zip(subject.runner.inputs, _draws(subject).values(), random, strict=True)
    }


def edges(subject: Subject) -> Iterator[Edge]:
    """Every edge case that at least one input of the model can take; the likeliest to end the process come last."""
    base = ordinary(subject)
    how = _draws(subject)
    half = any(layer.dtype == "float16" for layer in subject.architecture.layers)
    for id_, name, kind, about, fill in _FILLS:
        feed = {key: fill(how[key], array, half or array.dtype == np.float16) for key, array in base.items()}
        changed = {key: array for key, array in feed.items() if array is not None}
        if changed:
            yield Edge(f"edge-{id_}", name, kind, base | changed, about)
    yield from _one_row(base, how, subject.batching.rows(base) // 2)
    yield from _short(subject)
    yield from _not_in_vocabulary(subject, base, how)


def _draws(subject: Subject) -> dict[str, Draw]:
    inputs = subject.runner.inputs
    return {spec.name: draw for spec, draw in zip(inputs, draws(subject.architecture, inputs), strict=True)}


def _is_real(draw: Draw, array: Array) -> bool:
    return draw.kind == "normal" and array.dtype.kind == "f"


def _constant(value: float) -> Fill:
    """Fills any numeric input with 0 or 1: masks and indices too, as padding does."""
    return lambda draw, array, half: None if array.dtype.kind in "OSU" else np.full_like(array, value)


def _real(value: float, in_half: float) -> Fill:
    return lambda draw, array, half: np.full_like(array, in_half if half else value) if _is_real(draw, array) else None


def _scaled(draw: Draw, array: Array, factor: float) -> Array | None:
    """Standard normal numbers times a factor: both signs, as unscaled data has."""
    if not _is_real(draw, array):
        return None
    drawn = np.random.default_rng(0).standard_normal(array.shape).clip(-4, 4)
    return np.asarray(drawn * factor).astype(array.dtype)


def _huge(draw: Draw, array: Array, half: bool) -> Array | None:
    return _scaled(draw, array, HUGE_HALF if half else HUGE)


def _extreme(draw: Draw, array: Array, half: bool) -> Array | None:
    if half:
        return _scaled(draw, array, float(np.finfo(np.float16).max) / 8)
    return _scaled(draw, array, float(np.finfo(array.dtype).max) / 1e4) if array.dtype.kind == "f" else None


def _negative(draw: Draw, array: Array, half: bool) -> Array | None:
    del half
    return -np.abs(array) - np.asarray(1, array.dtype) if _is_real(draw, array) else None


def _end(which: Literal["min", "max"]) -> Fill:
    """The ends of a quantised input's range."""

    def fill(draw: Draw, array: Array, half: bool) -> Array | None:
        del half
        if draw.kind != "integers" or array.dtype.kind not in "iu":
            return None
        info = np.iinfo(array.dtype)
        whole_range = draw.low == info.min and draw.high == int(info.max) + 1
        return np.full_like(array, getattr(info, which)) if whole_range else None

    return fill


def _text(value: str) -> Fill:
    return lambda draw, array, half: np.full(array.shape, value, dtype=object) if array.dtype.kind in "OSU" else None


_FILLS: tuple[tuple[str, str, Kind, str, Fill], ...] = (
    ("zeros", "Zeros", "ordinary", "every number, index and mask is 0, as in padding", _constant(0)),
    ("ones", "Ones", "ordinary", "every number is 1", _constant(1)),
    ("negative", "Negative numbers", "ordinary", "every number is −1 or less", _negative),
    ("tiny", "Tiny numbers", "ordinary", "every number is 1e-30 (1e-7 in half precision)", _real(TINY, TINY_HALF)),
    (
        "huge",
        "Huge numbers",
        "ordinary",
        "numbers are about a million, as in data that was not scaled (1,000 in half precision)",
        _huge,
    ),
    (
        "extreme",
        "The largest numbers of the type",
        "arithmetic",
        "numbers are near the end of the type's range",
        _extreme,
    ),
    ("lowest", "Lowest value", "ordinary", "the lowest value of the quantised type everywhere", _end("min")),
    ("highest", "Highest value", "ordinary", "the highest value of the quantised type everywhere", _end("max")),
    ("empty-text", "Empty text", "unknown", "every text is empty", _text("")),
    ("unknown-text", "Unknown text", "unknown", "words that no vocabulary holds", _text(_UNSEEN_TEXT)),
)


def _one_row(base: Feed, how: Mapping[str, Draw], row: int) -> Iterator[Edge]:
    real = [name for name, array in base.items() if _is_real(how[name], array) and array.ndim]
    for id_, name, kind, value in (
        ("nan-row", "NaN in one row", "nan", np.nan),
        ("inf-row", "Infinity in one row", "infinity", np.inf),
    ):
        if real:
            changed = {key: base[key].copy() for key in real}
            for array in changed.values():
                array[min(row, array.shape[0] - 1)] = value
            said: Kind = "nan" if kind == "nan" else "infinity"
            yield Edge(f"edge-{id_}", name, said, base | changed, f"every number of row {row} is {value}", row)


def _short(subject: Subject) -> Iterator[Edge]:
    """Sequences of one step and of none, where a model takes sequences of any length."""
    inputs = subject.runner.inputs
    sequences = [spec for spec in inputs if spec.shape and len(spec.shape) in (2, 3) and spec.shape[1] is None]
    if not sequences or any(spec.shape is None for spec in inputs):
        return
    rows, how = subject.batching.fixed or EDGE_ROWS, _draws(subject)
    for id_, name, kind, length in (
        ("one-step", "Sequences of one step", "ordinary", 1),
        ("empty-sequence", "Empty sequences", "empty", 0),
    ):
        feed = {
            spec.name: how[spec.name].array(
                filled(spec.shape, rows, length), np.random.default_rng([subject.seed, place])
            )
            for place, spec in enumerate(inputs)
        }
        said: Kind = "empty" if kind == "empty" else "ordinary"
        yield Edge(f"edge-{id_}", name, said, feed, f"every sequence has {length} steps")


def _not_in_vocabulary(subject: Subject, base: Feed, how: Mapping[str, Draw]) -> Iterator[Edge]:
    """Indices that stand at and behind the end of an embedding, and before its start."""
    found: dict[str, int] = {}
    known = True
    for name, array in base.items():
        size = vocabulary_of(name, subject.architecture, alone=len(base) == 1)
        if how[name].kind != "integers" or not array.ndim:
            continue
        if size is not None:
            found[name] = size
        elif array.dtype.kind == "i" and array.dtype.itemsize >= 4 and looks_up(subject.architecture):
            # A graph does not say which table an input is looked up in; none has more rows than the model has numbers.
            found[name], known = subject.architecture.parameters + _LARGE_INTEGER, False
    if not found:
        return
    row = subject.batching.rows(base) // 2
    size = min(found.values())
    fits = all(value <= _largest(base[name]) for name, value in found.items())
    cases: list[tuple[str, str, Kind, Mapping[str, int], str]] = []
    if known:
        last = {name: value - 1 for name, value in found.items()}
        cases.append(
            ("last-index", "Last index of the vocabulary", "ordinary", last, f"every index of row {row} is {size - 1}")
        )
    cases.append(
        ("negative-index", "Negative index", "vocabulary", dict.fromkeys(found, -1), f"every index of row {row} is -1")
    )
    if fits:
        about = f"every index of row {row} is {size}" + (
            f", one more than the vocabulary of {size} has" if known else ""
        )
        cases.append(("out-of-vocabulary", "Index outside the vocabulary", "vocabulary", found, about))
    for id_, name, kind, indices, about in cases:
        changed = {key: base[key].copy() for key in indices if base[key].dtype.kind != "u" or indices[key] >= 0}
        for key, array in changed.items():
            array[min(row, array.shape[0] - 1)] = indices[key]
        if changed:
            yield Edge(f"edge-{id_}", name, kind, base | changed, about, row, size if known else None)


def _largest(array: Array) -> float:
    return float(np.iinfo(array.dtype).max) if array.dtype.kind in "iu" else float(np.finfo(array.dtype).max)

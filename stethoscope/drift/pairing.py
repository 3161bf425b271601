"""Two sides made comparable: features with values on both, and what became of fields that only one side has."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.drift.field_columns import Field, number_word
from stethoscope.drift.measures import seconds_of, unknown_shares, words_of
from stethoscope.drift.reading import LogColumns, Side

Numbers = npt.NDArray[np.float64]
Kind = Literal["number", "category"]
FeatureRole = Literal["feature", "label", "prediction", "confidence", "missing", "correctness"]

FEW_VALUES = 5
"""Different numbers up to which a column is one of categories."""
_MOST_CATEGORIES = 1_000
_LONGEST = 120
_MOMENTS = "moments"


@dataclass(frozen=True)
class Feature:
    """One thing that is compared."""

    name: str
    kind: Kind
    role: FeatureRole
    reference: npt.NDArray[Any]
    """(rows,): float64 without NaN for numbers, words for categories."""
    current: npt.NDArray[Any]
    field: str = ""
    """The field it was made of."""
    reference_rows: npt.NDArray[np.int64] = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    """Which of the rows read the values are of."""
    current_rows: npt.NDArray[np.int64] = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    note: str = ""

    @property
    def rows_known(self) -> bool:
        """Whether it is known which row each value is of."""
        return len(self.reference_rows) == len(self.reference) and len(self.current_rows) == len(self.current)


@dataclass(frozen=True)
class Paired:
    """What two sides have in common, and what they do not."""

    features: tuple[Feature, ...]
    only_reference: tuple[str, ...]
    only_current: tuple[str, ...]
    changed_types: tuple[tuple[str, str, str], ...]
    """(field, what it was, what it is): numbers that became words, or the other way round."""
    moments: tuple[str, ...] = ()
    """Fields of moments, which always move on: only whether they are missing is compared."""


def paired(reference: Side, current: Side, log: LogColumns, seed: int = 0) -> Paired:
    """Features of every field that both sides have.

    The vocabulary in which words are unknown is that of a random half of the reference's rows; the share of unknown words is
    compared with the other half, to which they are as new as to the current rows.
    """
    common = [name for name in reference.fields if name in current.fields]
    features: list[Feature] = []
    changed, moments = [], []
    for name in common:
        first, second = reference.fields[name], current.fields[name]
        if name == log.time:
            continue
        role = log.role(name) or ("label" if first.role == "target" else "feature")
        was, now = _types(first, second)
        if was == now == _MOMENTS:
            moments.append(name)
            gaps = [np.isnan(one.moments) for one in (first, second) if one.moments is not None]
            features += _missing(name, name, gaps[0], gaps[1])
            continue
        if was != now and was and now:
            changed.append((name, was, now))
            continue
        made = _of_field(first, second, role, seed)
        # Labels of a log come later: that the latest are not there yet is no drift.
        features += [one for one in made if not (name == log.label and one.role == "missing")]
    return Paired(
        tuple(features),
        tuple(name for name in reference.fields if name not in current.fields),
        tuple(name for name in current.fields if name not in reference.fields),
        tuple(changed),
        tuple(moments),
    )


def _types(first: Field, second: Field) -> tuple[str, str]:
    """Both types; words beside moments are moments too where at least half of them can be read, numbers beside them are numbers."""
    was, now = _type(first), _type(second)
    if _MOMENTS not in (was, now) or was == now:
        return was, now
    other = second if was == _MOMENTS else first
    if other.words is not None:
        read = seconds_of(other.words)
        if np.isfinite(read).sum() >= sum(map(bool, other.words)) / 2:
            other.moments = read
    elif "numbers" in (was, now) and "" in first.numbers and "" in second.numbers:
        return "numbers", "numbers"
    return _type(first), _type(second)


def _type(one: Field) -> str:
    """Moments, numbers or words; "" where there is no value by which to tell."""
    if one.moments is not None and np.isfinite(one.moments).any():
        return _MOMENTS
    if one.words is not None:
        return "words" if any(one.words) else ""
    return "numbers" if any(np.isfinite(values).any() for values in one.numbers.values()) else ""


def _of_field(first: Field, second: Field, role: FeatureRole, seed: int) -> Iterator[Feature]:
    name = first.name
    if first.kind == "text" or second.kind == "text":
        yield from _texts(first, second, role, seed)
        return
    if first.words is not None or second.words is not None:
        yield from _words(name, role, _as_words(first), _as_words(second))
        return
    if first.tokens is not None and second.tokens is not None:
        yield from _unknown(name, "share of unknown tokens", first.tokens, second.tokens, role, seed)
    for part in first.numbers:
        if part in second.numbers:
            shown = f"{name}[{part}]" if part.isdigit() else f"{name}: {part}" if part else name
            yield from _numbers(shown, name, role, first.numbers[part], second.numbers[part])


def _numbers(shown: str, field_name: str, role: FeatureRole, first: Numbers, second: Numbers) -> Iterator[Feature]:
    good = np.isfinite(first), np.isfinite(second)
    yield from _missing(shown, field_name, ~good[0], ~good[1])
    rows = np.flatnonzero(good[0]), np.flatnonzero(good[1])
    values = first[good[0]], second[good[1]]
    distinct = np.unique(np.concatenate(values)) if len(values[0]) + len(values[1]) else np.zeros(0)
    count = sum(map(len, values))
    if len(distinct) <= min(FEW_VALUES, count // 4) or (role == "label" and _classes(distinct)):
        known = np.array([number_word(value) for value in distinct], object)
        words = [known[np.searchsorted(distinct, side)] for side in values]
        yield Feature(shown, "category", role, words[0], words[1], field_name, *rows)
    else:
        yield Feature(shown, "number", role, values[0], values[1], field_name, *rows)


def _classes(distinct: Numbers) -> bool:
    return len(distinct) <= 100 and bool((distinct == np.rint(distinct)).all())


def _words(
    name: str, role: FeatureRole, first: npt.NDArray[Any], second: npt.NDArray[Any], part: str = ""
) -> Iterator[Feature]:
    good = first != "", second != ""
    yield from _missing(name, name, ~good[0], ~good[1])
    values, note = _bounded(first[good[0]], second[good[1]])
    yield Feature(
        part or name,
        "category",
        role,
        values[0],
        values[1],
        name,
        np.flatnonzero(good[0]),
        np.flatnonzero(good[1]),
        note,
    )


def _bounded(
    first: npt.NDArray[Any], second: npt.NDArray[Any]
) -> tuple[tuple[npt.NDArray[Any], npt.NDArray[Any]], str]:
    """Long words cut; beyond the commonest thousand words (of both sides together) all others are one category."""
    sides = [np.array([str(word)[:_LONGEST] for word in side], object) for side in (first, second)]
    words, counts = np.unique(np.concatenate(sides).astype(str), return_counts=True)
    if len(words) <= _MOST_CATEGORIES:
        return (sides[0], sides[1]), ""
    kept = set(words[np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]].tolist())
    joined = [np.array([word if word in kept else "(other)" for word in side], object) for side in sides]
    return (
        joined[0],
        joined[1],
    ), f"{len(words):,} different values: all but the commonest {_MOST_CATEGORIES:,} are one."


def _missing(
    shown: str, field_name: str, first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]
) -> Iterator[Feature]:
    if first.any() or second.any():
        names = np.array(["present", "missing"], object)
        yield Feature(
            f"{shown} (missing)",
            "category",
            "missing",
            names[first.astype(int)],
            names[second.astype(int)],
            field_name,
            np.arange(len(first)),
            np.arange(len(second)),
        )


def _as_words(one: Field) -> npt.NDArray[Any]:
    if one.words is not None:
        return one.words
    values = one.numbers.get("", np.zeros(0))
    return np.array([number_word(value) for value in values], object)


def _texts(first: Field, second: Field, role: FeatureRole, seed: int) -> Iterator[Feature]:
    name, words = first.name, (_as_words(first), _as_words(second))
    empty = np.array([not text.strip() for text in words[0]], bool), np.array([not t.strip() for t in words[1]], bool)
    yield from _missing(name, name, empty[0], empty[1])
    rows = np.flatnonzero(~empty[0]), np.flatnonzero(~empty[1])
    if not len(rows[0]) or not len(rows[1]):
        return
    from stethoscope.drift.measures import text_measures

    measures = [[text_measures(side[row]) for row in at] for side, at in zip(words, rows, strict=True)]
    for part in ("characters", "words", "share of non-letters"):
        values = [np.array([one[part] for one in side]) for side in measures]
        yield Feature(f"{name}: {part}", "number", role, values[0], values[1], name, *rows)
    split = [[words_of(side[row]) for row in at] for side, at in zip(words, rows, strict=True)]
    yield from _unknown(name, "share of unknown words", split[0], split[1], role, seed, rows)


def _unknown(
    name: str,
    part: str,
    first: list[Any],
    second: list[Any],
    role: FeatureRole,
    seed: int,
    rows: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None = None,
) -> Iterator[Feature]:
    if len(first) < 4 or not second:
        return
    order = np.random.default_rng(seed).permutation(len(first))
    half = [first[row] for row in order[: len(first) // 2]]
    known, seen = {word for row in half for word in row}, {tuple(row) for row in half}
    # A row that the vocabulary was made of cannot have unknown words, on whichever side it comes again.
    rest = np.array([row for row in np.sort(order[len(half) :]) if tuple(first[row]) not in seen], np.int64)
    others = np.array([row for row, one in enumerate(second) if tuple(one) not in seen], np.int64)
    at = rows or (np.arange(len(first)), np.arange(len(second)))
    yield Feature(
        f"{name}: {part}",
        "number",
        role,
        unknown_shares([first[row] for row in rest], known),
        unknown_shares([second[row] for row in others], known),
        name,
        at[0][rest],
        at[1][others],
        "The vocabulary is that of one half of the reference; its other half is compared.",
    )

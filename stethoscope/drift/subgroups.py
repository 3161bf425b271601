"""Groups of rows in which the other features drift most: the values of a category, or the quarters of a number.

Rows as points: every field of both sides as columns of one matrix, scaled by both sides together.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stethoscope.drift.corrections import holm
from stethoscope.drift.feature_tests import Tested, tested
from stethoscope.drift.field_columns import Field
from stethoscope.drift.measures import hashed_words
from stethoscope.drift.pairing import Feature
from stethoscope.drift.reading import Side
from stethoscope.drift.report import GroupDrift, Subgroups

LEAST_ROWS = 30
"""Of a group on each side."""
SHOWN = 12
_MOST_FIELDS, _MOST_VALUES, _MOST_FEATURES, _MOST_ROWS = 15, 8, 30, 4_000
_TIME_S = 20.0
_MOST_CATEGORIES = 60


def worst_groups(features: Sequence[Feature], rows: tuple[int, int], alpha: float, ranked: Sequence[str]) -> Subgroups:
    """Tests the features within each group, corrected for how many groups and features there are.

    Args:
        features: of the whole.
        rows: how many were read of each side.
        alpha: of all groups together.
        ranked: names of features, the most drifted of the whole first: of many, the first ones are looked at.
    """
    until = time.monotonic() + _TIME_S
    order = {name: place for place, name in enumerate(ranked)}
    looked = sorted(
        (one for one in features if one.role != "missing"), key=lambda one: order.get(one.name, len(order))
    )[:_MOST_FEATURES]
    found, complete = [], True
    for grouping, value, masks in _groups(features, rows):
        if time.monotonic() > until:
            complete = False
            break
        inside = [_within(one, masks) for one in looked if one.field != grouping.field]
        counted = [one for one in inside if one.counted]
        if not counted:
            continue
        adjusted = holm([one.answer.p_value for one in counted])
        worst = counted[int(adjusted.argmin())]
        found.append((grouping, value, masks, float(adjusted.min()), worst))
    p_values = holm([one[3] for one in found])
    made = [
        GroupDrift(
            field=grouping.name,
            value=value,
            n_reference=int(masks[0].sum()),
            n_current=int(masks[1].sum()),
            p_value=float(p_value),
            drifted=bool(p_value <= alpha),
            worst=worst.feature.name,
            psi_above_chance=worst.measured.psi_above_chance,
        )
        for (grouping, value, masks, _, worst), p_value in zip(found, p_values, strict=True)
    ]
    made.sort(key=lambda group: (not group.drifted, -group.psi_above_chance if group.drifted else group.p_value))
    return Subgroups(tuple(made[:SHOWN]), len(made), complete)


def _groups(
    features: Sequence[Feature], rows: tuple[int, int]
) -> Iterator[tuple[Feature, str, tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]]]:
    kinds = [one for one in features if one.role in ("feature", "label", "prediction") and one.rows_known]
    ordered = sorted(kinds, key=lambda one: one.kind != "category")[:_MOST_FIELDS]
    for one in ordered:
        names = _named(one)
        if names is None:
            continue
        values, counts = np.unique(np.concatenate(names), return_counts=True)
        if len(values) < 2:
            continue
        for value in values[np.argsort(-counts, kind="stable")[:_MOST_VALUES]]:
            masks = tuple(
                _mask(size, at[side == value])
                for size, at, side in zip(rows, (one.reference_rows, one.current_rows), names, strict=True)
            )
            if min(mask.sum() for mask in masks) >= LEAST_ROWS:
                yield one, str(value), (masks[0], masks[1])


def _named(one: Feature) -> tuple[npt.NDArray[np.str_], npt.NDArray[np.str_]] | None:
    """The group of each row: the category, or the quarter of both sides' numbers."""
    sides = one.reference, one.current
    if one.kind == "category":
        names = sides[0].astype(str), sides[1].astype(str)
        return names if len(np.unique(np.concatenate(names))) <= _MOST_CATEGORIES else None
    edges = np.unique(np.quantile(np.concatenate(sides), (0.25, 0.5, 0.75)))
    if not len(edges):
        return None
    bounds = [f"{edge:.4g}" for edge in edges]
    shown = np.array(
        [f"≤ {bounds[0]}", *(f"{low} … {high}" for low, high in itertools.pairwise(bounds)), f"> {bounds[-1]}"]
    )
    return shown[np.searchsorted(edges, sides[0], side="left")], shown[np.searchsorted(edges, sides[1], side="left")]


def _mask(size: int, places: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    found = np.zeros(size, bool)
    found[places] = True
    return found


def _within(one: Feature, masks: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]) -> Tested:
    parts = []
    for values, places, mask in zip(
        (one.reference, one.current), (one.reference_rows, one.current_rows), masks, strict=True
    ):
        inside = values[mask[places]] if len(places) == len(values) else values[:0]
        parts.append(inside[:: -(-len(inside) // _MOST_ROWS)] if len(inside) > _MOST_ROWS else inside)
    return tested(Feature(one.name, one.kind, one.role, parts[0], parts[1], one.field))


Matrix = npt.NDArray[np.float64]

MOST_ROWS = 5_000
"""Of each side."""
_MOST_WORDS = 20
"""Of a column of categories that get a column each."""
_TEXT_AXES = 16
_BLOCK_WEIGHT = 8.0
"""What a field of many columns (a thumbnail, an embedding) may weigh, in columns."""


@dataclass(frozen=True)
class Points:
    """Both sides as (rows, columns); `fields` names what each column is of."""

    reference: Matrix
    current: Matrix
    fields: tuple[str, ...]
    rows: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] = (np.zeros(0, np.int64), np.zeros(0, np.int64))
    """Which rows of each side they are."""


def points_of(reference: Side, current: Side, names: Sequence[str], seed: int = 0) -> Points:
    """The named fields of both sides as one matrix each, of at most `MOST_ROWS` rows.

    Numbers become the normal scores of their ranks, categories indicators, texts the main axes of their words. Whatever is
    learned of the data for this is learned of both sides together, so that a test by permutation stays exact.
    """
    generator = np.random.default_rng(seed)
    rows = [
        np.sort(generator.choice(side.used, MOST_ROWS, replace=False))
        if side.used > MOST_ROWS
        else np.arange(side.used)
        for side in (reference, current)
    ]
    blocks: list[Matrix] = []
    owners: list[str] = []
    for name in names:
        for block in _blocks(reference.fields[name], current.fields[name], rows[0], rows[1]):
            spread = block.std(axis=0)
            if (kept := block[:, spread > 0]).shape[1]:
                blocks.append(kept)
                owners += [name] * kept.shape[1]
    count = len(rows[0])
    joined = np.concatenate(blocks, axis=1) if blocks else np.zeros((count + len(rows[1]), 0))
    return Points(joined[:count], joined[count:], tuple(owners), (rows[0], rows[1]))


def points_of_vectors(reference: npt.NDArray[np.float32], current: npt.NDArray[np.float32], name: str) -> Points:
    """Vectors (an embedding) as points: each column with mean 0 and spread 1 over both sides."""
    both = np.concatenate([reference[:MOST_ROWS], current[:MOST_ROWS]]).astype(np.float64)
    scaled = _scaled(both)
    count = min(len(reference), MOST_ROWS)
    return Points(scaled[:count], scaled[count:], (name,) * scaled.shape[1])


def _blocks(
    first: Field, second: Field, rows: npt.NDArray[np.int64], others: npt.NDArray[np.int64]
) -> Iterator[Matrix]:
    if first.kind == "text" and first.words is not None and second.words is not None:
        yield _texts([*first.words[rows], *second.words[others]])
        return
    if first.words is not None and second.words is not None:
        yield _indicators([*first.words[rows], *second.words[others]])
        return
    for part, values in first.numbers.items():
        if part in second.numbers:
            yield _normal_scores(np.concatenate([values[rows], second.numbers[part][others]]))
    if first.vectors is not None and second.vectors is not None and first.vectors.shape[1] == second.vectors.shape[1]:
        both = np.concatenate([first.vectors[rows], second.vectors[others]]).astype(np.float64)
        scaled = _scaled(both)
        yield scaled * np.sqrt(min(1.0, _BLOCK_WEIGHT / max(1, scaled.shape[1])))


def _normal_scores(values: Matrix) -> Matrix:
    """(rows, 1), or (rows, 2) with an indicator where values are missing.

    Source: van der Waerden scores, the normal quantile of rank / (rows + 1).
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    good = np.isfinite(values)
    scores = np.zeros(len(values))
    if good.any():
        scores[good] = ndtri(rankdata(values[good]) / (good.sum() + 1))
    return scores[:, None] if good.all() else np.stack([scores, 1.0 - good], axis=1)


def _indicators(words: Sequence[str]) -> Matrix:
    common = [word for word, _ in Counter(words).most_common(_MOST_WORDS)]
    found = np.zeros((len(words), len(common)))
    place = {word: column for column, word in enumerate(common)}
    for row, word in enumerate(words):
        if word in place:
            found[row, place[word]] = 1.0
    # Two different values are as far apart as two numbers one standard deviation apart.
    found *= 0.5**0.5
    return found


def _texts(texts: Sequence[str]) -> Matrix:
    hashed = hashed_words(texts).astype(np.float64)
    hashed -= hashed.mean(axis=0)
    _, values, axes = np.linalg.svd(hashed.T @ hashed)
    kept = min(_TEXT_AXES, int((values > 1e-9 * max(values[0], 1e-300)).sum()))
    return _scaled(hashed @ axes[:kept].T)


def _scaled(both: Matrix) -> Matrix:
    spread = both.std(axis=0)
    used = spread > 1e-12
    scaled: Matrix = (both[:, used] - both[:, used].mean(axis=0)) / spread[used]
    return scaled

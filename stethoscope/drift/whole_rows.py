"""Rows as points: every field of both sides as columns of one matrix, scaled by both sides together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stethoscope.drift.field_columns import Field
from stethoscope.drift.measures import hashed_words
from stethoscope.drift.reading import Side

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
    return Points(joined[:count], joined[count:], tuple(owners))


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

"""Which parameters go with better results, as far as these runs can tell.

Ranks, not values: one run with a loss of a million does not decide. A run that only gave NaN ranks worst. How much is
chance is measured by shuffling the results (permutation test), corrected for the number of parameters looked at (Holm).

Source: Spearman (1904); Kruskal & Wallis (1952), with the correlation ratio of ranks adjusted for the number of groups
(Kelley, 1935); Good, Permutation Tests (2000); Holm (1979).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.logs.runs.axes import double, is_number, name_of
from stethoscope.logs.runs.compare import Floats, Metric

SHUFFLES = 1_999
MIN_RUNS = 5
"""With four runs even a perfect order comes about by chance once in twelve times."""
SIGNIFICANT = 0.05
_MAX_CELLS = 4_000_000
"""Shuffled ranks held at a time."""
_MAX_BINS = 5
_TOGETHER = 0.95
_MOST_PARAMETERS = 200


@dataclass(frozen=True)
class Influence:
    """What one parameter has to do with one metric."""

    parameter: str
    runs: int
    """With both."""
    strength: float
    """0 … 1: the share of the order it explains, as a correlation."""
    chance: float
    """How often shuffled results give as much in any of the parameters looked at."""
    direction: float
    """Spearman's rank correlation with how bad a run is, −1 … 1: negative where larger values are better. NaN for names."""
    best: str
    """Values with the best results: one name, or the range of a part of the numbers."""
    together_with: tuple[str, ...] = ()
    """Parameters that changed with this one, so that nobody can tell which of them it was."""
    untold: str = ""
    """Why nothing can be said; empty where something can."""

    @property
    def matters(self) -> bool:
        """Whether it is more than chance would give."""
        return not self.untold and self.chance <= SIGNIFICANT


def influences(parameters: Mapping[str, Sequence[Any]], metric: Metric) -> tuple[Influence, ...]:
    """Every parameter, the most telling first; those nothing can be said of at the end.

    Args:
        parameters: for each name a value (or None) of every run; at most 200 are looked at.
        metric: what the runs reached.
    """
    shuffles: dict[tuple[int, ...], Floats] = {}
    found = [_one(name, values, metric, shuffles) for name, values in list(parameters.items())[:_MOST_PARAMETERS]]
    told = sorted((one for one in found if not one.untold), key=lambda one: one.chance)
    corrected, highest = [], 0.0
    for place, one in enumerate(told):
        highest = max(highest, min(1.0, one.chance * (len(told) - place)))
        # Only what matters is asked with what else it could be confused.
        others = [other.parameter for other in told] if highest <= SIGNIFICANT else []
        corrected.append(
            replace(one, chance=highest, together_with=_together(one.parameter, others, parameters, metric))
        )
    corrected.sort(key=lambda one: (one.chance, -one.strength, one.parameter))
    return (*corrected, *(one for one in found if one.untold))


def _one(name: str, values: Sequence[Any], metric: Metric, shuffles: dict[tuple[int, ...], Floats]) -> Influence:
    used = [place for place, value in enumerate(values) if value is not None and metric.present[place]]
    mine = [values[place] for place in used]
    badness = metric.badness()[used]
    numeric = all(is_number(value) for value in mine)
    distinct = len(np.unique([double(value) for value in mine]) if numeric else {name_of(value) for value in mine})
    untold = ""
    if len(used) < MIN_RUNS:
        untold = f"{len(used)} runs with both are too few"
    elif distinct < 2:
        untold = "it is the same in all of these runs"
    elif len(np.unique(badness)) < 2:
        untold = "all of these runs reached the same"
    elif not numeric and distinct == len(used):
        untold = "it is another name in every run"
    if untold:
        return Influence(name, len(used), 0.0, 1.0, math.nan, "", untold=untold)
    rank = _centred(badness)
    codes = _parts(np.array([double(value) for value in mine])) if numeric else _codes(mine)
    along = _ranks(np.array([double(value) for value in mine])) if numeric else None
    if tuple(used) not in shuffles:
        shuffles[tuple(used)] = _shuffled(rank)
    shuffled = shuffles[tuple(used)]
    explained = _explained(rank[None, :], codes, along)
    chance = (1 + float(np.count_nonzero(_explained(shuffled, codes, along) >= explained[0] - 1e-12))) / (
        1 + len(shuffled)
    )
    means = np.array([rank[codes == code].mean() for code in range(codes.max() + 1)])
    best = _said(mine, codes == int(np.argmin(means)), numeric)
    direction = math.nan if along is None else float(_correlations(rank[None, :], along)[0])
    return Influence(name, len(used), math.sqrt(max(0.0, float(explained[0]))), chance, direction, best)


def _ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share the middle of theirs. NaN ranks last."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    shared: Floats = (ends - (counts - 1) / 2)[inverse]
    return shared


def _centred(values: Floats) -> Floats:
    rank = _ranks(values)
    centred: Floats = rank - rank.mean()
    return centred


def _codes(values: Sequence[Any]) -> npt.NDArray[np.intp]:
    return np.unique([name_of(value) for value in values], return_inverse=True)[1]


def _parts(values: Floats) -> npt.NDArray[np.intp]:
    """Numbers in up to five parts of about equal size: those in the middle may be the good ones, which no rank shows."""
    rank = _ranks(values)
    distinct, inverse = np.unique(rank, return_inverse=True)
    # As many parts as runs would explain everything, shuffled or not.
    parts = min(_MAX_BINS, max(2, len(values) // 4))
    if len(distinct) <= parts:
        return inverse
    return np.unique(np.floor((rank - 0.5) * parts / len(values)), return_inverse=True)[1]


def _shuffled(rank: Floats) -> Floats:
    """Shape (shuffles, runs). The same seed each time: the same runs give the same answer."""
    rows = max(199, min(SHUFFLES, _MAX_CELLS // len(rank)))
    return np.random.default_rng(0).permuted(np.tile(rank, (rows, 1)), axis=1)


def _explained(ranks: Floats, codes: npt.NDArray[np.intp], along: Floats | None) -> Floats:
    """Share of the order explained, for each row of centred ranks: by the parts, or by a straight order where that says more.

    Every row holds the same ranks in another order.
    """
    runs, parts = ranks.shape[1], int(codes.max()) + 1
    member = (codes[:, None] == np.arange(parts)).astype(np.float64)
    between = ((ranks @ member) ** 2 / member.sum(axis=0)).sum(axis=1)
    found: Floats = 1 - (1 - between / (ranks[0] ** 2).sum()) * (runs - 1) / max(1, runs - parts)
    if along is not None:
        straight = _correlations(ranks, along) ** 2
        found = np.maximum(found, 1 - (1 - straight) * (runs - 1) / (runs - 2))
    return found


def _correlations(ranks: Floats, along: Floats) -> Floats:
    """Spearman's correlation of each row of centred ranks with other ranks."""
    mine = along - along.mean()
    found: Floats = (ranks @ mine) / math.sqrt(float((ranks[0] ** 2).sum() * (mine**2).sum()))
    return found


def _said(values: Sequence[Any], chosen: npt.NDArray[np.bool_], numeric: bool) -> str:
    those = [value for value, is_one in zip(values, chosen, strict=True) if is_one]
    if not numeric:
        return name_of(those[0])
    low, high = min(those), max(those)
    return name_of(low) if low == high else f"{name_of(low)} to {name_of(high)}"


def _together(
    name: str, others: Sequence[str], parameters: Mapping[str, Sequence[Any]], metric: Metric
) -> tuple[str, ...]:
    found = []
    for other in others:
        pairs = [
            (one, two)
            for one, two, present in zip(parameters[name], parameters[other], metric.present, strict=True)
            if present and one is not None and two is not None
        ]
        if other != name and len(pairs) >= MIN_RUNS and _same_split(pairs):
            found.append(other)
    return tuple(found)


def _same_split(pairs: Sequence[tuple[Any, Any]]) -> bool:
    """Whether two parameters part the runs in the same way, or rise and fall together."""
    one, two = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if all(is_number(value) for value in (*one, *two)):
        first, second = (_centred(np.array([double(value) for value in values])) for values in (one, two))
        if len(np.unique(first)) < 2 or len(np.unique(second)) < 2:
            return False
        return abs(float(_correlations(first[None, :], second)[0])) >= _TOGETHER
    first_codes, second_codes = _codes(one), _codes(two)
    parts = int(first_codes.max()) + 1
    both = len({*zip(first_codes.tolist(), second_codes.tolist(), strict=True)})
    return parts > 1 and both == parts == int(second_codes.max()) + 1 and 2 * parts <= len(pairs)

"""Groups of rows in which the other features drift most: the values of a category, or the quarters of a number."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from stethoscope.drift.corrections import holm
from stethoscope.drift.feature_tests import Tested, tested
from stethoscope.drift.pairing import Feature
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
        [
            f"≤ {bounds[0]}",
            *(f"{low} … {high}" for low, high in itertools.pairwise(bounds)),
            f"> {bounds[-1]}",
        ]
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

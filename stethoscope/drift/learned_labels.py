"""Do labels still belong to inputs as before? Told without anybody's model: a simple one learns half of the reference.

Its score on the other half of the reference is compared with its score on the current rows. Given what it learned, rows of both are
independent of each other, so the comparison is as exact as its test, whatever the model.

Source: Harel, Mannor, El-Yaniv, Crammer, "Concept Drift Detection Through Resampling", ICML 2014 (its statistic, with one split).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.drift.field_columns import Field, number_word
from stethoscope.drift.pairing import Feature
from stethoscope.drift.reading import Side
from stethoscope.drift.scores import RIGHT, SIMPLE, WRONG
from stethoscope.drift.subgroups import points_of

LEAST_ROWS = 60
"""With a label, of each side."""
_MOST_CLASSES, _MOST_COLUMNS, _MOST_TRAIN = 60, 256, 4_000
_TREES = {"n_estimators": 100, "min_samples_leaf": 2, "n_jobs": 1, "random_state": 0}
_BETTER = 0.1
"""Share of the errors of guessing that the model must save on the reference, or it has learned nothing that could be lost."""


def learned(reference: Side, current: Side, label: str, names: Sequence[str], seed: int) -> Feature | None:
    """How right a simple model is on both sides, as a feature; None where labels, rows or columns are too few, or it learns nothing.

    Args:
        reference: half of it is learned.
        current: what came since.
        label: the field of labels.
        names: the fields that it may go by.
        seed: of the half.
    """
    given = [_labels(side.fields[label]) for side in (reference, current)]
    if given[0] is None or given[1] is None or not names or given[0].dtype.kind != given[1].dtype.kind:
        return None
    points = points_of(reference, current, names, seed)
    sides = [points.reference, points.current]
    truth = [values[rows] for values, rows in zip(given, points.rows, strict=True) if values is not None]
    known = [_known(values) for values in truth]
    if min(map(len, known)) < LEAST_ROWS or not sides[0].shape[1]:
        return None
    generator = np.random.default_rng(seed)
    columns = np.arange(sides[0].shape[1])
    if len(columns) > _MOST_COLUMNS:
        columns = np.sort(generator.choice(columns, _MOST_COLUMNS, replace=False))
    order = generator.permutation(known[0])
    middle = min(len(order) // 2, _MOST_TRAIN)
    train, test = order[:middle], order[len(order) // 2 :]
    x, rest, now = sides[0][train][:, columns], sides[0][test][:, columns], sides[1][known[1]][:, columns]
    if truth[0].dtype.kind == "f":
        return _of_numbers(x, truth[0][train], (rest, truth[0][test]), (now, truth[1][known[1]]))
    return _of_classes(x, truth[0][train], (rest, truth[0][test]), (now, truth[1][known[1]]))


def _labels(one: Field) -> npt.NDArray[Any] | None:
    """Words of classes or float64 numbers with NaN; None where a row has no single label."""
    if one.kind == "text":
        return None
    if one.words is not None:
        return one.words.astype(str)
    values = one.numbers.get("")
    if values is None:
        return None
    good = values[np.isfinite(values)]
    if len(good) and bool((good == np.rint(good)).all()) and len(np.unique(good)) <= _MOST_CLASSES:
        return np.array([number_word(value) if np.isfinite(value) else "" for value in values])
    return values


def _known(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.flatnonzero(np.isfinite(values) if values.dtype.kind == "f" else values != "")


def _of_classes(x: Any, y: Any, rest: tuple[Any, Any], now: tuple[Any, Any]) -> Feature | None:
    from sklearn.ensemble import RandomForestClassifier

    kinds, many = np.unique(y, return_counts=True)
    if not 2 <= len(kinds) <= _MOST_CLASSES:
        return None
    model = RandomForestClassifier(**_TREES).fit(x, y)
    right = [model.predict(rows) == truth for rows, truth in (rest, now)]
    guessed = float((rest[1] == kinds[many.argmax()]).mean())
    if right[0].mean() <= guessed + _BETTER * (1 - guessed):
        return None
    words = np.array([WRONG, RIGHT], object)
    return Feature(SIMPLE[0], "category", "correctness", *(words[side.astype(int)] for side in right))


def _of_numbers(x: Any, y: Any, rest: tuple[Any, Any], now: tuple[Any, Any]) -> Feature | None:
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(**_TREES).fit(x, y)
    off = [np.abs(model.predict(rows) - truth) for rows, truth in (rest, now)]
    if off[0].mean() >= (1 - _BETTER) * np.abs(rest[1] - np.median(y)).mean():
        return None
    return Feature(SIMPLE[1], "number", "correctness", off[0], off[1])

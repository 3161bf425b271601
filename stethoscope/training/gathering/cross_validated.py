"""Labels judged without anybody's model: a forest that was not trained on a row says which class the row belongs to.

Rows become numbers as simple models need them: pictures as small ones, texts as weighted counts of their words, tables as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import Dataset
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.data.study.pictures import area_means

MOST_ROWS, MOST_CLASSES, MOST_COLUMNS = 10_000, 200, 1_024
_FOLDS, _SIDE = 5, 12
_TREES = {"n_estimators": 200, "min_samples_leaf": 2, "n_jobs": 1, "random_state": 0}
_PICTURES = ("image", "mask")


@dataclass(frozen=True)
class CrossValidated:
    """Out-of-fold probabilities of rows with a label; `why_not` where there are none."""

    why_not: str = ""
    places: npt.NDArray[np.int64] | None = None
    probabilities: npt.NDArray[np.float64] | None = None
    """(rows, classes)"""
    given: npt.NDArray[np.int64] | None = None
    """(rows,): class numbers."""
    names: tuple[str, ...] = ()
    left_out: int = 0
    """Rows that could not be read."""


@dataclass
class Rows:
    """Rows with a label, as they are read."""

    places: list[int]
    values: list[Any]
    labels: list[Any]
    left_out: int = 0


def read(data: Dataset, parts: Sequence[range], preparation: Preparation) -> Rows:
    """Reads stretches of rows; rows that cannot be read, or have no label, are left out."""
    found = Rows([], [], [])
    for part in parts:
        given = data.feed(part.start, part.stop)
        if "x" not in given or "y" not in given:
            continue
        prepared = {name: preparation.rows_after(name, given[name]) for name in ("x", "y")}
        if len(prepared["x"]) != len(part) or len(prepared["y"]) != len(part):
            # Some cannot be read: one by one, so that each keeps its place.
            if len(part) > 1:
                more = read(data, [range(place, place + 1) for place in part], preparation)
                found.places += more.places
                found.values += more.values
                found.labels += more.labels
                found.left_out += more.left_out
            else:
                found.left_out += 1
            continue
        for place, value, label in zip(part, prepared["x"], prepared["y"], strict=True):
            found.places.append(place)
            found.values.append(np.asarray(value))
            found.labels.append(np.asarray(label))
    return found


def judged(rows: Rows, kinds: Mapping[str, str], classes: Sequence[str]) -> CrossValidated:
    """What forests and, of texts, a linear model say of rows they have not seen.

    Args:
        rows: with their labels.
        kinds: of the data's fields, by name.
        classes: names of class numbers, where the data has them.
    """
    if not rows.places:
        return CrossValidated(
            "The data has no rows with an input x and a label y. Name the column of labels with --target."
        )
    labels, names, reason = _classes(rows.labels, classes)
    if reason:
        return CrossValidated(reason)
    known = np.flatnonzero(labels >= 0)
    counts = np.bincount(labels[known], minlength=len(names))
    kept = known[counts[labels[known]] >= _FOLDS]
    if len(np.unique(labels[kept])) < 2:
        return CrossValidated(
            f"Fewer than two classes have {_FOLDS} rows or more: nothing can be told of their labels."
        )
    values = [rows.values[row] for row in kept]
    text = values[0].dtype.kind in "USO"
    table = _words(values) if text else _numbers(values, pictures=any(kind in _PICTURES for kind in kinds.values()))
    if table is None:
        return CrossValidated("The rows are of kinds that no simple model takes. Give a model with --model.")
    return CrossValidated(
        places=np.array([rows.places[row] for row in kept], np.int64),
        probabilities=_out_of_fold(table, labels[kept], len(names), text=text),
        given=labels[kept],
        names=names,
        left_out=rows.left_out,
    )


def _classes(labels: Sequence[Any], classes: Sequence[str]) -> tuple[npt.NDArray[np.int64], tuple[str, ...], str]:
    """(class number of each row, −1 without one; names; why not)."""
    nothing = np.zeros(0, np.int64)
    first = labels[0]
    if first.size > 1:
        values = np.stack(labels)
        if values.ndim != 2 or values.dtype.kind not in "biuf" or not bool(((values == 0) | (values == 1)).all()):
            return nothing, (), "A row has more than one label: doubts are told where it has one class."
        if bool((values.sum(axis=1) != 1).any()):
            return nothing, (), "Rows have several classes at once: doubts are told where a row has one."
        flat = values.argmax(axis=1)
    else:
        flat = np.array([label.reshape(-1)[0] for label in labels])
    if flat.dtype.kind == "f":
        finite = np.isfinite(flat)
        if bool((flat[finite] != np.rint(flat[finite])).any()):
            return nothing, (), "The labels are numbers with fractions, no classes: every one differs a little."
        values, numbers = np.unique(flat[finite], return_inverse=True)
        found = np.full(len(flat), -1, np.int64)
        found[finite] = numbers
    else:
        values, found = np.unique(flat, return_inverse=True)
    if len(values) > MOST_CLASSES:
        return (
            nothing,
            (),
            f"The labels have {len(values):,} different values: doubts are told of up to {MOST_CLASSES} classes.",
        )
    words = [
        classes[int(value)]
        if values.dtype.kind in "biuf" and 0 <= value < len(classes)
        else f"{value:g}"
        if values.dtype.kind == "f"
        else str(value)
        for value in values
    ]
    return found.astype(np.int64), tuple(words), ""


def _numbers(values: Sequence[npt.NDArray[Any]], *, pictures: bool) -> npt.NDArray[np.float32] | None:
    if values[0].dtype.kind not in "biuf":
        return None
    if pictures or (values[0].ndim == 3 and values[0].shape[-1] in (1, 3, 4) and min(values[0].shape[:2]) > _SIDE):
        rows = [_small(value) for value in values]
    else:
        rows = [_thin(value.reshape(-1)) for value in values]
    if len({len(row) for row in rows}) > 1:
        return None
    return np.nan_to_num(np.stack(rows).astype(np.float32), posinf=0.0, neginf=0.0)


def _small(value: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    table = (value[:, :, None] if value.ndim == 2 else value).astype(np.float64)
    colours = table[..., :3] if table.shape[2] >= 3 else np.repeat(table[..., :1], 3, axis=2)
    return np.concatenate([area_means(colours[..., channel], _SIDE, _SIDE).ravel() for channel in range(3)])


def _thin(row: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return row if len(row) <= MOST_COLUMNS else row[np.linspace(0, len(row) - 1, MOST_COLUMNS).astype(int)]


def _words(values: Sequence[npt.NDArray[Any]]) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [" ".join(_text(one) for one in value.reshape(-1)) for value in values]
    try:
        return TfidfVectorizer(max_features=20_000, sublinear_tf=True).fit_transform(texts)
    except ValueError:
        return None


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _out_of_fold(table: Any, labels: npt.NDArray[np.int64], classes: int, *, text: bool) -> npt.NDArray[np.float64]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    chances = np.zeros((len(labels), classes))
    for train, test in StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(np.zeros(len(labels)), labels):
        model = LogisticRegression(C=10.0, max_iter=500) if text else RandomForestClassifier(**_TREES)
        model.fit(table[train], labels[train])
        chances[np.ix_(test, model.classes_)] = model.predict_proba(table[test])
    return chances

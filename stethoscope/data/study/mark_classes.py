"""Marks whose class is doubted by how they look: what other marks of each class look like tells what a mark should be called.

Each mark is cut out of its picture and told by an 8 × 8 thumbnail, its colours, size and shape. A forest that has not seen the mark's
picture says which class it looks like. This is no detector: where it cannot tell the classes apart, nothing is doubted.

Source: Northcutt, Jiang, Chuang, "Confident Learning", JAIR 70 (2021): out-of-sample probabilities, thresholds by class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import Mark, Points
from stethoscope.data.study.pictures import area_means, grey_of

LEAST_MARKS, LEAST_OF_CLASS, MOST_MARKS = 40, 8, 20_000
LEAST_RIGHT = 0.8
"""Share of marks that the forest has to call as they are called, or nothing is doubted."""
SHOWN = 100
_SIDE, _COLOURS, _FOLDS = 8, 2, 5
_SURE, _UNLIKELY = 0.6, 0.15
_TREES = {"n_estimators": 200, "min_samples_leaf": 2, "n_jobs": 1, "random_state": 0, "class_weight": "balanced"}
_MOST_CLASSES = 100


@dataclass(frozen=True)
class DoubtfulMark:
    """A mark that looks like another class."""

    place: int
    """Row of its picture,"""
    number: int
    """and which of the picture's marks, from 0."""
    given: str
    looks_like: str
    probability: float
    """Of that class; of the given one it is below `_UNLIKELY`."""


@dataclass(frozen=True)
class MarkClasses:
    """What the look of marks says of their classes."""

    judged: int = 0
    """Marks; 0 where they are too few, or cannot be told apart."""
    right: float | None = None
    """Share of those looked at whose look agrees with their class; None where there was nothing to look at."""
    doubtful: tuple[DoubtfulMark, ...] = ()
    """The surest first."""
    count: int = 0


@dataclass
class MarkLooks:
    """Collects what marks look like."""

    _features: list[npt.NDArray[np.float32]] = field(default_factory=list)
    _of: list[tuple[int, int, str]] = field(default_factory=list)

    def add(
        self, place: int, number: int, mark: Mark, bounds: tuple[float, float, float, float], picture: npt.NDArray[Any]
    ) -> None:
        """One mark of a picture (height, width) or (height, width, channels)."""
        if isinstance(mark, Points) or not mark.label or len(self._of) >= MOST_MARKS:
            return
        height, width = picture.shape[:2]
        left, top, right, bottom = (round(edge) for edge in bounds)
        left, top, right, bottom = max(0, left), max(0, top), min(width, right), min(height, bottom)
        if right - left < 2 or bottom - top < 2:
            return
        table = picture[top:bottom, left:right]
        self._features.append(_looks(table[:, :, None] if table.ndim == 2 else table, width * height))
        self._of.append((place, number, mark.label))

    def result(self) -> MarkClasses:
        """Which marks look like another class."""
        labels = np.array([label for _, _, label in self._of])
        if len(labels) < LEAST_MARKS:
            return MarkClasses()
        names, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
        usual = [number for number, count in enumerate(counts) if count >= LEAST_OF_CLASS]
        kept = np.flatnonzero(np.isin(place, usual))
        if len(kept) < LEAST_MARKS or not 2 <= len(usual) <= _MOST_CLASSES:
            return MarkClasses()
        widths = {len(self._features[row]) for row in kept}
        pictures = np.array([self._of[row][0] for row in kept])
        if len(widths) > 1 or len(np.unique(pictures)) < _FOLDS:
            return MarkClasses()
        x, y = np.stack([self._features[row] for row in kept]), np.searchsorted(usual, place[kept])
        chances = _out_of_sample(x, y, pictures, len(usual))
        right = float((chances.argmax(axis=1) == y).mean())
        if right < LEAST_RIGHT:
            return MarkClasses(right=right)
        rows = np.arange(len(y))
        own = chances[rows, y]
        others = chances.copy()
        others[rows, y] = -1
        other = others.argmax(axis=1)
        # As sure as the forest usually is of marks of that class, and never less than `_SURE`.
        usually = np.array([np.median(own[y == one]) for one in range(len(usual))])
        found = np.flatnonzero((own <= _UNLIKELY) & (others[rows, other] >= np.maximum(_SURE, 0.8 * usually[other])))
        found = found[np.argsort(-others[found, other[found]], kind="stable")]
        doubtful = tuple(
            DoubtfulMark(
                place=self._of[kept[row]][0],
                number=self._of[kept[row]][1],
                given=str(names[usual[y[row]]])[:200],
                looks_like=str(names[usual[other[row]]])[:200],
                probability=float(others[row, other[row]]),
            )
            for row in found[:SHOWN]
        )
        return MarkClasses(len(kept), right, doubtful, len(found))


def _out_of_sample(
    x: npt.NDArray[np.float32], y: npt.NDArray[Any], pictures: npt.NDArray[Any], classes: int
) -> npt.NDArray[np.float64]:
    """(marks, classes): chances by forests that have seen no mark of the same picture."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedGroupKFold

    chances = np.zeros((len(y), classes))
    for train, test in StratifiedGroupKFold(_FOLDS, shuffle=True, random_state=0).split(x, y, pictures):
        forest = RandomForestClassifier(**_TREES).fit(x[train], y[train])
        chances[np.ix_(test, forest.classes_)] = forest.predict_proba(x[test])
    return chances


def _looks(table: npt.NDArray[Any], picture_pixels: int) -> npt.NDArray[np.float32]:
    pixels = table.astype(np.float64)
    height, width, channels = pixels.shape
    grey = area_means(grey_of(pixels), _SIDE, _SIDE)
    spread = float(grey.std())
    colours = [area_means(pixels[..., channel], _COLOURS, _COLOURS).ravel() for channel in range(min(3, channels))]
    shape = [np.log(width / height), np.log(width * height / picture_pixels), float(grey.mean()), spread]
    flat = ((grey - grey.mean()) / (spread or 1.0)).ravel()
    return np.concatenate([flat, *colours, shape]).astype(np.float32)

"""The baselines themselves: the most common answer, a linear model, boosted trees; each within its share of time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.training.skill import TargetScale

Array = npt.NDArray[Any]
MAX_TREE_COLUMNS = 3
"""Columns of numbers that get trees of their own; beyond it boosting is left out."""
MAX_LABELS = 10
_TREES, _TREES_AT_ONCE = 100, 10
_THREADS = 1
_FLOPS = 1e9
"""Multiplications a second that iterations are planned with; a slow machine."""


@dataclass(frozen=True)
class Fitted:
    """One baseline: predictions for the held-out rows in the targets' own encoding."""

    model: str
    predictions: Array
    fit_s: float
    note: str = ""


def fit_baselines(scale: TargetScale, x: Array, y: Array, x_test: Array, time_s: float) -> Iterator[Fitted | str]:
    """Yields each baseline's predictions on `x_test`, or a sentence that says why there are none.

    Args:
        scale: what the targets are.
        x: (rows, columns) numbers; NaN where unknown.
        y: the targets of these rows, as given.
        x_test: (held-out rows, columns).
        time_s: for all of them together.
    """
    from threadpoolctl import threadpool_limits

    begin = time.perf_counter()
    # More threads than free processors make boosting many times slower, and other jobs run beside this one.
    with threadpool_limits(limits=_THREADS):
        yield from _fitted(scale, x, y, x_test, time_s, begin)


def _fitted(
    scale: TargetScale, x: Array, y: Array, x_test: Array, time_s: float, begin: float
) -> Iterator[Fitted | str]:
    if scale.kind in ("two-values", "class-numbers", "one-hot"):
        yield from _classify(scale, x, y, x_test, time_s, begin)
    elif scale.kind == "multi-hot":
        yield from _labels(scale, x, y, x_test, time_s, begin)
    else:
        yield from _numbers(x, y, x_test, time_s, begin)


def _classify(
    scale: TargetScale, x: Array, y: Array, x_test: Array, time_s: float, begin: float
) -> Iterator[Fitted | str]:
    hot = scale.kind == "one-hot"
    width = y.shape[-1] if hot else 0
    labels = y.argmax(axis=-1) if hot else y.reshape(-1)

    def encoded(found: Array) -> Array:
        return np.eye(width, dtype=np.float32)[found.astype(np.int64)] if hot else found.astype(np.float64)

    values, counts = np.unique(labels, return_counts=True)
    yield Fitted("majority class", encoded(np.full(len(x_test), values[counts.argmax()])), 0.0)
    if len(values) < 2:
        yield "The training rows hold one class only: there is nothing for a model to tell apart."
        return
    if not x.shape[1]:
        return
    started = time.perf_counter()
    model = _logistic(x, len(values), time_s / 2)
    _quietly(lambda: model.fit(x, labels))
    yield Fitted("logistic regression", encoded(model.predict(x_test)), time.perf_counter() - started)
    yield from _boosted(x, labels, x_test, _left(time_s, begin), encoded, classes=len(values))


def _labels(
    scale: TargetScale, x: Array, y: Array, x_test: Array, time_s: float, begin: float
) -> Iterator[Fitted | str]:
    high, low = scale.values[1], scale.values[0]
    hot = y == high
    flat = hot.reshape(len(y), -1)
    common = np.where(flat.mean(axis=0) >= 0.5, high, low)
    yield Fitted("majority class", np.broadcast_to(common, (len(x_test), len(common))).reshape(-1, *y.shape[1:]), 0.0)
    if not x.shape[1]:
        return
    if flat.shape[1] > MAX_LABELS:
        started = time.perf_counter()
        scores = _ridge().fit(x, flat.astype(np.float32)).predict(x_test)
        found = np.where(scores > 0.5, high, low).reshape(-1, *y.shape[1:])
        yield Fitted("linear regression", found, time.perf_counter() - started)
        yield f"Gradient boosting was left out: {flat.shape[1]} labels."
        return
    share = time_s / flat.shape[1]
    for name, make in (("logistic regression", _linear_label), ("gradient boosting", _tree_label)):
        started = time.perf_counter()
        if name == "gradient boosting" and _left(time_s, begin) < 0.2 * time_s:
            yield "Gradient boosting was left out: no time was left."
            return
        columns = [
            make(x, column, x_test, share / 2) if column.any() and not column.all() else np.full(len(x_test), column[0])
            for column in flat.T
        ]
        found = np.where(np.stack(columns, axis=1), high, low).reshape(-1, *y.shape[1:])
        yield Fitted(name, found, time.perf_counter() - started)


def _numbers(x: Array, y: Array, x_test: Array, time_s: float, begin: float) -> Iterator[Fitted | str]:
    flat = y.reshape(len(y), -1).astype(np.float64)
    shape = (-1, *y.shape[1:])
    mean = np.broadcast_to(flat.mean(axis=0), (len(x_test), flat.shape[1]))
    yield Fitted("mean", mean.reshape(shape), 0.0)
    if not x.shape[1]:
        return
    started = time.perf_counter()
    found = _ridge().fit(x, flat).predict(x_test)
    yield Fitted("linear regression", np.asarray(found).reshape(shape), time.perf_counter() - started)
    if flat.shape[1] > MAX_TREE_COLUMNS:
        yield f"Gradient boosting was left out: {flat.shape[1]} values to predict."
        return
    started = time.perf_counter()
    columns = []
    for column in flat.T:
        fitted = list(
            _boosted(x, column, x_test, _left(time_s, begin) / flat.shape[1], lambda values: values, classes=0)
        )
        if not isinstance(fitted[0], Fitted):
            yield fitted[0]
            return
        columns.append(fitted[0].predictions)
    yield Fitted("gradient boosting", np.stack(columns, axis=1).reshape(shape), time.perf_counter() - started)


def _boosted(
    x: Array, y: Array, x_test: Array, time_s: float, encoded: Callable[[Array], Array], classes: int
) -> Iterator[Fitted | str]:
    """Adds trees in steps until there are enough or time is up."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    started = time.perf_counter()
    if classes > 50 or time_s < 0.3:
        yield f"Gradient boosting was left out: {f'{classes} classes' if classes > 50 else 'no time was left'}."
        return
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    model = kind(max_iter=2, warm_start=True, early_stopping=False, random_state=0, min_samples_leaf=_leaf(len(x)))
    trees = 2
    while True:
        before = time.perf_counter()
        _quietly(lambda: model.fit(x, y))
        now = time.perf_counter()
        a_tree = (now - before) / min(trees, _TREES_AT_ONCE)
        if trees >= _TREES or now - started + a_tree * _TREES_AT_ONCE > time_s:
            break
        trees = min(_TREES, trees + _TREES_AT_ONCE) if trees > 2 else _TREES_AT_ONCE
        model.set_params(max_iter=trees)
    note = "" if trees >= _TREES else f"Gradient boosting had time for {trees} of {_TREES} rounds."
    yield Fitted("gradient boosting", encoded(model.predict(x_test)), time.perf_counter() - started, note)


def _leaf(rows: int) -> int:
    """scikit-learn's 20 rows to a leaf, fewer when there are few rows at all."""
    return max(1, min(20, rows // 20))


def _linear_label(x: Array, y: Array, x_test: Array, time_s: float) -> Array:
    model = _logistic(x, 2, time_s)
    _quietly(lambda: model.fit(x, y))
    found: Array = model.predict(x_test)
    return found


def _tree_label(x: Array, y: Array, x_test: Array, time_s: float) -> Array:
    fitted = next(_boosted(x, y, x_test, max(0.3, time_s), lambda values: values, classes=2))
    return fitted.predictions if isinstance(fitted, Fitted) else np.full(len(x_test), y.mean() >= 0.5)


def _logistic(x: Array, classes: int, time_s: float) -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    a_pass = 6.0 * x.size * max(1, classes if classes > 2 else 1) / _FLOPS
    iterations = int(min(500, max(15, time_s / max(a_pass, 1e-6))))
    return make_pipeline(
        SimpleImputer(keep_empty_features=True), StandardScaler(), LogisticRegression(max_iter=iterations)
    )


def _ridge() -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), Ridge(alpha=1.0))


def _left(time_s: float, begin: float) -> float:
    return time_s - (time.perf_counter() - begin)


def _quietly(work: Callable[[], Any]) -> None:
    """Runs `work` without its warnings: a fit that ended before it converged is still a baseline."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work()

"""Which labels does the model's own prediction speak against most?"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import open_data
from stethoscope.data.batching import Batching
from stethoscope.data.dataset import Dataset
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.data.rows import bind_all
from stethoscope.errors import BadInput
from stethoscope.evidence.judged_labels import JudgedLabels, judged_labels
from stethoscope.evidence.label_doubts import as_probabilities
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Runner

ROWS, TIME_S = 50_000, 90.0
_PART = 256


class FindLabelDoubts:
    """Files: "data", optionally "model": without it, simple models judge rows that they have not seen.

    params, all optional: {"rows" (how many at most), "time_s", "seed", "data_options", "preparation", "trusted"}.
    """

    kind = "label_doubts"
    answer = JudgedLabels

    def run(self, context: TaskContext) -> JudgedLabels:
        """Predicts every row and compares with its label.

        Raises:
            BadInput: the data does not fit the model, or a step does not apply.
        """
        params = context.params
        preparation = Preparation.from_json(params.get("preparation") or ())
        if "model" not in context.files:
            return _cross_validated(context, preparation)
        context.report("load", message="loading the model")
        architecture, opened = context.open_model()
        options = params.get("data_options") or {}
        with opened as runner, open_data(context.files["data"], context.budget.memory_bytes, options) as data:
            seen = dataclasses.replace(architecture, inputs=runner.inputs, outputs=runner.outputs)
            try:
                return _Judged(context, seen, runner, data, preparation).all()
            except _NotClassification as reason:
                return JudgedLabels(possible=False, why_not=str(reason))


def _cross_validated(context: TaskContext, preparation: Preparation) -> JudgedLabels:
    """Judged by simple models, each of which has not seen the rows that it judges."""
    from threadpoolctl import threadpool_limits

    from stethoscope.training.gathering import cross_validated

    options = context.params.get("data_options") or {}
    most = min(int(context.params.get("rows") or ROWS), cross_validated.MOST_ROWS)
    with open_data(context.files["data"], context.budget.memory_bytes, options) as data:
        about = data.about
        context.report("read", 0.1, f"reading {context.files['data'].name}")
        parts = list(_parts_of(about.rows, most, int(context.params.get("seed") or 0)))
        rows = cross_validated.read(data, parts, preparation)
    context.report("train", 0.4, f"simple models on {len(rows.places):,} rows")
    with threadpool_limits(1):
        found = cross_validated.judged(rows, {one.name: one.kind for one in about.fields}, about.classes)
    if found.probabilities is None or found.given is None or found.places is None:
        return JudgedLabels(possible=False, why_not=found.why_not, by="cross-validation")
    return judged_labels(
        found.places,
        found.probabilities,
        found.given,
        found.names,
        rows=about.rows,
        left_out=found.left_out,
        output="",
        scores="probabilities",
        by="cross-validation",
    )


def _parts_of(rows: int, most: int, seed: int) -> Iterator[range]:
    """All rows; of more than wanted, stretches at random places, because data is often sorted by class."""
    starts = np.arange(0, rows, _PART)
    if rows > most:
        keep = max(1, most // _PART)
        starts = np.random.default_rng(seed).permutation(starts)[:keep]
    for start in starts.tolist():
        yield range(start, min(start + _PART, rows))


class _NotClassification(Exception):
    """Why doubts cannot be told; for people."""


class _Judged:
    """Predictions beside labels, row by row."""

    def __init__(
        self, context: TaskContext, architecture: Architecture, runner: Runner, data: Dataset, preparation: Preparation
    ) -> None:
        self._context, self._architecture, self._runner = context, architecture, runner
        self._data, self._preparation = data, preparation
        self._batching = Batching.of(runner.inputs)
        self._output = ""
        self._left_out = 0

    def all(self) -> JudgedLabels:
        rows = self._data.about.rows
        most = max(1, int(self._context.params.get("rows") or ROWS))
        limit_s = float(self._context.params.get("time_s") or TIME_S)
        places, scores, labels = [], [], []
        began, done = time.monotonic(), 0
        for part in self._parts(rows, most):
            for found, feed in self._fed(part):
                bound = bind_all(feed, self._architecture)
                if bound.problem:
                    raise BadInput(bound.problem)
                if not bound.targets:
                    raise _NotClassification(
                        "This data has no labels that belong to an output of the model. Choose the target, or add labels as y."
                    )
                self._output = self._output or next(iter(bound.targets))
                labels.append(_labels(bound.targets[self._output]))
                scores.append(self._predict(bound.inputs))
                places.append(np.asarray(found))
                done += len(found)
            self._context.report("predict", min(1.0, done / min(rows, most)), f"{done:,} of {min(rows, most):,} rows")
            if time.monotonic() - began > limit_s:
                break
        if not places:
            raise BadInput(
                f"{self._context.files['data'].name}: expected rows that can be read, got none. See its problems."
            )
        return self._told(np.concatenate(places), np.concatenate(scores), np.concatenate(labels), rows)

    def _parts(self, rows: int, most: int) -> Iterator[range]:
        return _parts_of(rows, most, int(self._context.params.get("seed") or 0))

    def _fed(self, part: range) -> Iterator[tuple[list[int], Feed]]:
        """The prepared arrays of a stretch of rows; where some cannot be read, row by row."""
        given = self._data.feed(part.start, part.stop)
        lengths = {len(given[name]) for name in ("x", "y") if name in given} or {len(rows) for rows in given.values()}
        if lengths == {len(part)} or len(part) == 1:
            if lengths == {len(part)}:
                yield (
                    list(part),
                    {
                        name: self._preparation.apply_to(name, rows)
                        for name, rows in given.items()
                        if self._wanted(name)
                    },
                )
            else:
                self._left_out += 1
            return
        for place in part:
            yield from self._fed(range(place, place + 1))

    def _wanted(self, name: str) -> bool:
        """Whether an array may be one of the model's: fields beside x and y may have rows of many shapes."""
        specs = (*self._architecture.inputs, *self._architecture.outputs)
        return name in ("x", "y") or any(name == spec.name for spec in specs)

    def _predict(self, inputs: Feed) -> npt.NDArray[Any]:
        rows = self._batching.rows(inputs)
        made = []
        for feed in self._batching.cut(inputs, self._batching.fixed or 32):
            size = self._batching.rows(feed)
            whole = self._batching.take(feed, self._batching.fixed) if self._batching.fixed else feed
            outputs = self._runner.predict(whole)
            if self._output not in outputs:
                raise _NotClassification(f"The model yields no output {self._output!r} to compare labels with.")
            made.append(np.asarray(outputs[self._output])[:size])
        joined = np.concatenate(made)[:rows]
        flat = (
            joined.reshape(len(joined), -1)
            if joined.ndim > 1 and joined.size == len(joined) * joined.shape[-1]
            else joined
        )
        if flat.ndim > 2:
            raise _NotClassification(
                f"The output {self._output!r} has the shape {list(joined.shape[1:])} for each row: doubts are told where a row has "
                "one label, not one for each pixel or step."
            )
        return flat

    def _told(
        self, places: npt.NDArray[Any], scores: npt.NDArray[Any], labels: npt.NDArray[Any], rows: int
    ) -> JudgedLabels:
        given, names = self._classes(labels, scores)
        probabilities, kind_of_scores = as_probabilities(scores)
        return judged_labels(
            places,
            probabilities,
            given,
            names,
            rows=rows,
            left_out=self._left_out,
            output=self._output,
            scores=kind_of_scores,
        )

    def _classes(self, labels: npt.NDArray[Any], scores: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Class numbers and the classes' names."""
        units = 1 if scores.ndim == 1 else scores.shape[1]
        classes = 2 if units == 1 else units
        whole = labels.dtype.kind in "biu" or (
            labels.dtype.kind == "f" and bool(np.isfinite(labels).all() and (labels % 1 == 0).all())
        )
        if not whole:
            raise _NotClassification(
                "The labels are no classes but numbers with fractions: the model is a regression, where every label differs a little."
                if labels.dtype.kind == "f"
                else "The labels are texts. Add the step that turns them into class numbers on the tab Fit to the model."
            )
        numbers = labels.astype(np.int64)
        low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
        if units == 1 and high > 1:
            raise _NotClassification(
                f"The model yields one number a row, and the labels go up to {high:,}: it is a regression, where every label differs "
                "a little."
            )
        if low < 0 or high >= classes:
            raise _NotClassification(
                f"The labels go from {int(numbers.min()):,} to {high:,}, but the model tells {classes:,} classes apart. Choose another "
                "target, or add a step that turns labels into class numbers from 0."
            )
        known = self._data.about.classes
        return numbers, [known[place] if place < len(known) else str(place) for place in range(classes)]


def _labels(target: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """One label a row, from a column or one-hot rows."""
    flat = target.reshape(len(target), -1) if target.ndim > 1 else target
    if flat.ndim == 1 or flat.shape[1] == 1:
        return flat.reshape(-1)
    hot = flat.dtype.kind in "biuf" and bool(np.isin(flat, (0, 1)).all())
    if target.ndim > 2 or not hot:
        raise _NotClassification(
            f"The labels have the shape {list(target.shape[1:])} for each row: doubts are told where a row has one class."
        )
    if not bool((flat.sum(axis=1) == 1).all()):
        raise _NotClassification("Rows have several labels at once: doubts are told where a row has one class.")
    numbers: npt.NDArray[np.int64] = flat.argmax(axis=1)
    return numbers


TASK = FindLabelDoubts()

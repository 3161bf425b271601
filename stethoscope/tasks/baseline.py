"""Baselines: what the majority, a linear model and boosted trees reach on the same data. Runs no model of the user.

What simple models reach on the user's data: same rows held back, same metric as the network.

A model's inputs as one table of numbers, for models that know nothing but tables.

A score with its uncertainty: how it would scatter if other rows had been held back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.rows import Bound, bind_all, data_of
from stethoscope.errors import BadInput, StethoscopeError
from stethoscope.evidence.fit import FitSettings
from stethoscope.evidence.input_route import input_route
from stethoscope.evidence.trials import BaselineEvidence, Score
from stethoscope.models.formats import detect
from stethoscope.program.setup import Setup
from stethoscope.task import Reporter, TaskContext
from stethoscope.training.compiled import losses_of_targets
from stethoscope.training.gathering.plain_models import fit_baselines
from stethoscope.training.skill import Scorer, TargetScale
from stethoscope.types import Architecture, Feed

TIME_S = 10.0


class Baseline:
    """params: {"fit", "time_s"}; files: "model", "data"."""

    kind = "baseline"
    answer = BaselineEvidence

    def run(self, context: TaskContext) -> BaselineEvidence:
        """Trains the simple models and scores them on rows held back."""
        from stethoscope.training.from_job import fit_settings

        model, data = context.files["model"], context.files["data"]
        context.report("data", message=f"reading {data.name}")
        architecture = detect(model).describe(model)
        bound = bind_all(data_of(context), architecture)
        fit = fit_settings(context.params.get("fit"))
        time_s = float(context.params.get("time_s", TIME_S))
        return compare_baselines(bound, architecture, fit, time_s, context.report)


TASK = Baseline()


RESAMPLES = 300
MAX_VALUES = 40_000_000
"""Predicted values that are scored over all resamples; beyond it there are fewer of them, at least 40."""


def scored(model: str, scorer: Scorer, truth: Array, predicted: Array, fit_s: float = 0.0) -> Score:
    """Returns the score of predictions on held-out rows with its 95 % interval.

    Source: percentile bootstrap over rows (Efron and Tibshirani, An introduction to the bootstrap, 1993, chapter 13).
    """
    value = scorer.scores([truth], [predicted]).score
    random = np.random.default_rng(0)
    count = int(max(40, min(RESAMPLES, MAX_VALUES // max(1, predicted.size))))
    found = []
    for _ in range(count):
        rows = random.integers(0, len(truth), len(truth))
        found.append(scorer.scores([truth[rows]], [predicted[rows]]).score)
    finite = [item for item in found if math.isfinite(item)]
    low, high = np.percentile(finite, [2.5, 97.5]) if finite else (value, value)
    return Score(model, float(value), float(min(low, value)), float(max(high, value)), fit_s)


MAX_COLUMNS = 1_024
MAX_VOCABULARY = 1_000


def table_of(inputs: Feed, architecture: Architecture, rows: Array) -> tuple[npt.NDArray[np.float32], list[str]]:
    """Returns shape (len(rows), columns) for the given row numbers, and what was left out, one sentence each.

    Numbers are flattened (images thinned out to at most 1,024 values), numbers of words become counts of the 1,000 most
    frequent, text becomes hashed word counts.
    """
    parts: list[Array] = []
    notes: list[str] = []
    for name, array in inputs.items():
        chosen = array[rows]
        if chosen.dtype.kind in "US":
            parts.append(_words(chosen))
            notes.append(f"The text of {name} was given to the baselines as hashed counts of words.")
        elif input_route(architecture, name).looked_up and _whole(chosen):
            parts.append(_counts(chosen, array))
            notes.append(f"The numbers of words or categories of {name} were given to the baselines as counts.")
        elif chosen.dtype.kind in "iufb":
            thin, said = _thinned(name, chosen)
            parts.append(thin)
            notes += said
        else:
            notes.append(f"The baselines cannot use input {name} ({array.dtype}).")
    if not parts:
        return np.zeros((len(rows), 0), np.float32), notes
    table = np.concatenate([np.asarray(part, np.float32) for part in parts], axis=1)
    table[~np.isfinite(table)] = np.nan
    return table, notes


def _whole(array: Array) -> bool:
    return array.dtype.kind in "iub" or bool((array == np.rint(array)).all())


def _thinned(name: str, array: Array) -> tuple[Array, list[str]]:
    flat = array.reshape(len(array), -1)
    width = flat.shape[1]
    if width <= MAX_COLUMNS:
        return flat, []
    if array.ndim == 4:
        step = math.ceil(math.sqrt(width / MAX_COLUMNS))
        height, breadth = (size // step * step for size in array.shape[1:3])
        if height and breadth:
            blocks = array[:, :height, :breadth].reshape(
                len(array), height // step, step, breadth // step, step, array.shape[3]
            )
            small = blocks.mean(axis=(2, 4), dtype=np.float32).reshape(len(array), -1)
            return small[:, :MAX_COLUMNS], [f"The baselines saw the images of {name} {step} times smaller."]
    chosen = np.linspace(0, width - 1, MAX_COLUMNS).astype(np.int64)
    return flat[:, chosen], [f"The baselines saw {MAX_COLUMNS:,} of the {width:,} columns of {name}."]


def _counts(chosen: Array, everything: Array) -> Array:
    flat = chosen.reshape(len(chosen), -1).astype(np.int64)
    sample = everything.reshape(-1)[: 1 << 22].astype(np.int64)
    numbers, counts = np.unique(sample, return_counts=True)
    kept = np.sort(numbers[np.argsort(-counts, kind="stable")[:MAX_VOCABULARY]])
    place = np.clip(np.searchsorted(kept, flat), 0, len(kept) - 1)
    known = kept[place] == flat
    table = np.zeros((len(flat), len(kept)), np.float32)
    rows = np.broadcast_to(np.arange(len(flat))[:, None], flat.shape)
    np.add.at(table, (rows[known], place[known]), 1.0)
    return table


def _words(array: Array) -> Array:
    from sklearn.feature_extraction.text import HashingVectorizer

    texts = [" ".join(_text(item) for item in np.ravel(row)) for row in array]
    found: Array = HashingVectorizer(n_features=MAX_VOCABULARY, alternate_sign=False).transform(texts).toarray()
    return found


def _text(item: Any) -> str:
    return item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)


Array = npt.NDArray[Any]
HELD_OUT = 0.25
MAX_TEST_ROWS = 5_000
MAX_TRAIN_VALUES = 10_000_000
MAX_TRAIN_ROWS = 20_000
MIN_ROWS = 20


@dataclass(frozen=True)
class HeldOut:
    """Which rows train and which are held back, and how predictions on them are scored."""

    output: str
    targets: Array
    scorer: Scorer
    train: Array
    test: Array

    @property
    def scale(self) -> TargetScale:
        """What the targets are."""
        return self.scorer.scale


def held_out(bound: Bound, architecture: Architecture, fit: FitSettings) -> HeldOut:
    """Splits the rows of the output that a network is scored by: the tail if `fit` says validation_split, else a stratified draw.

    Raises:
        BadInput: there are no inputs or targets, or too few rows.
    """
    names = [spec.name for spec in architecture.outputs]
    if bound.problem or not bound.inputs:
        raise BadInput(bound.problem or "The data: expected inputs, got none. Add them as x.")
    known = [name for name in names if name in bound.targets]
    if not known:
        raise BadInput(f"The data: expected targets for {names}, got none. Add them as y.")
    output, scorer = _scored_output(bound, architecture, fit, names, known)
    targets = bound.targets[output]
    rows = {len(array) for array in (*bound.inputs.values(), targets) if array.ndim}
    if len(rows) != 1 or min(rows) < MIN_ROWS:
        raise BadInput(
            f"The baselines: expected at least {MIN_ROWS} rows, the same number in each array, got {sorted(rows)}."
        )
    train, test = _split(scorer.scale, targets, fit.validation_split or 0.0)
    return HeldOut(output, targets, scorer, train, test)


def _scored_output(
    bound: Bound, architecture: Architecture, fit: FitSettings, names: list[str], known: list[str]
) -> tuple[str, Scorer]:
    """The output that stands for the network (the rule is the training's), with its scorer."""
    targets = {name: bound.targets[name] for name in known}
    losses, _ = losses_of_targets(architecture, fit, names, targets)
    setup = Setup(config=None, modern=True, weights=None, losses=tuple(losses.values()), y=tuple(targets.values()))
    scorer = Scorer.of(setup)
    return known[scorer.head], Scorer((scorer.scale,))


def compare_baselines(
    bound: Bound, architecture: Architecture, fit: FitSettings, time_s: float, report: Reporter | None = None
) -> BaselineEvidence:
    """Fits the baselines within about `time_s` seconds and scores them on the rows held back.

    Raises:
        BadInput: the data has no inputs, no targets, or too few rows.
    """
    split = held_out(bound, architecture, fit)
    notes: list[str] = []
    if split.scale.kind == "none":
        raise BadInput("The baselines: expected targets that are numbers, got text. Encode them.")
    train, test = split.train, split.test
    if not _one_a_row(split.scale, split.targets):
        notes.append("Only the plainest baseline was tried: the targets hold a label for each position of a row.")
        return BaselineEvidence(split.scorer.name, (), len(train), len(test), split.output, _index(test), tuple(notes))
    x_test, said = table_of(bound.inputs, architecture, test)
    notes += said
    most = int(min(MAX_TRAIN_ROWS, MAX_TRAIN_VALUES // max(1, x_test.shape[1])))
    if len(train) > most:
        notes.append(f"The baselines were trained on {most:,} of {len(train):,} rows.")
        train = np.sort(np.random.default_rng(0).choice(train, most, replace=False))
    y = split.targets[train]
    if y.dtype.kind == "f":
        train = train[np.isfinite(y).reshape(len(y), -1).all(axis=1)]
        test = test[np.isfinite(split.targets[test]).reshape(len(test), -1).all(axis=1)]
        x_test = table_of(bound.inputs, architecture, test)[0]
        y = split.targets[train]
    x, _ = table_of(bound.inputs, architecture, train)
    scores: list[Score] = []
    truth = split.targets[test]
    try:
        for found in fit_baselines(split.scale, x, y, x_test, time_s):
            if isinstance(found, str):
                notes.append(found)
                continue
            if report is not None:
                report("baseline", len(scores) / 3, found.model)
            notes += [found.note] if found.note else []
            scores.append(scored(found.model, split.scorer, truth, found.predictions, found.fit_s))
    except (ValueError, np.linalg.LinAlgError) as error:
        if not scores:
            raise StethoscopeError(f"The baselines could not be fitted: {error}"[:300]) from error
        notes.append(f"A baseline could not be fitted: {error}"[:300])
    return BaselineEvidence(
        metric=split.scorer.name,
        scores=tuple(scores),
        train_rows=len(train),
        test_rows=len(test),
        output=split.output,
        test_index=_index(test),
        skipped=tuple(notes),
    )


def _index(rows: Array) -> tuple[int, ...]:
    return tuple(int(row) for row in rows)


def _one_a_row(scale: TargetScale, targets: Array) -> bool:
    """Whether each row has one target (or one row of labels), not one for each of its positions."""
    if scale.kind in ("two-values", "class-numbers"):
        return targets.size == len(targets)
    if scale.kind in ("one-hot", "multi-hot"):
        return targets.ndim == 2
    return targets[:1].size <= 1_024


def _split(scale: TargetScale, targets: Array, share: float) -> tuple[Array, Array]:
    rows = len(targets)
    if share > 0:
        start = math.floor(rows * (1 - share))
        if 0 < start < rows:
            test = np.arange(start, rows)
            return np.arange(start), test[:: max(1, math.ceil(len(test) / MAX_TEST_ROWS))]
    random = np.random.default_rng(0)
    order = random.permutation(rows)
    if scale.kind in ("two-values", "class-numbers", "one-hot") and _one_a_row(scale, targets):
        labels = targets.argmax(axis=-1) if scale.kind == "one-hot" else targets.reshape(-1)
        order = order[np.argsort(labels[order], kind="stable")]
        # Every fourth row of each class: classes lie side by side now, in random order within.
        chosen = np.zeros(rows, bool)
        chosen[order[:: round(1 / HELD_OUT)]] = True
    else:
        chosen = np.zeros(rows, bool)
        chosen[order[: int(rows * HELD_OUT)]] = True
    test = np.flatnonzero(chosen)
    if len(test) > MAX_TEST_ROWS:
        test = np.sort(random.choice(test, MAX_TEST_ROWS, replace=False))
    return np.flatnonzero(~chosen), test

"""Loss and scores of a model as it stands, on a sample of the training rows and on the validation rows. Worker only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.evidence.training import Scores
from stethoscope.program.setup import Setup
from stethoscope.training.loop import Loop
from stethoscope.training.model import call
from stethoscope.training.skill import MAX_VALUES, SCORE_ROWS, Score, Scorer

Array = npt.NDArray[Any]
_CALL_VALUES = 4_000_000
"""Input values in one call at most."""
_MAX_CALL_ROWS = 512


class Evaluation:
    """Predicts in inference mode through a traced function."""

    def __init__(self, model: Any, modern: bool, loop: Loop) -> None:
        self._model, self._modern, self._loop = model, modern, loop
        self._functions: dict[Any, Callable[..., Any]] = {}
        self._scorers: dict[int, tuple[tuple[Array, ...], Scorer]] = {}
        self.last: Score | None = None
        """The score on training rows of the last call of `scores`, with recall by class."""

    def scores(self, setup: Setup) -> Scores:
        """Scores on at most 2,000 training rows (always the same) and 2,000 validation rows."""
        scorer = self.scorer(setup)
        x, y = _sample(list(setup.x.values()), list(setup.y))
        loss, score = self._measured(scorer, x, y)
        self.last = score
        if not setup.y_val or not setup.x_val:
            return Scores(loss, score.score, score.skill, distinct_predictions=score.distinct_predictions)
        x, y = _sample(list(setup.x_val.values()), list(setup.y_val))
        val_loss, val = self._measured(scorer, x, y)
        return Scores(loss, score.score, score.skill, val_loss, val.score, val.skill, score.distinct_predictions)

    def scorer(self, setup: Setup) -> Scorer:
        """The scorer of these targets; made once."""
        found = self._scorers.get(id(setup.y))
        if found is None or found[0] is not setup.y:
            found = self._scorers[id(setup.y)] = (setup.y, Scorer.of(setup))
        return found[1]

    def _measured(self, scorer: Scorer, x: Sequence[Array], y: Sequence[Array]) -> tuple[float, Score]:
        rows = len(x[0])
        per_row = max(1, sum(array[:1].size for array in x))
        step = int(max(1, min(_MAX_CALL_ROWS, _CALL_VALUES // per_row)))
        outputs: list[list[Array]] = []
        losses, counts, held = [], [], 0
        run = self._function(x, y)
        for begin in range(0, rows, step):
            part = [_plain(array[begin : begin + step]) for array in x]
            truth = [_plain(array[begin : begin + step]) for array in y]
            loss, found = run(part, truth)
            outputs.append([np.asarray(value) for value in found])
            losses.append(float(loss))
            counts.append(len(part[0]))
            held += sum(value.size for value in outputs[-1])
            if held >= MAX_VALUES:
                break
        joined = [np.concatenate(parts) for parts in zip(*outputs, strict=True)]
        done = sum(counts)
        mean = float(np.average(losses, weights=counts))
        return mean, scorer.scores([array[:done] for array in y], joined)

    def _function(self, x: Sequence[Array], y: Sequence[Array]) -> Callable[..., Any]:
        import tensorflow as tf

        def evaluated(part: list[Any], truth: list[Any]) -> tuple[Any, list[Any]]:
            outputs = call(self._model, self._modern, part, training=False)
            return self._loop.total_loss(truth, outputs, None), outputs

        if self._loop.how == "eager":
            return evaluated
        key = tuple((str(array.dtype), array.shape[1:]) for array in (*x, *y))
        if key not in self._functions:
            signature = [
                [tf.TensorSpec((None, *array.shape[1:]), _plain(array[:0]).dtype) for array in arrays]
                for arrays in (x, y)
            ]
            self._functions[key] = tf.function(
                evaluated, autograph=self._loop.how == "converted", input_signature=signature
            )
        return self._functions[key]


def _plain(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype in (np.float64, np.float16) else array


def _sample(x: list[Array], y: list[Array]) -> tuple[list[Array], list[Array]]:
    """The same rows at every call: all, or a fixed random choice in the order they have."""
    rows = len(x[0])
    if rows <= SCORE_ROWS:
        return x, y
    chosen = np.sort(np.random.default_rng(0).permutation(rows)[:SCORE_ROWS])
    return [array[chosen] for array in x], [array[chosen] for array in y]

"""The training loop inside one TensorFlow program: a stretch of mini-batches per call, exactly as `fit` trains. Worker only.

Which rows each step sees: `fit`'s order of mini-batches, a stretch of steps at a time.

Loss and scores of a model as it stands, on a sample of the training rows and on the validation rows. Worker only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.evidence.training import HeadScore, Scores
from stethoscope.program.setup import Setup
from stethoscope.training.instruments import StepStatistics
from stethoscope.training.model import as_fed, call, rows_at_once
from stethoscope.training.skill import MAX_VALUES, SCORE_ROWS, Score, Scorer


class Loop:
    """Steps of one model with one optimizer; traced once for each rank and type of data. Rows and batch size are free.

    Source: train_step of Keras 3.15 and tf_keras 2.21: gradients of the trainable variables of
    Σ loss_weight · loss(y, prediction) + Σ model.losses, with the model called in training mode.
    """

    def __init__(
        self, setup: Setup, model: Any, losses: Sequence[Any], optimizer: Any, statistics: StepStatistics
    ) -> None:
        self._modern, self._model, self._losses = setup.modern, model, list(losses)
        self._loss_weights = list(setup.loss_weights) or [1.0] * len(self._losses)
        self._optimizer, self._statistics = optimizer, statistics
        self._functions: dict[Any, Callable[..., Any]] = {}
        self.how = "graph"
        """"graph", "converted" (Python control flow turned into graph form) or "eager"."""

    def steps(
        self, x: Sequence[Any], y: Sequence[Any], weights: Any, stretch: Stretch, *, sample: bool
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
        """Trains on consecutive mini-batches.

        Args:
            x: one tensor per input, y: one per output, rows first.
            weights: one number per row, or None.
            stretch: which rows each step sees.
            sample: whether the statistics of the last step are wanted.

        Returns:
            The loss of each step, float32; the last step's statistics (see `StepStatistics`) or None.
        """
        import tensorflow as tf

        run = self._function(x, y, weights)
        arguments = [
            tf.constant(stretch.order),
            tf.constant(stretch.starts),
            tf.constant(stretch.stops),
            tf.constant(sample),
        ]
        found, statistics = run(list(x), list(y), [] if weights is None else [weights], *arguments)
        return np.asarray(found), np.asarray(statistics) if sample else None

    def total_loss(self, y: Sequence[Any], outputs: Sequence[Any], weights: Any) -> Any:
        """What `fit` reports as the loss of one batch."""
        import tensorflow as tf

        parts = [
            factor * loss(truth, output, sample_weight=weights)
            for factor, loss, truth, output in zip(self._loss_weights, self._losses, y, outputs, strict=False)
            if loss is not None
        ]
        parts.extend(tf.cast(part, tf.float32) for part in self._model.losses)
        return tf.add_n([tf.reshape(tf.cast(part, tf.float32), ()) for part in parts])

    def degrade(self) -> bool:
        """After a failure to trace: the next, slower way to run. Returns False when there is none left."""
        following = {"graph": "converted", "converted": "eager"}.get(self.how)
        if following is None:
            return False
        self.how = following
        self._functions.clear()
        return True

    def _function(self, x: Sequence[Any], y: Sequence[Any], weights: Any) -> Callable[..., Any]:
        import tensorflow as tf

        if self.how == "eager":
            return self._stretch
        key = (*((str(tensor.dtype), tuple(tensor.shape[1:])) for tensor in (*x, *y)), weights is None)
        if key not in self._functions:

            def free(tensor: Any) -> Any:
                return tf.TensorSpec((None, *tensor.shape[1:]), tensor.dtype)

            vector = tf.TensorSpec((None,), tf.int32)
            self._functions[key] = tf.function(
                self._stretch,
                autograph=self.how == "converted",
                input_signature=[
                    [free(tensor) for tensor in x],
                    [free(tensor) for tensor in y],
                    [] if weights is None else [free(weights)],
                    vector,
                    vector,
                    vector,
                    tf.TensorSpec((), tf.bool),
                ],
            )
        return self._functions[key]

    def _stretch(
        self, x: list[Any], y: list[Any], weights: list[Any], order: Any, starts: Any, stops: Any, sample: Any
    ) -> tuple[Any, Any]:
        import tensorflow as tf

        count = tf.shape(starts)[0]
        losses = tf.TensorArray(tf.float32, size=count, element_shape=())

        def step(index: Any, losses: Any, statistics: Any) -> tuple[Any, Any, Any]:
            rows = order[starts[index] : stops[index]]
            batch = [tf.gather(tensor, rows) for tensor in x]
            truth = [tf.gather(tensor, rows) for tensor in y]
            given = tf.gather(weights[0], rows) if weights else None
            wanted = tf.logical_and(sample, tf.equal(index, count - 1))
            loss, statistics = self._one(batch, truth, given, wanted, statistics)
            return index + 1, losses.write(index, loss), statistics

        _, losses, statistics = tf.while_loop(
            lambda index, *_: index < count,
            step,
            (tf.constant(0), losses, self._statistics.nothing()),
            parallel_iterations=1,
        )
        return losses.stack(), statistics

    def _one(self, batch: list[Any], truth: list[Any], weights: Any, wanted: Any, statistics: Any) -> tuple[Any, Any]:
        import tensorflow as tf

        variables = self._model.trainable_variables
        if not variables:  # `fit` goes through the rows all the same
            outputs = call(self._model, self._modern, batch, training=True)
            return self.total_loss(truth, outputs, weights), statistics
        with tf.GradientTape() as tape:
            outputs = call(self._model, self._modern, batch, training=True)
            loss = self.total_loss(truth, outputs, weights)
            scale = getattr(self._optimizer, "scale_loss", None)
            scaled = scale(loss) if scale is not None else loss
        gradients = tape.gradient(scaled, variables)
        before = self._statistics.before(variables, wanted)
        self._optimizer.apply_gradients(list(zip(gradients, variables, strict=True)))
        return loss, self._statistics.after(variables, gradients, before, wanted, statistics)


@dataclass(frozen=True)
class Stretch:
    """Consecutive steps: step k sees rows `order[starts[k]:stops[k]]`."""

    order: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    stops: npt.NDArray[np.int32]

    @property
    def sizes(self) -> npt.NDArray[Any]:
        """Rows of each step."""
        return self.stops - self.starts


class Batches:
    """An endless sequence of mini-batches: all rows once per epoch, the last batch as small as it comes.

    Source: keras.Model.fit keeps the partial last batch and shuffles anew before each epoch.
    """

    def __init__(self, rows: int, batch_size: int, *, shuffle: bool, seed: int) -> None:
        self.rows, self.batch_size, self.shuffle = rows, max(1, min(batch_size, rows)), shuffle
        self.steps_per_epoch = max(1, math.ceil(rows / self.batch_size))
        self.step = 0
        self._random = np.random.default_rng(seed)
        self._order = self._epoch()

    def take(self, count: int) -> Stretch:
        """The next `count` steps."""
        orders: list[npt.NDArray[np.int32]] = []
        starts: list[int] = []
        stops: list[int] = []
        offset = 0
        while count > 0:
            place = self.step % self.steps_per_epoch
            if place == 0 and self.step > 0:
                self._order = self._epoch()
            steps = min(count, self.steps_per_epoch - place)
            first, last = place * self.batch_size, min(self.rows, (place + steps) * self.batch_size)
            orders.append(self._order[first:last])
            begins = range(offset, offset + last - first, self.batch_size)
            starts.extend(begins)
            stops.extend(min(begin + self.batch_size, offset + last - first) for begin in begins)
            offset += last - first
            self.step += steps
            count -= steps
        return Stretch(np.concatenate(orders), np.array(starts, np.int32), np.array(stops, np.int32))

    def _epoch(self) -> npt.NDArray[np.int32]:
        order = np.arange(self.rows, dtype=np.int32)
        if self.shuffle:
            self._random.shuffle(order)
        return order


Array = npt.NDArray[Any]
_CALL_VALUES = 4_000_000
"""Input values in one call at most."""
_MAX_CALL_ROWS = 512


def _heads(trained: Sequence[Score | None], held_out: Sequence[Score | None] | None) -> tuple[HeadScore, ...]:
    """Each of several outputs on training rows and, where there are some, on validation rows."""
    nothing = Score(math.nan, math.nan)
    known = [score or nothing for score in trained]
    if held_out is None:
        return tuple(HeadScore(score.score, score.skill) for score in known)
    pairs = zip(known, [score or nothing for score in held_out], strict=True)
    return tuple(HeadScore(score.score, score.skill, val.score, val.skill) for score, val in pairs)


class Evaluation:
    """Predicts in inference mode through a traced function."""

    def __init__(self, model: Any, modern: bool, loop: Loop) -> None:
        self._model, self._modern, self._loop = model, modern, loop
        self._functions: dict[Any, Callable[..., Any]] = {}
        self._scorers: dict[int, tuple[tuple[Array, ...], Scorer]] = {}
        self._most_rows = _MAX_CALL_ROWS
        self.last: Score | None = None
        """The score on training rows of the last call of `scores`, with recall by class."""

    def scores(self, setup: Setup) -> Scores:
        """Scores on at most 2,000 training rows (always the same) and 2,000 validation rows."""
        scorer = self.scorer(setup)
        self._most_rows = rows_at_once(setup, self._model, _MAX_CALL_ROWS)
        x, y = _sample(list(setup.x.values()), list(setup.y))
        loss, score = self._measured(scorer, x, y)
        self.last = score
        distinct = score.distinct_predictions
        if not setup.y_val or not setup.x_val:
            return Scores(
                loss, score.score, score.skill, distinct_predictions=distinct, heads=_heads(score.heads, None)
            )
        x, y = _sample(list(setup.x_val.values()), list(setup.y_val))
        val_loss, val = self._measured(scorer, x, y)
        heads = _heads(score.heads, val.heads)
        return Scores(loss, score.score, score.skill, val_loss, val.score, val.skill, distinct, heads)

    def scorer(self, setup: Setup) -> Scorer:
        """The scorer of these targets; made once."""
        found = self._scorers.get(id(setup.y))
        if found is None or found[0] is not setup.y:
            found = self._scorers[id(setup.y)] = (setup.y, Scorer.of(setup))
        return found[1]

    def _measured(self, scorer: Scorer, x: Sequence[Array], y: Sequence[Array]) -> tuple[float, Score]:
        rows = len(x[0])
        per_row = max(1, sum(array[:1].size for array in x))
        step = min(int(max(1, min(_MAX_CALL_ROWS, _CALL_VALUES // per_row))), self._most_rows)
        outputs: list[list[Array]] = []
        losses, counts, held = [], [], 0
        run = self._function(x, y)
        for begin in range(0, rows, step):
            part = [as_fed(array[begin : begin + step]) for array in x]
            truth = [as_fed(array[begin : begin + step]) for array in y]
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
                [tf.TensorSpec((None, *array.shape[1:]), as_fed(array[:0]).dtype) for array in arrays]
                for arrays in (x, y)
            ]
            self._functions[key] = tf.function(
                evaluated, autograph=self._loop.how == "converted", input_signature=signature
            )
        return self._functions[key]


def _sample(x: list[Array], y: list[Array]) -> tuple[list[Array], list[Array]]:
    """The same rows at every call: all, or a fixed random choice in the order they have."""
    rows = len(x[0])
    if rows <= SCORE_ROWS:
        return x, y
    chosen = np.sort(np.random.default_rng(0).permutation(rows)[:SCORE_ROWS])
    return [array[chosen] for array in x], [array[chosen] for array in y]

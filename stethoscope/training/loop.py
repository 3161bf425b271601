"""The training loop inside one TensorFlow program: a stretch of mini-batches per call, exactly as `fit` trains. Worker only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.program.setup import Setup
from stethoscope.training.batches import Stretch
from stethoscope.training.instruments import StepStatistics
from stethoscope.training.model import call


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

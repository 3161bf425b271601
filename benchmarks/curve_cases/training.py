"""One training, told in a few words and really done with Keras."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.curve_cases.material import BINARY, CLASSES, VALUES, Material, Rows, Spoil
from benchmarks.curve_cases.networks import Network

Writer = Callable[[Path], Sequence[Any]]
"""Makes the callbacks that write the log into a folder; see `writers`."""
Schedule = Callable[[], Any]
"""Makes a Keras learning-rate schedule."""


@dataclass(frozen=True)
class Training:
    """What is trained, and how. `loss` and `last` layer follow from the task where nothing is said.

    Attributes:
        rows: makes the material from the seed.
        network: builds the model for it.
        optimizer: a Keras name; `options` are its other arguments.
        rate: a number, or what makes a schedule.
        spoil: what happens to the rows before training.
        callbacks: makes those that change the training (not its log), anew for each training.
        metric: whether accuracy (or the absolute error) is measured beside the loss.
    """

    rows: Rows
    network: Network
    optimizer: str = "Adam"
    rate: float | Schedule = 1e-3
    epochs: int = 20
    batch_size: int = 32
    loss: str = ""
    spoil: Spoil | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    callbacks: Callable[[], Sequence[Any]] = list
    metric: bool = True
    validated: bool = True
    shuffled: bool = True

    def but(self, **changes: Any) -> Training:
        """The same with other settings."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Curves:
    """What Keras said while training, straight from it: no log was read. One value per epoch, or per point of a loop."""

    name: str
    loss: tuple[float, ...]
    val_loss: tuple[float, ...] = ()
    metric: tuple[float, ...] = ()
    """Accuracy (higher is better) or mean absolute error (lower is better)."""
    val_metric: tuple[float, ...] = ()
    task: str = CLASSES
    seconds: tuple[float, ...] = ()
    """When each loss was there, seconds since the training began."""


def material_of(training: Training, seed: int) -> Material:
    """The rows as they are trained on."""
    made = training.rows(seed)
    return training.spoil(made, np.random.default_rng(seed + 1)) if training.spoil else made


def compiled(training: Training, material: Material) -> Any:
    """A fresh model, ready for `fit`."""
    import keras

    model = training.network(material)
    rate = training.rate() if callable(training.rate) else training.rate
    optimizer = getattr(keras.optimizers, training.optimizer)(learning_rate=rate, **training.options)
    usual = {CLASSES: "sparse_categorical_crossentropy", BINARY: "binary_crossentropy", VALUES: "mse"}[material.task]
    metrics = ["mae" if material.task == VALUES else "accuracy"] if training.metric else []
    model.compile(optimizer, training.loss or usual, metrics=metrics)
    return model


def seeded(seed: int) -> None:
    """Forgets earlier models and makes everything random follow from `seed`."""
    import keras

    keras.utils.clear_session()
    keras.utils.set_random_seed(seed)


def fit(
    training: Training,
    seed: int,
    log: Sequence[Any] = (),
    *,
    name: str = "",
    model: Any = None,
    first_epoch: int = 0,
    material: Material | None = None,
) -> tuple[Any, Curves]:
    """Trains with `model.fit`; the callbacks `log` write.

    Args:
        training: what to do.
        seed: of rows, weights and order.
        log: callbacks of a writer.
        name: of the curves.
        model: goes on with this one instead of a fresh one.
        first_epoch: number of the first epoch, for a training that goes on.
        material: rows to use instead of the training's own.

    Returns:
        The trained model, and its curves.
    """
    import time

    import keras

    if model is None:
        seeded(seed)
    rows = material_of(training, seed) if material is None else material
    trained = compiled(training, rows) if model is None else model
    times: list[float] = []
    began = time.monotonic()
    clock = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: times.append(time.monotonic() - began))
    history = trained.fit(
        rows.x,
        rows.y,
        batch_size=training.batch_size,
        epochs=training.epochs,
        initial_epoch=first_epoch,
        validation_data=(rows.held_x, rows.held_y) if training.validated else None,
        shuffle=training.shuffled,
        callbacks=[*training.callbacks(), *log, clock],
        verbose=0,
    ).history
    score = "mae" if rows.task == VALUES else "accuracy"
    return trained, Curves(
        name,
        *(tuple(history.get(key, ())) for key in ("loss", "val_loss", score, f"val_{score}")),
        rows.task,
        tuple(times),
    )


def loop(
    training: Training, seed: int, folder: Path, *, name: str = "", every: int = 1, validate_every: int = 50
) -> Curves:
    """Trains in a loop of one's own, with `tf.summary`: the loss of single batches, now and then that of validation.

    Args:
        training: what to do; its callbacks are not called.
        seed: of rows, weights and order.
        folder: where the event file goes.
        name: of the curves.
        every: steps between two points of the loss.
        validate_every: steps between two validations.
    """
    import tensorflow as tf

    seeded(seed)
    rows = material_of(training, seed)
    model = compiled(training, rows)
    optimizer = model.optimizer
    measure = tf.keras.losses.get(model.loss)

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(measure(y, model(x, training=True))) + tf.add_n([*model.losses, 0.0])
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss, tf.linalg.global_norm(gradients)

    @tf.function
    def held(x: Any, y: Any) -> Any:
        return tf.reduce_mean(measure(y, model(x, training=False)))

    targets = rows.y if rows.y.ndim > 1 or rows.task == CLASSES else rows.y.reshape(-1, 1)
    held_targets = rows.held_y if rows.held_y.ndim > 1 or rows.task == CLASSES else rows.held_y.reshape(-1, 1)
    pipeline = tf.data.Dataset.from_tensor_slices((rows.x, targets))
    if training.shuffled:
        pipeline = pipeline.shuffle(len(rows.x), seed=seed)
    losses, validations, number = [], [], 0
    writer = tf.summary.create_file_writer(str(folder))
    with writer.as_default():
        for _ in range(training.epochs):
            for x, y in pipeline.batch(training.batch_size, drop_remainder=True):
                loss, norm = step(x, y)
                if number % every == 0:
                    tf.summary.scalar("train/loss", loss, step=number)
                    tf.summary.scalar("train/gradient_norm", norm, step=number)
                    tf.summary.scalar("train/learning_rate", optimizer.learning_rate, step=number)
                    losses.append(float(loss))
                if training.validated and number % validate_every == 0:
                    validations.append(float(held(rows.held_x, held_targets)))
                    tf.summary.scalar("validation/loss", validations[-1], step=number)
                number += 1
    writer.close()
    return Curves(name, tuple(losses), tuple(validations), task=rows.task)

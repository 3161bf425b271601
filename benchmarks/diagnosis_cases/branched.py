"""Programs whose layers branch: several outputs, skipped connections, shared parts."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, optimizers

from benchmarks.diagnosis_cases import rows
from benchmarks.diagnosis_cases.case import DEV, HELD_OUT, Case, Program, case, program


def _compiled(model: keras.Model, arrays: dict[str, Any], losses: Any, metrics: Any, **fit: Any) -> Program:
    model.compile(optimizer="adam", loss=losses, metrics=metrics)
    return Program(model, arrays, fit)


def _kind_and_size(faulty: bool, random: np.random.Generator) -> Program:
    x, kinds = rows.clusters(random, 1200, 12, 4)
    sizes = rows.standardised(x[:, 0] * x[:, 1] + x[:, 2])
    start = keras.Input((12,), name="measured")
    hidden = layers.Dense(48, "relu")(layers.Dense(64, "relu")(start))
    kind = layers.Dense(4, "softmax", name="kind")(hidden)
    size = layers.Dense(1, "sigmoid" if faulty else None, name="size")(hidden)
    losses = {"kind": "sparse_categorical_crossentropy", "size": "mse"}
    arrays = {"measured": x, "kind": kinds, "size": sizes}
    metrics = {"kind": "accuracy", "size": "mae"}
    return _compiled(keras.Model(start, [kind, size]), arrays, losses, metrics, epochs=30, batch_size=32)


def _one_loss_for_both(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.moons(random, 1000)
    far = rows.standardised(np.hypot(x[:, 0], x[:, 1]))
    start = keras.Input((2,), name="place")
    hidden = layers.Dense(32, "relu")(layers.Dense(32, "relu")(start))
    side = layers.Dense(1, "sigmoid", name="side")(hidden)
    distance = layers.Dense(1, name="distance")(hidden)
    losses = {"side": "binary_crossentropy", "distance": "binary_crossentropy" if faulty else "mse"}
    metrics = {"side": "accuracy", "distance": "accuracy" if faulty else "mae"}
    arrays = {"place": x, "side": labels, "distance": far}
    return _compiled(keras.Model(start, [side, distance]), arrays, losses, metrics, epochs=30, batch_size=32)


def _residual_raw(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.images(random, 800, 32, 6)
    start = keras.Input((32, 32, 3))
    stream = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(start)
    for _ in range(3):
        inner = layers.Conv2D(16, 3, padding="same", activation="relu")(stream)
        stream = layers.Add()([stream, layers.Conv2D(16, 3, padding="same")(inner)])
    pooled = layers.GlobalAveragePooling2D()(layers.Activation("relu")(stream))
    model = keras.Model(start, layers.Dense(6, "softmax")(pooled))
    data, optimizer = (x if faulty else x / 255, labels), optimizers.SGD(0.02, momentum=0.9)
    return program(model, data, "sparse_categorical_crossentropy", optimizer, epochs=12, batch_size=32)


def _residual_dense(faulty: bool, random: np.random.Generator) -> Program:
    start = keras.Input((8,))
    stream = layers.Dense(48, "relu")(start)
    for _ in range(3):
        inner = layers.Dense(48, "relu")(layers.LayerNormalization()(stream))
        stream = layers.Add()([stream, layers.Dense(48)(inner)])
    model = keras.Model(start, layers.Dense(1)(stream))
    optimizer = optimizers.Adam(0.3 if faulty else 0.001)
    return program(model, rows.smooth(random, 1200), "mse", optimizer, "mae", epochs=60, batch_size=32)


CASES: tuple[Case, ...] = (
    case(
        "kind-and-size", "sigmoid for the second output, whose targets are around 0", "activation", _kind_and_size, DEV
    ),
    case(
        "one-loss-for-both",
        "binary cross-entropy and accuracy for a distance",
        "loss metric",
        _one_loss_for_both,
        HELD_OUT,
        neutral="activation",
    ),
    case(
        "residual-raw-pixels",
        "pixels from 0 to 255 into a residual network",
        "preprocessing",
        _residual_raw,
        HELD_OUT,
        neutral="learning_rate numerical",
    ),
    case(
        "residual-rate",
        "Adam with a learning rate of 0.3 in a residual network",
        "learning_rate",
        _residual_dense,
        DEV,
        neutral="numerical",
    ),
)

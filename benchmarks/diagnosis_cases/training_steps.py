"""Programs whose learning rate, optimizer, batch size, epochs or regularisation keep them from learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import layers, optimizers, regularizers

from benchmarks.diagnosis_cases import rows
from benchmarks.diagnosis_cases.case import DEV, HELD_OUT, Case, Program, case, net, program


def _regressor(features: int = 8) -> Any:
    return net((features,), layers.Dense(64, "relu"), layers.Dense(32, "relu"), layers.Dense(1))


def _classifier(features: int, classes: int) -> Any:
    return net((features,), layers.Dense(48, "relu"), layers.Dense(48, "relu"), layers.Dense(classes, "softmax"))


def _small_cnn() -> Any:
    return net(
        (28, 28, 1),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, "relu"),
        layers.Dense(10, "softmax"),
    )


def _digit_images(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    x, labels = rows.digits(random, count)
    return x[..., None] / 255, labels


def _adam_one(faulty: bool, random: np.random.Generator) -> Program:
    optimizer = optimizers.Adam(1.0 if faulty else 0.001)
    return program(_regressor(), rows.smooth(random, 1200), "mse", optimizer, "mae", epochs=40, batch_size=32)


def _adam_tiny(faulty: bool, random: np.random.Generator) -> Program:
    optimizer = optimizers.Adam(1e-6 if faulty else 0.001)
    return program(_regressor(), rows.smooth(random, 1200), "mse", optimizer, "mae", epochs=40, batch_size=32)


def _sgd_five(faulty: bool, random: np.random.Generator) -> Program:
    optimizer = optimizers.SGD(5.0 if faulty else 0.1)
    data = rows.clusters(random, 1200, 12, 6)
    return program(_classifier(12, 6), data, "sparse_categorical_crossentropy", optimizer, epochs=30, batch_size=32)


def _rmsprop_half(faulty: bool, random: np.random.Generator) -> Program:
    optimizer = optimizers.RMSprop(0.5 if faulty else 0.001)
    data = _digit_images(random, 1200)
    return program(_small_cnn(), data, "sparse_categorical_crossentropy", optimizer, epochs=8, batch_size=32)


def _sgd_tiny(faulty: bool, random: np.random.Generator) -> Program:
    optimizer = optimizers.SGD(1e-5 if faulty else 0.05, momentum=0.9)
    data = _digit_images(random, 1200)
    return program(_small_cnn(), data, "sparse_categorical_crossentropy", optimizer, epochs=8, batch_size=32)


def _decay_at_once(faulty: bool, random: np.random.Generator) -> Program:
    schedule = optimizers.schedules.ExponentialDecay(0.01, decay_steps=1 if faulty else 1000, decay_rate=0.5)
    data = rows.clusters(random, 1200, 12, 6)
    optimizer = optimizers.Adam(schedule)
    return program(_classifier(12, 6), data, "sparse_categorical_crossentropy", optimizer, epochs=30, batch_size=32)


def _adadelta(faulty: bool, random: np.random.Generator) -> Program:
    optimizer = optimizers.Adadelta() if faulty else optimizers.Adam()
    data = _digit_images(random, 1500)
    return program(_small_cnn(), data, "sparse_categorical_crossentropy", optimizer, epochs=12, batch_size=128)


def _adagrad(faulty: bool, random: np.random.Generator) -> Program:
    optimizer = optimizers.Adagrad() if faulty else optimizers.Adam()
    return program(_regressor(), rows.smooth(random, 1200), "mse", optimizer, "mae", epochs=40, batch_size=64)


def _one_epoch(faulty: bool, random: np.random.Generator) -> Program:
    data = _digit_images(random, 1200)
    epochs = 1 if faulty else 15
    return program(_small_cnn(), data, "sparse_categorical_crossentropy", "adam", epochs=epochs, batch_size=128)


def _few_epochs_tabular(faulty: bool, random: np.random.Generator) -> Program:
    data = rows.clusters(random, 600, 12, 6)
    epochs = 2 if faulty else 60
    return program(_classifier(12, 6), data, "sparse_categorical_crossentropy", "adam", epochs=epochs, batch_size=64)


def _batch_all(faulty: bool, random: np.random.Generator) -> Program:
    data = rows.clusters(random, 2400, 12, 6)
    size = 2400 if faulty else 32
    return program(_classifier(12, 6), data, "sparse_categorical_crossentropy", "adam", epochs=10, batch_size=size)


def _batch_one_fast(faulty: bool, random: np.random.Generator) -> Program:
    data = rows.clusters(random, 600, 12, 6, spread=1.5)
    optimizer = optimizers.SGD(0.1, momentum=0.9)
    size = 1 if faulty else 64
    return program(_classifier(12, 6), data, "sparse_categorical_crossentropy", optimizer, epochs=15, batch_size=size)


def _normalised_batch_one(faulty: bool, random: np.random.Generator) -> Program:
    model = net(
        (12,),
        layers.Dense(48, use_bias=False),
        layers.BatchNormalization(),
        layers.Activation("relu"),
        layers.Dense(6, "softmax"),
    )
    data = rows.clusters(random, 600, 12, 6)
    size = 1 if faulty else 32
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=20, batch_size=size)


def _dropout_ninety(faulty: bool, random: np.random.Generator) -> Program:
    rate = 0.95 if faulty else 0.2
    model = net(
        (12,),
        layers.Dense(48, "relu"),
        layers.Dropout(rate),
        layers.Dense(48, "relu"),
        layers.Dropout(rate),
        layers.Dense(6, "softmax"),
    )
    data = rows.clusters(random, 1200, 12, 6)
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=30, batch_size=32)


def _dropout_last(faulty: bool, random: np.random.Generator) -> Program:
    last = [layers.Dense(1), *([layers.Dropout(0.5)] if faulty else [])]
    model = net((8,), layers.Dense(64, "relu"), layers.Dense(32, "relu"), *last)
    return program(model, rows.smooth(random, 1200), "mse", "adam", "mae", epochs=40, batch_size=32)


def _heavy_penalty(faulty: bool, random: np.random.Generator) -> Program:
    def dense(units: int, activation: str | None) -> layers.Dense:
        return layers.Dense(units, activation, kernel_regularizer=regularizers.L2(1.0 if faulty else 1e-4))

    model = net((12,), dense(48, "relu"), dense(48, "relu"), dense(6, "softmax"))
    data = rows.clusters(random, 1200, 12, 6)
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=30, batch_size=32)


CASES: tuple[Case, ...] = (
    case("adam-rate-one", "Adam with a learning rate of 1", "learning_rate", _adam_one, DEV, neutral="numerical"),
    case(
        "adam-rate-tiny",
        "Adam with a learning rate of 0.000001",
        "learning_rate",
        _adam_tiny,
        HELD_OUT,
        neutral="epochs",
    ),
    case("sgd-rate-five", "SGD with a learning rate of 5", "learning_rate", _sgd_five, HELD_OUT, neutral="numerical"),
    case(
        "rmsprop-rate-half",
        "RMSprop with a learning rate of 0.5",
        "learning_rate",
        _rmsprop_half,
        DEV,
        neutral="numerical",
    ),
    case("sgd-rate-tiny", "SGD with a learning rate of 0.00001", "learning_rate", _sgd_tiny, DEV, neutral="epochs"),
    case(
        "decay-at-once",
        "learning rate halved at every step",
        "learning_rate optimizer",
        _decay_at_once,
        HELD_OUT,
        neutral="epochs",
    ),
    case(
        "adadelta-default",
        "Adadelta as it comes, 1000 times slower than in Keras 1",
        "optimizer learning_rate",
        _adadelta,
        DEV,
        neutral="epochs",
    ),
    case("adagrad-default", "Adagrad as it comes", "optimizer learning_rate", _adagrad, HELD_OUT, neutral="epochs"),
    case("one-epoch", "one epoch of ten steps", "epochs", _one_epoch, HELD_OUT, neutral="batch_size"),
    case("few-epochs-tabular", "two epochs of ten steps", "epochs", _few_epochs_tabular, DEV, neutral="batch_size"),
    case(
        "batch-all",
        "all rows in one batch, ten updates in all",
        "batch_size epochs",
        _batch_all,
        DEV,
        neutral="learning_rate",
    ),
    case(
        "batch-one-fast",
        "one row a step with large, heavy steps",
        "batch_size learning_rate",
        _batch_one_fast,
        HELD_OUT,
        neutral="numerical optimizer",
    ),
    case(
        "normalised-batch-one",
        "batch normalisation over batches of one row",
        "batch_size architecture",
        _normalised_batch_one,
        DEV,
    ),
    case(
        "dropout-ninety-five", "dropout of 95 % twice", "regularisation", _dropout_ninety, DEV, neutral="architecture"
    ),
    case("dropout-last", "dropout on the output", "regularisation architecture", _dropout_last, HELD_OUT),
    case("heavy-penalty", "weight penalty that outweighs the loss", "regularisation", _heavy_penalty, HELD_OUT),
)

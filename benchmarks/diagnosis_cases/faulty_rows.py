"""Programs whose rows are at fault: scale, labels, order, gaps."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, optimizers

from benchmarks.diagnosis_cases import rows
from benchmarks.diagnosis_cases.case import DEV, HELD_OUT, Case, Program, case, net, program


def _regressor(features: int) -> Any:
    return net((features,), layers.Dense(64, "relu"), layers.Dense(32, "relu"), layers.Dense(1))


def _classifier(features: int, classes: int) -> Any:
    return net((features,), layers.Dense(32, "relu"), layers.Dense(32, "relu"), layers.Dense(classes, "softmax"))


def _yes_no(features: int) -> Any:
    return net((features,), layers.Dense(32, "relu"), layers.Dense(16, "relu"), layers.Dense(1, "sigmoid"))


def _raw_prices(faulty: bool, random: np.random.Generator) -> Program:
    x, y = rows.houses(random, 1000)
    data = (x, y) if faulty else (rows.standardised(x), rows.standardised(y))
    return program(_regressor(6), data, "mse", "adam", "mae", epochs=40, batch_size=32)


def _raw_inputs_sgd(faulty: bool, random: np.random.Generator) -> Program:
    x, y = rows.houses(random, 1000)
    data = (x if faulty else rows.standardised(x), rows.standardised(y))
    return program(_regressor(6), data, "mse", optimizers.SGD(0.01), "mae", epochs=40, batch_size=32)


def _raw_customers_tanh(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.customers(random, 1500)
    model = net((6,), layers.Dense(24, "tanh"), layers.Dense(12, "tanh"), layers.Dense(1, "sigmoid"))
    data = (x if faulty else rows.standardised(x), labels)
    return program(model, data, "binary_crossentropy", "adam", epochs=40, batch_size=32)


def _raw_target(faulty: bool, random: np.random.Generator) -> Program:
    x, y = rows.houses(random, 1000)
    data = (rows.standardised(x), y if faulty else rows.standardised(y))
    return program(_regressor(6), data, "mean_squared_error", optimizers.SGD(0.01), "mae", epochs=40, batch_size=32)


def _huge_column(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.clusters(random, 1000, 12, 4)
    if faulty:
        x = np.concatenate([x, random.integers(1_000_000, 1_001_000, (1000, 1))], 1).astype("float32")
    return program(
        _classifier(x.shape[1], 4), (x, labels), "sparse_categorical_crossentropy", "adam", epochs=25, batch_size=32
    )


def _gaps(faulty: bool, random: np.random.Generator) -> Program:
    x, y = rows.smooth(random, 1200)
    if faulty:
        x[random.integers(0, 1200, 30), random.integers(0, 8, 30)] = np.nan
    return program(_regressor(8), (x, y), "mse", "adam", "mae", epochs=40, batch_size=32)


def _infinite_target(faulty: bool, random: np.random.Generator) -> Program:
    x, y = rows.houses(random, 1000)
    y = y / y.max()
    if faulty:
        y[random.integers(0, 1000, 8)] = 0
    with np.errstate(divide="ignore"):
        target = np.log(y)
    known = target[np.isfinite(target)]
    data = (rows.standardised(x), ((target - known.mean()) / known.std()).astype("float32"))
    return program(_regressor(6), data, "mse", "adam", "mae", epochs=40, batch_size=32)


def _from_one(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.clusters(random, 1000, 12, 5)
    data = (x, labels + 1 if faulty else labels)
    return program(_classifier(12, 5), data, "sparse_categorical_crossentropy", "adam", epochs=25, batch_size=32)


def _minus_one(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.moons(random, 1000)
    data = (x, (labels * 2 - 1 if faulty else labels).astype("float32"))
    return program(_yes_no(2), data, "binary_crossentropy", "adam", epochs=40, batch_size=32)


def _zero_or_255(faulty: bool, random: np.random.Generator) -> Program:
    x = rows.drawings(random, 100, 5)[0]
    masks = (x > 0.5).astype("float32") * (255 if faulty else 1)
    x, masks = rows.shuffled(random, x, masks)
    model = net(
        (28, 28, 1),
        layers.Conv2D(8, 3, padding="same", activation="relu"),
        layers.Conv2D(8, 3, padding="same", activation="relu"),
        layers.Conv2D(1, 1, activation="sigmoid"),
    )
    return program(model, (x, masks), "binary_crossentropy", "adam", epochs=12, batch_size=16)


def _one_hot_sparse(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.clusters(random, 1000, 12, 5)
    data = (x, rows.one_hot(labels, 5) if faulty else labels)
    return program(_classifier(12, 5), data, "sparse_categorical_crossentropy", "adam", epochs=25, batch_size=32)


def _numbers_categorical(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.clusters(random, 1000, 12, 5)
    data = (x, labels if faulty else rows.one_hot(labels, 5))
    return program(_classifier(12, 5), data, "categorical_crossentropy", "adam", epochs=25, batch_size=32)


def _shuffled_apart(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.clusters(random, 1200, 12, 4)
    data = (random.permutation(x), random.permutation(labels)) if faulty else (x, labels)
    return program(_classifier(12, 4), data, "sparse_categorical_crossentropy", "adam", epochs=25, batch_size=32)


def _sorted_tail(faulty: bool, random: np.random.Generator) -> Program:
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    order = np.argsort(bunch.target, kind="stable") if faulty else random.permutation(len(bunch.target))
    data = (rows.standardised(bunch.data)[order], bunch.target[order])
    return program(_yes_no(30), data, "binary_crossentropy", "adam", epochs=25, batch_size=16, validation_split=0.3)


def _sorted_unshuffled(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.digits(random, 1500)
    order = np.argsort(labels, kind="stable") if faulty else random.permutation(1500)
    model = net((28, 28), layers.Flatten(), layers.Dense(64, "relu"), layers.Dense(10, "softmax"))
    return program(
        model,
        (x[order] / 255, labels[order]),
        "sparse_categorical_crossentropy",
        optimizers.SGD(0.1),
        epochs=15,
        batch_size=32,
        shuffle=False,
    )


def _rare_class(faulty: bool, random: np.random.Generator) -> Program:
    count = 2400
    labels = (random.random(count) < 0.015).astype("int64") if faulty else random.integers(0, 2, count)
    x = random.normal(0, 1, (count, 10)) + labels[:, None] * np.linspace(0, 0.7, 10)
    return program(_yes_no(10), (x, labels), "binary_crossentropy", "adam", epochs=15, batch_size=64)


def _two_scales(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.clusters(random, 1200, 12, 4)
    incomes = random.lognormal(12, 0.8, (1200, 3)).astype("float32")
    left, right = keras.Input((12,), name="measured"), keras.Input((3,), name="income")
    joined = layers.Concatenate()([layers.Dense(24, "relu")(left), layers.Dense(8, "relu")(right)])
    model = keras.Model([left, right], layers.Dense(4, "softmax")(layers.Dense(24, "relu")(joined)))
    built = program(model, (x, labels), "sparse_categorical_crossentropy", "adam", epochs=20, batch_size=32)
    arrays = {"measured": x, "income": incomes if faulty else rows.standardised(np.log(incomes)), "y": labels}
    return Program(built.model, arrays, built.fit)


CASES: tuple[Case, ...] = (
    case("raw-prices", "neither columns nor prices scaled", "preprocessing", _raw_prices, HELD_OUT),
    case(
        "raw-inputs-sgd",
        "columns up to 60,000 with SGD",
        "preprocessing",
        _raw_inputs_sgd,
        DEV,
        neutral="learning_rate numerical",
    ),
    case(
        "raw-customers-tanh",
        "raw columns saturate tanh",
        "preprocessing",
        _raw_customers_tanh,
        HELD_OUT,
        neutral="activation",
    ),
    case(
        "raw-target-sgd",
        "prices not scaled, with SGD",
        "preprocessing",
        _raw_target,
        HELD_OUT,
        neutral="learning_rate numerical",
    ),
    case("huge-column", "an identifier of a million among scaled columns", "preprocessing data", _huge_column, DEV),
    case("gaps", "NaN in 30 of the inputs", "data numerical preprocessing", _gaps, DEV),
    case(
        "infinite-target",
        "the logarithm of a target that is 0",
        "data numerical preprocessing labels",
        _infinite_target,
        HELD_OUT,
    ),
    case("labels-from-one", "classes numbered from 1", "labels architecture", _from_one, DEV),
    case("labels-minus-one", "labels -1 and 1 for a sigmoid", "labels loss activation", _minus_one, HELD_OUT),
    case("masks-255", "masks of 0 and 255 for a sigmoid", "labels preprocessing", _zero_or_255, HELD_OUT),
    case("one-hot-sparse", "one-hot labels with a sparse loss", "labels loss", _one_hot_sparse, DEV),
    case(
        "numbers-categorical",
        "class numbers with a loss that wants one-hot",
        "labels loss",
        _numbers_categorical,
        HELD_OUT,
    ),
    case("shuffled-apart", "inputs and labels shuffled separately", "labels data", _shuffled_apart, HELD_OUT),
    case(
        "sorted-tail",
        "sorted by class, and the last rows are the validation",
        "validation data",
        _sorted_tail,
        HELD_OUT,
    ),
    case(
        "sorted-unshuffled", "sorted by class and never shuffled", "data", _sorted_unshuffled, DEV, neutral="optimizer"
    ),
    case(
        "rare-class",
        "65 rows of one class to one of the other, judged by accuracy",
        "data metric",
        _rare_class,
        DEV,
        neutral="labels",
    ),
    case("two-scales", "one of two inputs not scaled", "preprocessing", _two_scales, HELD_OUT),
)

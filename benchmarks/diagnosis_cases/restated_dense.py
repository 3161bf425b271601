"""Programs of dense layers from Stack Overflow, restated from the reproductions that DeepLocalize published."""

from __future__ import annotations

import numpy as np
from keras import initializers, layers, optimizers

from benchmarks.diagnosis_cases import rows
from benchmarks.diagnosis_cases.case import DEV, HELD_OUT, RESTATED, Case, Program, case, net, program

_XOR = np.array([[1, 1], [1, 0], [0, 0], [0, 1]], "float32")


def _uniform() -> initializers.Initializer:
    return initializers.RandomUniform(-0.05, 0.05)


def _normal() -> initializers.Initializer:
    return initializers.RandomNormal(0, 0.05)


def _xor_slow(faulty: bool, random: np.random.Generator) -> Program:
    model = net((2,), layers.Dense(4, "sigmoid"), layers.Dense(1, "sigmoid"))
    y = np.array([[0], [1], [0], [1]], "float32")
    if faulty:
        loss, optimizer = "mean_absolute_error", optimizers.SGD(0.05, momentum=0.11, nesterov=True)
    else:
        loss, optimizer = "binary_crossentropy", optimizers.SGD(0.5, momentum=0.9, nesterov=True)
    return program(model, (_XOR, y), loss, optimizer, epochs=1000, batch_size=4, shuffle=True)


def _xor_softmax(faulty: bool, random: np.random.Generator) -> Program:
    order = [0, 2, 1, 3, 0, 2]
    y = np.array([[0], [0], [1], [1], [0], [0]], "float32")

    def dense(units: int, activation: str) -> layers.Dense:
        return layers.Dense(units, activation, kernel_initializer=_uniform() if faulty else "glorot_uniform")

    if faulty:
        model = net((2,), dense(2, "sigmoid"), dense(3, "sigmoid"), dense(1, "softmax"))
        optimizer = optimizers.SGD(0.001, momentum=0.9, nesterov=True)
        return program(model, (_XOR[order], y), "mean_squared_error", optimizer, None, epochs=20, batch_size=32)
    model = net((2,), dense(8, "tanh"), dense(8, "tanh"), dense(1, "sigmoid"))
    optimizer = optimizers.SGD(0.1, momentum=0.9, nesterov=True)
    return program(model, (_XOR[order], y), "binary_crossentropy", optimizer, None, epochs=400, batch_size=32)


def _weighted_sum(faulty: bool, random: np.random.Generator) -> Program:
    x = random.uniform(0, 10_000, (3000, 3))
    y = x @ np.array([2.0, 1.0, 0.5]) + 2.2
    if faulty:
        parts: list[layers.Layer] = [layers.Dense(3, "tanh", kernel_initializer=_uniform()), layers.Dropout(0.5)]
        parts += [layers.Dense(2, "tanh", kernel_initializer=_uniform()), layers.Dropout(0.5)]
        parts += [layers.Dense(1, "softmax", kernel_initializer=_uniform())]
        optimizer = optimizers.SGD(0.1, momentum=0.9, nesterov=True)
        data = (x.astype("float32"), y.astype("float32"))
        return program(net((3,), *parts), data, "mean_squared_error", optimizer, epochs=20, batch_size=32)
    model = net((3,), layers.Dense(3, "tanh"), layers.Dense(2, "tanh"), layers.Dense(1))
    optimizer = optimizers.SGD(0.01, momentum=0.9, nesterov=True)
    data = (rows.standardised(x), rows.standardised(y))
    return program(model, data, "mean_squared_error", optimizer, "mae", epochs=20, batch_size=32)


def _raw_batch_one(faulty: bool, random: np.random.Generator) -> Program:
    count = 400
    x = np.stack([random.uniform(0, 3000, count), random.normal(90, 20, count), random.uniform(0, 1, count)], 1)
    score = (x[:, 0] / 1500 - 1) + (x[:, 1] - 90) / 20 + 2 * (x[:, 2] - 0.5)
    y = (score + random.normal(0, 0.4, count) > 0).astype("float32")

    def dense(units: int, activation: str) -> layers.Dense:
        return layers.Dense(units, activation, kernel_initializer=_uniform() if faulty else "glorot_uniform")

    model = net((3,), dense(12, "relu"), dense(3, "relu"), dense(1, "sigmoid"))
    data = (x.astype("float32") if faulty else rows.standardised(x), y)
    size, epochs = (1, 150) if faulty else (10, 60)
    return program(model, data, "binary_crossentropy", optimizers.Adam(), epochs=epochs, batch_size=size)


def _packets(faulty: bool, random: np.random.Generator) -> Program:
    count = 600
    x = np.abs(random.normal(0, 1, (count, 11))) * np.array([1, 60, 1500, 6e4, 6e4, 17, 255, 1, 3, 4e3, 100])
    y = (x[:, 2] / 1500 + x[:, 9] / 4e3 + random.normal(0, 0.15, count) > 1.6).astype("float32")

    def dense(units: int, activation: str) -> layers.Dense:
        return layers.Dense(units, activation, kernel_initializer=_normal())

    model = net((11,), dense(12, "relu"), dense(12, "relu"), dense(1, "relu" if faulty else "sigmoid"))
    data = (x.astype("float32") if faulty else rows.standardised(x), y)
    return program(model, data, "binary_crossentropy", optimizers.Adam(), epochs=100, batch_size=5)


def _one_softmax(faulty: bool, random: np.random.Generator) -> Program:
    x = random.random((800, 5)).astype("float32")
    y = (x[:, 0] * x[:, 1] + 0.3 * x[:, 2] > 0.4).astype("float32")
    model = net(
        (5,), layers.Dense(60, "relu"), layers.Dense(50, "relu"), layers.Dense(1, "softmax" if faulty else "sigmoid")
    )
    return program(model, (x, y), "binary_crossentropy", "adam", epochs=30, batch_size=32)


def _one_unit_each(faulty: bool, random: np.random.Generator) -> Program:
    x = random.uniform(-3, 3, (2000, 1)).astype("float32")
    y = x[:, 0] + random.normal(0, 0.3, 2000) > 0.5
    model = net(
        (1,),
        layers.Dense(1 if faulty else 8, "sigmoid"),
        layers.Dense(1, "softmax" if faulty else "sigmoid", kernel_initializer=_normal()),
    )
    loss = "mean_absolute_error" if faulty else "binary_crossentropy"
    return program(model, (x, y), loss, "rmsprop", epochs=100, batch_size=200, validation_split=0.2)


def _line_sigmoid(faulty: bool, random: np.random.Generator) -> Program:
    x = random.uniform(1, 100, (300, 1))
    y = 3.2 * x[:, 0] + 14 + random.normal(0, 9, 300)
    if not faulty:
        x, y = rows.standardised(x), rows.standardised(y)
    model = net((1,), layers.Dense(5, "sigmoid"), layers.Dense(1, "sigmoid" if faulty else None))
    data, metric = (x.astype("float32"), y.astype("float32")), "accuracy" if faulty else "mae"
    rate = 0.01 if faulty else 0.1
    return program(model, data, "mean_squared_error", optimizers.SGD(rate), metric, epochs=1000, batch_size=300)


def _relu_target(faulty: bool, random: np.random.Generator) -> Program:
    x = random.uniform([0, 0], [50, 300], (500, 2))
    y = 4 * x[:, 0] - 0.6 * x[:, 1] + random.normal(0, 5, 500)
    if not faulty:
        x, y = rows.standardised(x), rows.standardised(y)
    model = net((2,), layers.Dense(4, "relu"), layers.Dense(1, "relu" if faulty else None))
    data = (x.astype("float32"), y.astype("float32"))
    return program(model, data, "mean_squared_error", "sgd", "mse", epochs=50, batch_size=10)


def _parabola(faulty: bool, random: np.random.Generator) -> Program:
    x = np.arange(0, 5, 0.1)[:, None]
    y = 5 * x**2 + random.normal(0, 1, x.shape) ** 3
    if not faulty:
        x, y = rows.standardised(x), rows.standardised(y)
    model = net(
        (1,), layers.Dense(50, "relu"), layers.Dense(30, "relu", kernel_initializer=_uniform()), layers.Dense(1)
    )
    data, rate = (x.astype("float32"), y.astype("float32")), 0.1 if faulty else 0.05
    metric = "accuracy" if faulty else "mae"
    return program(model, data, "mse", optimizers.SGD(rate), metric, epochs=1000, batch_size=32)


def _census(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.customers(random, 2000)
    codes = random.integers(0, 16, (2000, 8)).astype("float32")
    x = np.concatenate([x, codes], 1)
    model = net((14,), layers.Dense(21, "relu"), layers.Dense(2, "softmax"))
    data = (x if faulty else rows.standardised(x), rows.one_hot(labels, 2))
    return program(model, data, "categorical_crossentropy", "adam", epochs=50, batch_size=100)


def _raw_pixels(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.digits(random, 3000)
    model = net(
        (784,),
        layers.Dense(784, None if faulty else "relu"),
        layers.Dense(50, "relu"),
        layers.Dense(10, "sigmoid" if faulty else "softmax"),
    )
    data = (x.reshape(-1, 784) / (1 if faulty else 255), rows.one_hot(labels, 10))
    rate = 0.0001 if faulty else 0.1
    return program(model, data, "categorical_crossentropy", optimizers.SGD(rate), epochs=10, batch_size=32)


def _iris_sigmoid(faulty: bool, random: np.random.Generator) -> Program:
    from sklearn.datasets import load_iris

    bunch = load_iris()
    model = net(
        (4,),
        layers.Dense(4, "relu", kernel_initializer=_normal()),
        layers.Dense(3, "sigmoid" if faulty else "softmax", kernel_initializer=_normal()),
    )
    x = bunch.data.astype("float32") if faulty else rows.standardised(bunch.data)
    data = (x, rows.one_hot(bunch.target, 3))
    return program(model, data, "categorical_crossentropy", "adam", epochs=200, batch_size=5)


CASES: tuple[Case, ...] = (
    case(
        "31556268",
        "XOR with mean absolute error and slow steps",
        "loss learning_rate epochs",
        _xor_slow,
        DEV,
        RESTATED,
        "optimizer",
    ),
    case(
        "34311586",
        "XOR with a softmax over one unit, tiny steps, 20 epochs",
        "activation learning_rate epochs loss initialisation architecture",
        _xor_softmax,
        HELD_OUT,
        RESTATED,
    ),
    case(
        "33969059",
        "softmax over one unit for sums up to 35,000",
        "activation preprocessing metric regularisation learning_rate",
        _weighted_sum,
        DEV,
        RESTATED,
        "initialisation loss",
    ),
    case(
        "39525358",
        "inputs not scaled, one row a step",
        "preprocessing batch_size initialisation",
        _raw_batch_one,
        HELD_OUT,
        RESTATED,
    ),
    case(
        "44066044",
        "relu before binary cross-entropy, inputs not scaled",
        "activation preprocessing",
        _packets,
        HELD_OUT,
        RESTATED,
    ),
    case("45337371", "softmax over one unit", "activation", _one_softmax, DEV, RESTATED, "architecture"),
    case(
        "45442843",
        "softmax over one unit, mean absolute error",
        "activation loss architecture",
        _one_unit_each,
        HELD_OUT,
        RESTATED,
    ),
    case(
        "48221692",
        "sigmoid output for targets up to 330",
        "activation preprocessing metric",
        _line_sigmoid,
        DEV,
        RESTATED,
        "batch_size",
    ),
    case(
        "48251943",
        "relu output for targets that can be negative",
        "activation preprocessing",
        _relu_target,
        HELD_OUT,
        RESTATED,
        "numerical",
    ),
    case(
        "48934338",
        "large steps on targets that are not scaled",
        "learning_rate preprocessing metric",
        _parabola,
        DEV,
        RESTATED,
        "numerical",
    ),
    case("47724077", "inputs not scaled", "preprocessing", _census, HELD_OUT, RESTATED),
    case(
        "55328966",
        "pixels not scaled, sigmoid before categorical cross-entropy",
        "activation preprocessing",
        _raw_pixels,
        DEV,
        RESTATED,
        "learning_rate",
    ),
    case(
        "59278771",
        "sigmoid before categorical cross-entropy",
        "activation",
        _iris_sigmoid,
        HELD_OUT,
        RESTATED,
        "initialisation preprocessing",
    ),
)

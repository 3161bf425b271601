"""Given programs of dense layers."""

from __future__ import annotations

import numpy as np
from keras import initializers, layers, optimizers

from benchmarks.diagnosis_cases import rows
from benchmarks.diagnosis_cases.case import GIVEN, Case, Program, case, net, program


def _two_squares(faulty: bool, random: np.random.Generator) -> Program:
    x = np.concatenate([random.uniform(0.2, 0.4, (100, 2)), random.uniform(0.5, 0.7, (100, 2))])
    data = (x.astype("float32"), rows.one_hot(np.repeat([0, 1], 100), 2))
    model = net((2,), layers.Dense(2, "sigmoid"), layers.Dense(2, "softmax"))
    rate, epochs = (0.001, 5) if faulty else (0.05, 60)
    return program(model, data, "categorical_crossentropy", optimizers.Adam(rate), epochs=epochs, batch_size=32)


def _multilabel_softmax(faulty: bool, random: np.random.Generator) -> Program:
    from sklearn.datasets import make_multilabel_classification

    x, y = make_multilabel_classification(3000, 20, n_classes=3, random_state=int(random.integers(1 << 30)))
    model = net(
        (20,),
        layers.Dense(20, "relu"),
        layers.Dropout(0.5),
        layers.Dense(20, "relu"),
        layers.Dropout(0.5),
        layers.Dense(3, "softmax" if faulty else "sigmoid"),
    )
    data = (x.astype("float32"), y.astype("float32"))
    loss, metric = ("mean_squared_error", "accuracy") if faulty else ("binary_crossentropy", "binary_accuracy")
    return program(model, data, loss, optimizers.SGD(0.01), metric, epochs=20, batch_size=20)


def _fourth_power(faulty: bool, random: np.random.Generator) -> Program:
    x = random.permutation(np.linspace(-100, 100, 400))[:, None]
    y = x**4
    if not faulty:
        x, y = rows.standardised(x), rows.standardised(y)
    first = layers.Dense(50, "sigmoid" if faulty else "relu")
    model = net((1,), first, layers.Dense(50, "elu"), layers.Dense(1))
    data = (x.astype("float32"), y.astype("float32"))
    return program(model, data, "mse", optimizers.Adam(0.001), None, epochs=1000, batch_size=400)


def _ten_raw_rows(faulty: bool, random: np.random.Generator) -> Program:
    x = random.uniform(0, 1, (10, 16))
    x[:, 0] = random.uniform(5e3, 7e5, 10)
    x[:, 1:6] = random.uniform(5, 40, (10, 5))
    x[:, 6:8] = random.uniform(1e3, 3e5, (10, 2))
    x[:, 12] = random.uniform(4e4, 1.2e5, 10)
    x[:, 13:] = random.uniform(-1, 1, (10, 3))
    y = rows.one_hot(random.permutation(np.arange(10) % 2), 2)
    x = x.astype("float32") if faulty else rows.standardised(x)
    model = net(
        (16,),
        layers.Dense(64, "tanh"),
        layers.Dropout(0.5),
        layers.Dense(64, "tanh"),
        layers.Dropout(0.5),
        layers.Dense(2, "softmax"),
    )
    loss = "mean_squared_error" if faulty else "categorical_crossentropy"
    optimizer = optimizers.SGD(0.1, momentum=0.9, nesterov=True)
    return program(model, (x, y), loss, optimizer, epochs=20, batch_size=16)


def _linear_digits(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.digits(random, 3000)
    data = (x.reshape(-1, 784) / 255, rows.one_hot(labels, 10))

    def dense(units: int, activation: str) -> layers.Dense:
        start = initializers.RandomNormal(0, 1) if faulty else "glorot_uniform"
        return layers.Dense(units, None if faulty else activation, kernel_initializer=start)

    model = net((784,), dense(30, "sigmoid"), dense(10, "softmax"))
    loss, rate = ("mean_squared_error", 3.0) if faulty else ("categorical_crossentropy", 0.1)
    return program(model, data, loss, optimizers.SGD(rate), epochs=30, batch_size=10)


def _constant_vectors(faulty: bool, random: np.random.Generator) -> Program:
    x = np.concatenate([np.ones((500, 128)), np.zeros((500, 128))]).astype("float32")
    y = np.concatenate([np.ones((500, 1)), np.zeros((500, 1))]).astype(bool)
    model = net(
        (128,),
        layers.Dense(50, "relu"),
        layers.Activation("relu"),
        layers.Dropout(0.2),
        layers.Dense(50, "relu"),
        layers.Dropout(0.2),
        layers.Dense(1, "softmax" if faulty else "sigmoid"),
    )
    return program(model, (x, y), "binary_crossentropy", optimizers.RMSprop(0.001), epochs=3, batch_size=32)


def _slow_digits(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.digits(random, 3000)
    model = net(
        (784,),
        layers.Dense(512, "relu"),
        layers.Dropout(0.1),
        layers.Dense(600, "relu"),
        layers.Dropout(0.1),
        layers.Dense(10, "softmax"),
    )
    rate, epochs = (0.01, 5) if faulty else (0.05, 60)
    data = (x.reshape(-1, 784) / 255, rows.one_hot(labels, 10))
    optimizer = optimizers.SGD(rate, momentum=0.9, nesterov=True)
    return program(model, data, "categorical_crossentropy", optimizer, epochs=epochs, batch_size=2000)


def _raw_passengers(faulty: bool, random: np.random.Generator) -> Program:
    count = 891
    x = random.integers(0, 4, (count, 10)).astype("float32")
    x[:, 0], x[:, 7] = np.arange(count), random.permutation(count)
    x[:, 8] = random.lognormal(3, 1, count).clip(0, 512)
    x[:, 9] = random.integers(0, 2, count)
    logit = 2.2 * (x[:, 9] - 0.5) + 1.1 * (x[:, 1] - 1.5) - 0.9
    labels = random.random(count) < 1 / (1 + np.exp(-logit))
    data = (x, rows.one_hot(labels, 2)) if faulty else (rows.standardised(x), labels.astype("float32"))
    model = net(
        (10,),
        layers.Dense(512, "relu"),
        layers.Dropout(0.5),
        layers.Dense(2, "softmax") if faulty else layers.Dense(1, "sigmoid"),
    )
    loss = "categorical_crossentropy" if faulty else "binary_crossentropy"
    return program(model, data, loss, optimizers.Adam(0.001), epochs=10, batch_size=4)


def _raw_iris(faulty: bool, random: np.random.Generator) -> Program:
    from sklearn.datasets import load_iris

    bunch = load_iris()
    x, labels = rows.shuffled(random, bunch.data, bunch.target)
    scaled = x.astype("float32") if faulty else rows.standardised(x)
    model = net(
        (4,),
        layers.Dense(4, "relu", kernel_initializer=initializers.RandomNormal(0, 0.05)),
        layers.Dense(3, "sigmoid" if faulty else "softmax"),
    )
    data = (scaled[:75], rows.one_hot(labels[:75], 3))
    return program(model, data, "categorical_crossentropy", optimizers.Adam(0.001), epochs=50, batch_size=5)


def _three_declared(faulty: bool, random: np.random.Generator) -> Program:
    x = random.normal(0, 1, (80, 2)).astype("float32")
    y = rows.one_hot(random.integers(0, 2, 80), 2)
    model = net((3 if faulty else 2,), layers.Dense(10, "relu"), layers.Dense(10, "relu"), layers.Dense(2, "softmax"))
    return program(model, (x, y), "categorical_crossentropy", optimizers.Adam(0.001), epochs=1, batch_size=10)


CASES: tuple[Case, ...] = (
    case("50306988", "learning rate and epochs far too low", "learning_rate epochs", _two_squares, GIVEN, GIVEN),
    case(
        "38648195",
        "softmax and MSE for labels that go together",
        "activation loss metric",
        _multilabel_softmax,
        GIVEN,
        GIVEN,
    ),
    case("52800582", "inputs and targets not scaled", "preprocessing", _fourth_power, GIVEN, GIVEN, "activation"),
    case(
        "34673164",
        "10 rows with columns from 0.01 to 600,000, MSE on softmax",
        "preprocessing architecture loss activation data",
        _ten_raw_rows,
        GIVEN,
        GIVEN,
    ),
    case(
        "48385830",
        "no activations, MSE, learning rate 3, weights of deviation 1",
        "activation loss learning_rate initialisation",
        _linear_digits,
        GIVEN,
        GIVEN,
        "numerical",
    ),
    case("31880720", "softmax over one unit", "activation architecture", _constant_vectors, GIVEN, GIVEN, "data"),
    case("44164749", "few, slow updates", "learning_rate epochs", _slow_digits, GIVEN, GIVEN, "batch_size"),
    case("31627380", "inputs not scaled", "preprocessing", _raw_passengers, GIVEN, GIVEN, "activation loss optimizer"),
    case(
        "51930566",
        "sigmoid before categorical cross-entropy, inputs not scaled",
        "activation preprocessing",
        _raw_iris,
        GIVEN,
        GIVEN,
    ),
    case(
        "59305008",
        "three features declared, two given",
        "architecture data preprocessing",
        _three_declared,
        GIVEN,
        GIVEN,
    ),
)

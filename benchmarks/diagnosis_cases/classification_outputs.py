"""Classifications whose output and loss do not fit each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import layers, losses, optimizers

from benchmarks.diagnosis_cases import rows
from benchmarks.diagnosis_cases.case import DEV, HELD_OUT, Case, Program, case, net, program


def _hidden(features: int, *last: layers.Layer, units: int = 48) -> Any:
    return net((features,), layers.Dense(units, "relu"), layers.Dense(units, "relu"), *last)


def _flat_digits(random: np.random.Generator, count: int = 1500) -> tuple[Any, Any]:
    x, labels = rows.digits(random, count)
    return x.reshape(-1, 784) / 255, labels


def _softmax_mse(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = _flat_digits(random)
    model = net((784,), layers.Dense(64, "relu"), layers.Dense(10, "softmax"))
    loss = "mse" if faulty else "categorical_crossentropy"
    data = (x, rows.one_hot(labels, 10))
    return program(model, data, loss, optimizers.SGD(0.05), epochs=15, batch_size=32)


def _logits_missing(faulty: bool, random: np.random.Generator) -> Program:
    model = _hidden(12, layers.Dense(6, None if faulty else "softmax"))
    data = rows.clusters(random, 1200, 12, 6)
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=25, batch_size=32)


def _logits_missing_binary(faulty: bool, random: np.random.Generator) -> Program:
    model = _hidden(2, layers.Dense(1))
    loss = losses.BinaryCrossentropy(from_logits=not faulty)
    metric = "accuracy" if faulty else "binary_accuracy"
    return program(model, rows.moons(random, 1000), loss, "adam", metric, epochs=30, batch_size=32)


def _logits_doubled(faulty: bool, random: np.random.Generator) -> Program:
    model = _hidden(12, layers.Dense(6, "softmax"))
    loss = losses.SparseCategoricalCrossentropy(from_logits=faulty)
    return program(model, rows.clusters(random, 1200, 12, 6), loss, "adam", epochs=25, batch_size=32)


def _binary_loss_ten(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = _flat_digits(random)
    model = net((784,), layers.Dense(64, "relu"), layers.Dense(10, "softmax"))
    loss = "binary_crossentropy" if faulty else "categorical_crossentropy"
    return program(model, (x, rows.one_hot(labels, 10)), loss, "adam", epochs=15, batch_size=32)


def _one_sigmoid_wine(faulty: bool, random: np.random.Generator) -> Program:
    from sklearn.datasets import load_wine

    bunch = load_wine()
    x, labels = rows.shuffled(random, rows.standardised(bunch.data), bunch.target)
    model = _hidden(13, layers.Dense(1, "sigmoid") if faulty else layers.Dense(3, "softmax"), units=16)
    loss = "binary_crossentropy" if faulty else "sparse_categorical_crossentropy"
    return program(model, (x, labels), loss, "adam", epochs=60, batch_size=16)


def _one_linear_classes(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.clusters(random, 1200, 10, 5)
    model = _hidden(10, layers.Dense(1) if faulty else layers.Dense(5, "softmax"))
    loss = "mse" if faulty else "sparse_categorical_crossentropy"
    return program(model, (x, labels), loss, "adam", epochs=25, batch_size=32)


def _softmax_one_of_ten(faulty: bool, random: np.random.Generator) -> Program:
    model = net((784,), layers.Dense(64, "relu"), layers.Dense(1 if faulty else 10, "softmax"))
    data = _flat_digits(random)
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=10, batch_size=32)


def _unit_short(faulty: bool, random: np.random.Generator) -> Program:
    model = _hidden(12, layers.Dense(5 if faulty else 6, "softmax"))
    data = rows.clusters(random, 1200, 12, 6)
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=25, batch_size=32)


def _thousand_units(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.images(random, 600, 32, 4)
    model = net(
        (32, 32, 3),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(1000 if faulty else 4, "softmax"),
    )
    optimizer = optimizers.Adam(0.003)
    return program(model, (x / 255, labels), "sparse_categorical_crossentropy", optimizer, epochs=15, batch_size=32)


def _doubled_softmax(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = _flat_digits(random)
    last = [layers.Dense(10, "softmax"), *([layers.Activation("softmax")] if faulty else [])]
    model = net((784,), layers.Dense(64, "relu"), *last)
    return program(model, (x, rows.one_hot(labels, 10)), "categorical_crossentropy", "adam", epochs=10, batch_size=32)


def _relu_softmax(faulty: bool, random: np.random.Generator) -> Program:
    model = _hidden(12, layers.Dense(6, "relu" if faulty else None), layers.Softmax())
    data = rows.clusters(random, 1200, 12, 6)
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=25, batch_size=32)


def _tanh_binary(faulty: bool, random: np.random.Generator) -> Program:
    model = _hidden(2, layers.Dense(1, "tanh" if faulty else "sigmoid"))
    return program(model, rows.moons(random, 1000), "binary_crossentropy", "adam", epochs=30, batch_size=32)


def _tags_softmax(faulty: bool, random: np.random.Generator) -> Program:
    model = _hidden(20, layers.Dense(8, "softmax" if faulty else "sigmoid"))
    loss, metric = ("categorical_crossentropy", "accuracy") if faulty else ("binary_crossentropy", "binary_accuracy")
    return program(model, rows.tags(random, 1500, 20, 8), loss, "adam", metric, epochs=20, batch_size=32)


def _two_sigmoids(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.moons(random, 1000)
    model = _hidden(2, layers.Dense(2 if faulty else 1, "sigmoid"))
    data = (x, labels[:, None].astype("float32"))
    return program(model, data, "binary_crossentropy", "adam", epochs=30, batch_size=32)


def _binary_accuracy_ten(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = _flat_digits(random)
    model = net((784,), layers.Dense(64, "relu"), layers.Dense(10, "softmax"))
    metric = "binary_accuracy" if faulty else "categorical_accuracy"
    data = (x, rows.one_hot(labels, 10))
    return program(model, data, "categorical_crossentropy", "adam", metric, epochs=10, batch_size=32)


CASES: tuple[Case, ...] = (
    case("softmax-mse", "mean squared error for ten classes", "loss", _softmax_mse, DEV),
    case(
        "logits-missing",
        "linear output into a loss that wants probabilities",
        "activation loss",
        _logits_missing,
        HELD_OUT,
    ),
    case(
        "logits-missing-binary",
        "linear output into binary cross-entropy",
        "activation loss",
        _logits_missing_binary,
        DEV,
        neutral="metric",
    ),
    case("logits-doubled", "softmax into a loss that wants logits", "loss activation", _logits_doubled, DEV),
    case(
        "binary-loss-ten-classes",
        "binary cross-entropy over a softmax of ten",
        "loss",
        _binary_loss_ten,
        HELD_OUT,
        neutral="activation metric",
    ),
    case(
        "one-sigmoid-wine",
        "one sigmoid unit for three classes",
        "architecture activation loss labels",
        _one_sigmoid_wine,
        HELD_OUT,
    ),
    case(
        "one-linear-classes",
        "class numbers fitted as if they were quantities",
        "architecture loss activation metric labels",
        _one_linear_classes,
        DEV,
    ),
    case(
        "one-softmax-ten-classes",
        "softmax over one unit for ten classes",
        "architecture activation labels",
        _softmax_one_of_ten,
        DEV,
    ),
    case("unit-short", "five units for six classes", "architecture labels", _unit_short, HELD_OUT),
    case("thousand-units", "1000 units for four classes", "architecture labels", _thousand_units, DEV),
    case("doubled-softmax", "softmax twice", "activation architecture", _doubled_softmax, DEV),
    case("relu-softmax", "relu before the softmax", "activation", _relu_softmax, HELD_OUT, neutral="architecture"),
    case("tanh-binary", "tanh into binary cross-entropy", "activation", _tanh_binary, HELD_OUT),
    case("tags-softmax", "softmax over labels that go together", "activation loss metric", _tags_softmax, DEV),
    case(
        "two-sigmoids-one-column", "two units for one column of labels", "architecture labels", _two_sigmoids, HELD_OUT
    ),
    case(
        "binary-accuracy-ten-classes",
        "binary accuracy for one of ten classes",
        "metric",
        _binary_accuracy_ten,
        HELD_OUT,
    ),
)

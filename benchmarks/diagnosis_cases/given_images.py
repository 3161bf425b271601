"""Given programs of convolutions."""

from __future__ import annotations

import numpy as np
from keras import initializers, layers, optimizers

from benchmarks.diagnosis_cases import rows
from benchmarks.diagnosis_cases.case import GIVEN, Case, Program, case, net, program


def _waves_one_softmax(faulty: bool, random: np.random.Generator) -> Program:
    model = net(
        (600, 1),
        layers.Conv1D(20, 4, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Dropout(0.3),
        layers.Flatten(),
        layers.Dense(50, "relu"),
        layers.Dense(1, "softmax" if faulty else "sigmoid"),
    )
    data = rows.waves(random, 200, 600)
    return program(model, data, "binary_crossentropy", optimizers.Nadam(), epochs=100, batch_size=8)


def _sorted_drawings(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.drawings(random, 200, 5)
    if not faulty:
        x, labels = rows.shuffled(random, x, labels)
    model = net(
        (28, 28, 1),
        layers.Conv2D(32, 5, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(128, "relu"),
        layers.Dense(64, "relu"),
        layers.Dense(5, "softmax"),
    )
    data = (x, rows.one_hot(labels, 5))
    optimizer = optimizers.Adam(0.001)
    return program(model, data, "categorical_crossentropy", optimizer, epochs=20, batch_size=100, validation_split=0.2)


def _three_folders(faulty: bool, random: np.random.Generator) -> Program:
    labels = random.permutation(np.arange(90) % 3)
    means = np.array([[0.6, 0.35, 0.35], [0.35, 0.6, 0.35], [0.35, 0.35, 0.6]])
    x = (means[labels][:, None, None] + random.normal(0, 0.2, (90, 64, 64, 3))).clip(0, 1).astype("float32")
    model = net(
        (64, 64, 3),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, "relu"),
        layers.Dropout(0.5),
        layers.Dense(1, "sigmoid") if faulty else layers.Dense(3, "softmax"),
    )
    data = (x, labels.astype("float32") if faulty else rows.one_hot(labels, 3))
    loss = "binary_crossentropy" if faulty else "categorical_crossentropy"
    return program(model, data, loss, optimizers.RMSprop(0.001), epochs=10, batch_size=16)


def _labels_scaled(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.digits(random, 2000)
    model = net(
        (28, 28, 1),
        layers.Conv2D(64, 3, padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(128, "relu"),
        layers.Dense(10, "softmax"),
    )
    data = (x[..., None] / 255, (labels / 255).astype("float32") if faulty else labels)
    return program(model, data, "sparse_categorical_crossentropy", optimizers.Adam(0.001), epochs=2, batch_size=32)


def _relu_output(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.digits(random, 2000)
    bias = initializers.Constant(0.1)
    model = net(
        (784,),
        layers.Reshape((28, 28, 1)),
        layers.Conv2D(32, 5, padding="same", activation="relu", bias_initializer=bias),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 5, padding="same", activation="relu", bias_initializer=bias),
        layers.MaxPooling2D(),
        layers.Reshape((7 * 7 * 64,)),
        layers.Dense(1024, "relu", bias_initializer=bias),
        layers.Dropout(0.5),
        layers.Flatten(),
        layers.Dense(10, "relu" if faulty else "softmax"),
    )
    data = (x.reshape(-1, 784) / (1 if faulty else 255), rows.one_hot(labels, 10))
    epochs = 5 if faulty else 10
    return program(model, data, "categorical_crossentropy", optimizers.Adam(0.001), epochs=epochs, batch_size=50)


def _raw_colours(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.images(random, 2000, 32, 10)
    model = net(
        (32, 32, 3),
        layers.Conv2D(64, 3, activation="relu", kernel_initializer="he_normal"),
        layers.MaxPooling2D(),
        layers.Conv2D(256, 3, activation="relu", kernel_initializer="he_normal"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(512, "relu"),
        layers.Dropout(0.3),
        layers.Dense(10, "softmax"),
    )
    data = (x if faulty else x / 255, rows.one_hot(labels, 10))
    epochs = 5 if faulty else 10
    return program(model, data, "categorical_crossentropy", optimizers.Adam(0.001), epochs=epochs, batch_size=32)


def _one_hot_sparse(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = random.uniform(0, 1, (32, 48, 48, 3)).astype("float32"), random.integers(0, 3, 32)
    blocks = [
        layer
        for filters in (32, 64, 128, 128)
        for layer in (layers.Conv2D(filters, 3, activation="relu"), layers.MaxPooling2D())
    ]
    model = net((48, 48, 3), *blocks, layers.Flatten(), layers.Dense(3, "softmax"))
    data = (x, rows.one_hot(labels, 3) if faulty else labels)
    return program(model, data, "sparse_categorical_crossentropy", optimizers.Adam(0.001), epochs=1, batch_size=32)


CASES: tuple[Case, ...] = (
    case("51749207", "softmax over one unit", "activation", _waves_one_softmax, GIVEN, GIVEN, "architecture"),
    case(
        "56103207",
        "sorted by class, and the last rows are the validation",
        "validation data",
        _sorted_drawings,
        GIVEN,
        GIVEN,
    ),
    case(
        "50079585",
        "one sigmoid unit for three classes",
        "architecture activation loss labels",
        _three_folders,
        GIVEN,
        GIVEN,
    ),
    case("59325381", "labels divided by 255", "labels preprocessing activation", _labels_scaled, GIVEN, GIVEN),
    case(
        "47352366",
        "relu before cross-entropy, inputs not scaled",
        "activation preprocessing epochs",
        _relu_output,
        GIVEN,
        GIVEN,
    ),
    case("48594888", "inputs not scaled, few epochs", "preprocessing epochs batch_size", _raw_colours, GIVEN, GIVEN),
    case("58398491", "one-hot labels with a sparse loss", "labels loss", _one_hot_sparse, GIVEN, GIVEN),
)

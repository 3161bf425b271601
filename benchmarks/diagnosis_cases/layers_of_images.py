"""Image programs whose layers or pixels are at fault."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import layers, optimizers

from benchmarks.diagnosis_cases import rows
from benchmarks.diagnosis_cases.case import DEV, HELD_OUT, Case, Program, case, net, program


def _digit_images(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    x, labels = rows.digits(random, count)
    return x[..., None] / 255, labels


def _linear_convolutions(faulty: bool, random: np.random.Generator) -> Program:
    activation = None if faulty else "relu"
    model = net(
        (28, 28, 1),
        layers.Conv2D(16, 5, activation=activation),
        layers.Conv2D(16, 3, strides=2, activation=activation),
        layers.Conv2D(32, 3, strides=2, activation=activation),
        layers.Flatten(),
        layers.Dense(32, activation),
        layers.Dense(5, "softmax"),
    )
    data = rows.shuffled(random, *rows.drawings(random, 160, 5))
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=15, batch_size=32)


def _pooled_away(faulty: bool, random: np.random.Generator) -> Program:
    pools = (4, 3, 2) if faulty else (2, 2, 1)
    blocks = [
        layer
        for filters, pool in zip((8, 16, 16), pools, strict=True)
        for layer in (layers.Conv2D(filters, 3, padding="same", activation="relu"), layers.MaxPooling2D(pool))
    ]
    model = net((28, 28, 1), *blocks, layers.Flatten(), layers.Dense(10, "softmax"))
    data = _digit_images(random, 1200)
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=10, batch_size=32)


def _no_flatten(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.digits(random, 1200)
    first = [] if faulty else [layers.Flatten()]
    model = net((28, 28), *first, layers.Dense(64, "relu"), layers.Dense(10, "softmax"))
    return program(model, (x / 255, labels), "sparse_categorical_crossentropy", "adam", epochs=10, batch_size=32)


def _scaled_twice(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = _digit_images(random, 1200)
    model = net(
        (28, 28, 1),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(32, "relu"),
        layers.Dense(10, "softmax"),
    )
    data, optimizer = (x / 255 if faulty else x, labels), optimizers.SGD(0.05, momentum=0.9)
    return program(model, data, "sparse_categorical_crossentropy", optimizer, epochs=10, batch_size=32)


def _scaled_in_model_too(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.images(random, 800, 32, 6)
    model = net(
        (32, 32, 3),
        layers.Rescaling(1 / 255),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(32, "relu"),
        layers.Dense(6, "softmax"),
    )
    data = (x / 255 if faulty else x, labels)
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=10, batch_size=32)


def _raw_pixels_sgd(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.images(random, 800, 32, 6)
    model = net(
        (32, 32, 3),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, "relu"),
        layers.Dense(6, "softmax"),
    )
    data = (x / (1 if faulty else 255), rows.one_hot(labels, 6))
    optimizer = optimizers.SGD(0.01, momentum=0.9)
    return program(model, data, "categorical_crossentropy", optimizer, epochs=12, batch_size=32)


def _all_frozen(faulty: bool, random: np.random.Generator) -> Program:
    model = net(
        (28, 28, 1),
        layers.Conv2D(16, 3, activation="relu", name="features"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(32, "relu", name="head"),
        layers.Dense(10, "softmax", name="output"),
    )
    for name in ("features", "head", "output") if faulty else ():
        model.get_layer(name).trainable = False
    data = _digit_images(random, 1000)
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=10, batch_size=32)


def _frozen_untrained_base(faulty: bool, random: np.random.Generator) -> Program:
    base = net(
        (32, 32, 3),
        layers.Conv2D(8, 3, strides=2, activation="relu"),
        layers.Conv2D(8, 3, strides=2, activation="relu"),
        layers.Conv2D(8, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
    )
    base.trainable = not faulty
    x, labels = rows.images(random, 800, 32, 8)
    model = net((32, 32, 3), base, layers.Dense(8, "softmax"))
    optimizer = optimizers.Adam(0.005)
    return program(model, (x / 255, labels), "sparse_categorical_crossentropy", optimizer, epochs=20, batch_size=32)


def _frozen_normalisation(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.customers(random, 1500)
    first = layers.BatchNormalization()
    first.trainable = not faulty
    model = net((6,), first, layers.Dense(32, "relu"), layers.Dense(16, "relu"), layers.Dense(1, "sigmoid"))
    return program(model, (x, labels), "binary_crossentropy", "adam", epochs=25, batch_size=32)


CASES: tuple[Case, ...] = (
    case(
        "linear-convolutions",
        "convolutions without activation",
        "activation",
        _linear_convolutions,
        HELD_OUT,
        neutral="architecture",
    ),
    case("pooled-away", "pooled down to one pixel", "architecture", _pooled_away, DEV),
    case("no-flatten", "no Flatten before the dense layers", "architecture labels", _no_flatten, HELD_OUT),
    case("scaled-twice", "pixels divided by 255 twice", "preprocessing", _scaled_twice, DEV),
    case(
        "scaled-in-model-too",
        "pixels scaled before a model that scales them",
        "preprocessing architecture",
        _scaled_in_model_too,
        HELD_OUT,
    ),
    case(
        "raw-pixels-sgd",
        "pixels from 0 to 255 with SGD",
        "preprocessing",
        _raw_pixels_sgd,
        DEV,
        neutral="learning_rate numerical",
    ),
    case("all-frozen", "nothing is trainable", "architecture", _all_frozen, DEV, neutral="optimizer initialisation"),
    case(
        "frozen-untrained-base",
        "a frozen base that was never trained",
        "architecture initialisation",
        _frozen_untrained_base,
        HELD_OUT,
    ),
    case(
        "frozen-normalisation",
        "the batch normalisation that scales raw columns is frozen",
        "architecture preprocessing",
        _frozen_normalisation,
        DEV,
    ),
)

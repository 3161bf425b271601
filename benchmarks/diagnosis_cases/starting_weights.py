"""Programs whose starting weights or hidden activations keep them from learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import initializers, layers, optimizers

from benchmarks.diagnosis_cases import rows
from benchmarks.diagnosis_cases.case import DEV, HELD_OUT, Case, Program, case, net, program


def _stack(
    features: int,
    units: int,
    depth: int,
    activation: str | None,
    last: layers.Layer,
    start: Any = None,
    bias: Any = "zeros",
) -> Any:
    """`depth` dense layers that start from `start` (None: as Keras does), and the output."""
    hidden = [
        layers.Dense(units, activation, kernel_initializer=start or "glorot_uniform", bias_initializer=bias)
        for _ in range(depth)
    ]
    return net((features,), *hidden, last)


def _all_zero(faulty: bool, random: np.random.Generator) -> Program:
    start = initializers.Zeros() if faulty else None
    last = layers.Dense(6, "softmax", kernel_initializer=start or "glorot_uniform")
    model = _stack(12, 48, 2, "relu", last, start)
    data = rows.clusters(random, 1000, 12, 6)
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=25, batch_size=32)


def _all_equal(faulty: bool, random: np.random.Generator) -> Program:
    start = initializers.Constant(0.1) if faulty else None
    last = layers.Dense(1, kernel_initializer=start or "glorot_uniform")
    model = _stack(8, 48, 2, "relu", last, start)
    return program(model, rows.smooth(random, 1200), "mse", "adam", "mae", epochs=40, batch_size=32)


def _huge_weights(faulty: bool, random: np.random.Generator) -> Program:
    start = initializers.RandomNormal(0, 10) if faulty else None
    model = _stack(12, 48, 3, "tanh", layers.Dense(6, "softmax"), start)
    data = rows.clusters(random, 1200, 12, 6)
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=25, batch_size=32)


def _wide_normal_relu(faulty: bool, random: np.random.Generator) -> Program:
    start = initializers.RandomNormal(0, 1) if faulty else initializers.HeNormal()
    model = _stack(8, 128, 4, "relu", layers.Dense(1, kernel_initializer=start), start)
    return program(model, rows.smooth(random, 1200), "mse", "adam", "mae", epochs=30, batch_size=32)


def _dead_from_start(faulty: bool, random: np.random.Generator) -> Program:
    bias = initializers.Constant(-10.0) if faulty else "zeros"
    model = _stack(12, 48, 2, "relu", layers.Dense(6, "softmax"), None, bias)
    data = rows.clusters(random, 1000, 12, 6)
    return program(model, data, "sparse_categorical_crossentropy", "adam", epochs=25, batch_size=32)


def _tiny_deep_tanh(faulty: bool, random: np.random.Generator) -> Program:
    start = initializers.RandomNormal(0, 0.01) if faulty else None
    model = _stack(2, 24, 6, "tanh", layers.Dense(1, "sigmoid"), start)
    data = rows.moons(random, 1000)
    return program(model, data, "binary_crossentropy", optimizers.SGD(0.1), epochs=30, batch_size=32)


def _deep_sigmoid(faulty: bool, random: np.random.Generator) -> Program:
    model = _stack(12, 32, 8, "sigmoid" if faulty else "relu", layers.Dense(6, "softmax"))
    data = rows.clusters(random, 1200, 12, 6)
    return program(model, data, "sparse_categorical_crossentropy", optimizers.SGD(0.05), epochs=40, batch_size=32)


def _deep_sigmoid_digits(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.digits(random, 1500)
    start = initializers.RandomUniform(-0.05, 0.05) if faulty else None
    model = _stack(784, 64, 6, "sigmoid" if faulty else "relu", layers.Dense(10, "softmax"), start)
    data = (x.reshape(-1, 784) / 255, rows.one_hot(labels, 10))
    return program(model, data, "categorical_crossentropy", "adam", epochs=12, batch_size=32)


def _all_linear(faulty: bool, random: np.random.Generator) -> Program:
    model = _stack(2, 32, 3, None if faulty else "relu", layers.Dense(1, "sigmoid"))
    return program(model, rows.moons(random, 1000), "binary_crossentropy", "adam", epochs=30, batch_size=32)


def _all_linear_regression(faulty: bool, random: np.random.Generator) -> Program:
    model = _stack(8, 64, 2, "linear" if faulty else "relu", layers.Dense(1))
    return program(model, rows.smooth(random, 1200), "mse", "adam", "mae", epochs=40, batch_size=32)


def _softmax_hidden(faulty: bool, random: np.random.Generator) -> Program:
    model = _stack(12, 48, 2, "softmax" if faulty else "relu", layers.Dense(6, "softmax"))
    data = rows.clusters(random, 1200, 12, 6)
    return program(model, data, "sparse_categorical_crossentropy", optimizers.SGD(0.1), epochs=30, batch_size=32)


def _no_hidden(faulty: bool, random: np.random.Generator) -> Program:
    x = random.uniform(-1, 1, (800, 2)).astype("float32")
    y = (x[:, 0] * x[:, 1] < 0).astype("float32")
    model = _stack(2, 16, 0 if faulty else 1, "tanh", layers.Dense(1, "sigmoid"))
    return program(model, (x, y), "binary_crossentropy", optimizers.Adam(0.01), epochs=60, batch_size=32)


CASES: tuple[Case, ...] = (
    case("all-zero-weights", "every weight starts at 0", "initialisation", _all_zero, DEV),
    case("all-equal-weights", "every weight starts at 0.1", "initialisation", _all_equal, HELD_OUT),
    case(
        "huge-weights",
        "weights of deviation 10 before tanh",
        "initialisation",
        _huge_weights,
        DEV,
        neutral="activation",
    ),
    case(
        "wide-normal-relu",
        "weights of deviation 1 in four wide layers",
        "initialisation",
        _wide_normal_relu,
        HELD_OUT,
        neutral="numerical",
    ),
    case(
        "dead-from-start",
        "biases of -10 before relu",
        "initialisation",
        _dead_from_start,
        HELD_OUT,
        neutral="activation",
    ),
    case(
        "tiny-deep-tanh",
        "six layers that start near 0",
        "initialisation",
        _tiny_deep_tanh,
        DEV,
        neutral="architecture activation",
    ),
    case(
        "deep-sigmoid",
        "eight sigmoid layers",
        "activation architecture",
        _deep_sigmoid,
        HELD_OUT,
        neutral="initialisation optimizer",
    ),
    case(
        "deep-sigmoid-digits",
        "six sigmoid layers that start near 0",
        "activation initialisation architecture",
        _deep_sigmoid_digits,
        DEV,
    ),
    case("all-linear", "hidden layers without activation", "activation", _all_linear, DEV, neutral="architecture"),
    case(
        "all-linear-regression",
        "hidden layers without activation",
        "activation",
        _all_linear_regression,
        HELD_OUT,
        neutral="architecture",
    ),
    case(
        "softmax-hidden",
        "softmax in the hidden layers",
        "activation",
        _softmax_hidden,
        HELD_OUT,
        neutral="architecture",
    ),
    case("no-hidden-layer", "XOR without a hidden layer", "architecture", _no_hidden, DEV),
)

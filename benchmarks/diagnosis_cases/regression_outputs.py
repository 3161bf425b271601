"""Regressions whose output, loss, metric or target do not fit each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import layers, optimizers

from benchmarks.diagnosis_cases import rows
from benchmarks.diagnosis_cases.case import DEV, HELD_OUT, Case, Program, case, net, program


def _hidden(features: int, *last: layers.Layer, units: int = 64) -> Any:
    return net((features,), layers.Dense(units, "relu"), layers.Dense(units // 2, "relu"), *last)


def _relu_negative(faulty: bool, random: np.random.Generator) -> Program:
    model = _hidden(8, layers.Dense(1, "relu" if faulty else None))
    return program(model, rows.smooth(random, 1200), "mse", "adam", "mae", epochs=40, batch_size=32)


def _sigmoid_prices(faulty: bool, random: np.random.Generator) -> Program:
    x, y = rows.houses(random, 1000)
    model = _hidden(6, layers.Dense(1, "sigmoid" if faulty else None))
    data = (rows.standardised(x), y if faulty else rows.standardised(y))
    return program(model, data, "mse", "adam", "mae", epochs=40, batch_size=32)


def _tanh_progression(faulty: bool, random: np.random.Generator) -> Program:
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes()
    y = bunch.target.astype("float32") if faulty else rows.standardised(bunch.target)
    model = _hidden(10, layers.Dense(1, "tanh" if faulty else None), units=16)
    return program(
        model, (rows.standardised(bunch.data), y), "mean_squared_error", "adam", None, epochs=40, batch_size=16
    )


def _softmax_target(faulty: bool, random: np.random.Generator) -> Program:
    x, y = rows.smooth(random, 1200)
    model = _hidden(8, layers.Dense(1, "softmax" if faulty else None))
    return program(model, (x, y[:, None]), "mse", optimizers.RMSprop(0.001), "mae", epochs=40, batch_size=32)


def _cross_entropy_target(faulty: bool, random: np.random.Generator) -> Program:
    model = _hidden(8, layers.Dense(1))
    loss, metric = ("binary_crossentropy", "accuracy") if faulty else ("mse", "mae")
    return program(model, rows.smooth(random, 1200), loss, "adam", metric, epochs=40, batch_size=32)


def _softmax_cross_entropy_ages(faulty: bool, random: np.random.Generator) -> Program:
    x, y = rows.smooth(random, 1000)
    ages = (45 + 15 * y).clip(1, 99).round()
    model = _hidden(8, layers.Dense(1, "softmax" if faulty else None))
    loss, metric = ("categorical_crossentropy", "accuracy") if faulty else ("mse", "mae")
    data = (x, (ages if faulty else rows.standardised(ages))[:, None].astype("float32"))
    return program(model, data, loss, "adam", metric, epochs=40, batch_size=32)


def _accuracy_prices(faulty: bool, random: np.random.Generator) -> Program:
    x, y = rows.houses(random, 1000)
    model = _hidden(6, layers.Dense(1))
    data = (rows.standardised(x), rows.standardised(y))
    return program(model, data, "mse", "adam", "accuracy" if faulty else "mae", epochs=40, batch_size=32)


def _two_targets_one_unit(faulty: bool, random: np.random.Generator) -> Program:
    x, y = rows.smooth(random, 1200)
    other = rows.standardised(np.cos(x[:, 5]) - x[:, 6])
    model = _hidden(8, layers.Dense(1 if faulty else 2))
    return program(model, (x, np.stack([y, other], 1)), "mse", "adam", "mae", epochs=40, batch_size=32)


def _sequence_output(faulty: bool, random: np.random.Generator) -> Program:
    model = net((20, 1), layers.LSTM(24, return_sequences=faulty), layers.Dense(1))
    return program(model, rows.windows(random, 1000, 20), "mse", "adam", "mae", epochs=20, batch_size=32)


def _sigmoid_wave(faulty: bool, random: np.random.Generator) -> Program:
    model = net((20, 1), layers.LSTM(24), layers.Dense(1, "sigmoid" if faulty else None))
    return program(model, rows.windows(random, 1000, 20), "mse", "adam", "mae", epochs=20, batch_size=32)


def _autoencoder_standardised(faulty: bool, random: np.random.Generator) -> Program:
    base = random.normal(0, 1, (1200, 4)) @ random.normal(0, 1, (4, 20)) + random.normal(0, 0.1, (1200, 20))
    x = rows.standardised(base)
    model = net(
        (20,),
        layers.Dense(12, "relu"),
        layers.Dense(6),
        layers.Dense(12, "relu"),
        layers.Dense(20, "sigmoid" if faulty else None),
    )
    loss = "binary_crossentropy" if faulty else "mse"
    return program(model, (x, x), loss, "adam", None, epochs=40, batch_size=32)


def _autoencoder_pixels(faulty: bool, random: np.random.Generator) -> Program:
    x = rows.digits(random, 1500)[0].reshape(-1, 784) / (1 if faulty else 255)
    model = net(
        (784,),
        layers.Dense(64, "relu"),
        layers.Dense(32, "relu"),
        layers.Dense(64, "relu"),
        layers.Dense(784, "sigmoid"),
    )
    return program(model, (x, x), "mse", "adam", None, epochs=25, batch_size=64)


CASES: tuple[Case, ...] = (
    case("relu-negative-targets", "relu output for targets around 0", "activation", _relu_negative, DEV),
    case("sigmoid-prices", "sigmoid output for prices", "activation preprocessing", _sigmoid_prices, HELD_OUT),
    case(
        "tanh-progression", "tanh output for targets from 25 to 346", "activation preprocessing", _tanh_progression, DEV
    ),
    case("softmax-regression", "softmax over one unit for a regression", "activation", _softmax_target, HELD_OUT),
    case(
        "cross-entropy-regression",
        "binary cross-entropy and accuracy for a regression",
        "loss metric",
        _cross_entropy_target,
        DEV,
        neutral="activation",
    ),
    case(
        "categorical-regression",
        "softmax and categorical cross-entropy for ages",
        "loss activation metric preprocessing",
        _softmax_cross_entropy_ages,
        HELD_OUT,
    ),
    case("accuracy-regression", "accuracy as the metric of a regression", "metric", _accuracy_prices, HELD_OUT),
    case(
        "two-targets-one-unit",
        "one output unit broadcast to two targets",
        "architecture labels",
        _two_targets_one_unit,
        DEV,
    ),
    case(
        "sequence-output", "an output at every step for one target a row", "architecture labels", _sequence_output, DEV
    ),
    case("sigmoid-wave", "sigmoid output for targets from -1 to 1", "activation", _sigmoid_wave, HELD_OUT),
    case(
        "autoencoder-sigmoid",
        "sigmoid and cross-entropy to rebuild standardised columns",
        "activation loss preprocessing",
        _autoencoder_standardised,
        HELD_OUT,
    ),
    case(
        "autoencoder-pixels",
        "sigmoid to rebuild pixels from 0 to 255",
        "activation preprocessing",
        _autoencoder_pixels,
        DEV,
    ),
)

"""Programs over sequences and words."""

from __future__ import annotations

import numpy as np
from keras import layers, optimizers

from benchmarks.diagnosis_cases import rows
from benchmarks.diagnosis_cases.case import DEV, HELD_OUT, Case, Program, case, net, program


def _raw_series(faulty: bool, random: np.random.Generator) -> Program:
    x, y = rows.windows(random, 1000, 12)
    if faulty:
        x, y = 4000 + 1500 * x, 4000 + 1500 * y
    model = net((12, 1), layers.LSTM(32), layers.Dense(1))
    return program(model, (x, y), "mean_squared_error", "adam", None, epochs=20, batch_size=16)


def _relu_memory(faulty: bool, random: np.random.Generator) -> Program:
    x, y = rows.windows(random, 600, 100)
    model = net((100, 1), layers.LSTM(32, activation="relu" if faulty else "tanh"), layers.Dense(1))
    optimizer = optimizers.Adam(0.01)
    return program(model, (x, y), "mse", optimizer, "mae", epochs=8, batch_size=32)


def _words_out_of_range(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.sentences(random, 800, 500, 30)
    model = net(
        (30,),
        layers.Embedding(100 if faulty else 500, 16),
        layers.GlobalAveragePooling1D(),
        layers.Dense(16, "relu"),
        layers.Dense(1, "sigmoid"),
    )
    return program(model, (x, labels), "binary_crossentropy", optimizers.Adam(0.01), epochs=15, batch_size=32)


def _words_as_numbers(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.sentences(random, 1200, 500, 30)
    first = [] if faulty else [layers.Embedding(500, 16), layers.GlobalAveragePooling1D()]
    model = net((30,), *first, layers.Dense(32, "relu"), layers.Dense(16, "relu"), layers.Dense(1, "sigmoid"))
    data = (x.astype("float32") if faulty else x, labels)
    return program(model, data, "binary_crossentropy", "adam", epochs=25, batch_size=32)


def _words_one_softmax(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.sentences(random, 800, 300, 20)
    model = net(
        (20,),
        layers.Embedding(300, 16),
        layers.Bidirectional(layers.GRU(16)),
        layers.Dense(1, "softmax" if faulty else "sigmoid"),
    )
    return program(model, (x, labels), "binary_crossentropy", optimizers.Adam(0.005), epochs=8, batch_size=32)


def _unmasked_every_step(faulty: bool, random: np.random.Generator) -> Program:
    x, labels = rows.waves(random, 400, 60)
    model = net(
        (60, 1),
        layers.Conv1D(16, 5, activation="relu"),
        layers.GRU(16, return_sequences=faulty),
        layers.Dense(1, "sigmoid"),
    )
    data = (x, labels[:, None].astype("float32"))
    return program(model, data, "binary_crossentropy", optimizers.Adam(0.005), epochs=15, batch_size=32)


CASES: tuple[Case, ...] = (
    case("raw-series", "a series around 4,000 into an LSTM", "preprocessing", _raw_series, DEV),
    case(
        "relu-memory",
        "an LSTM with relu over 100 steps",
        "activation",
        _relu_memory,
        HELD_OUT,
        neutral="learning_rate numerical",
    ),
    case(
        "words-out-of-range",
        "word numbers beyond the embedding",
        "architecture data preprocessing",
        _words_out_of_range,
        DEV,
    ),
    case(
        "words-as-numbers",
        "word numbers fed as if they were quantities",
        "architecture preprocessing",
        _words_as_numbers,
        HELD_OUT,
    ),
    case(
        "words-one-softmax",
        "softmax over one unit after a GRU",
        "activation",
        _words_one_softmax,
        HELD_OUT,
        neutral="architecture",
    ),
    case(
        "every-step-output",
        "an output at every step for one label a row",
        "architecture labels",
        _unmasked_every_step,
        HELD_OUT,
    ),
)

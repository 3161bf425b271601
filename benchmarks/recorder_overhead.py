"""What `stethoscope.training.recording.Recorder` costs a real training: whole `fit`s with it against the same without, in turns."""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark

PAIRS = 25
LIMIT = 1.05
FIT_S = 1.0
"""Each `fit` is made to take about so long."""
BATCH = 32


def run(folder: Path) -> dict[str, Any]:
    """A dense model of short steps, a convolutional one and a transformer of longer ones, at the default interval."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    figures: dict[str, Any] = {}
    for name, made in {"dense": _dense, "conv": _conv, "transformer": _transformer}.items():
        figures[name] = _ratio(*made(), folder / name)
    return figures | {"holds": all(item["ratio"] <= LIMIT for item in figures.values())}


def _ratio(model: Any, x: Any, y: Any, folder: Path) -> dict[str, Any]:
    from stethoscope.keras import Recorder

    recorder = Recorder(folder)

    def fit(recorded: bool, epochs: int) -> tuple[float, float]:
        begin, used = time.perf_counter(), time.process_time()
        model.fit(x, y, batch_size=BATCH, epochs=epochs, verbose=0, callbacks=[recorder] if recorded else [])
        return time.perf_counter() - begin, time.process_time() - used

    fit(recorded=False, epochs=1)
    epochs = max(1, round(FIT_S / fit(recorded=False, epochs=1)[0]))
    for _ in range(2):  # traces the watched step, once, and learns what a look costs
        fit(recorded=True, epochs=epochs)
    looks = recorder.schedule.looks
    pairs: list[dict[bool, tuple[float, float]]] = []
    for at in range(PAIRS):
        # Each way goes first every other time: what slows the machine for a while slows both alike.
        pairs.append({recorded: fit(recorded, epochs) for recorded in ((False, True) if at % 2 else (True, False))})
    ratios = [pair[True][0] / pair[False][0] for pair in pairs]
    low, high = median_interval(ratios)
    plain_s = statistics.median(pair[False][0] for pair in pairs)
    steps = epochs * -(-len(x) // BATCH)
    return {
        "steps": steps,
        "step_ms": round(1000 * plain_s / steps, 3),
        "looks_a_fit": round((recorder.schedule.looks - looks) / PAIRS, 1),
        "plain_s": round(plain_s, 3),
        "ratio": round(statistics.median(ratios), 4),
        "ratio_95": [round(low, 4), round(high, 4)],
        "processor_ratio": round(statistics.median(pair[True][1] / pair[False][1] for pair in pairs), 4),
        "own_account": round(recorder.schedule.spent_share, 4),
        "traced_once_s": round(recorder.schedule.prepared_s, 3),
    }


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """An interval that holds the median of what the values were drawn from with at least 95 % confidence.

    Source: order statistics and the binomial distribution (Conover, Practical Nonparametric Statistics, 3.2).
    """
    ordered, count = sorted(values), len(values)
    below, cut = 0.0, 0
    for at in range(count // 2):
        below += math.comb(count, at) / 2**count
        if below > 0.025:
            break
        cut = at + 1
    cut = max(1, cut)
    return ordered[cut - 1], ordered[count - cut]


def _dense() -> tuple[Any, Any, Any]:
    import keras

    random = np.random.default_rng(0)
    x = random.normal(size=(8_000, 20)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > 0).astype(np.float32)
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((20,)),
            *(layers.Dense(64, activation="relu") for _ in range(3)),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model, x, y


def _conv() -> tuple[Any, Any, Any]:
    import keras

    random = np.random.default_rng(0)
    x = random.normal(size=(1_600, 28, 28, 1)).astype(np.float32)
    y = random.integers(0, 10, 1_600)
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model, x, y


def _transformer() -> tuple[Any, Any, Any]:
    """Two BERT-like blocks of width 64 over 32 words out of 2,000."""
    import keras

    random = np.random.default_rng(0)
    words = random.integers(0, 2_000, (640, 32))
    y = random.integers(0, 2, 640)
    layers = keras.layers
    tokens = keras.Input((32,), dtype="int32")
    places = keras.ops.arange(32)
    value = layers.Embedding(2_000, 64, name="words")(tokens) + layers.Embedding(32, 64, name="places")(places)
    for _ in range(2):
        value = layers.LayerNormalization()(value + layers.MultiHeadAttention(4, 16)(value, value))
        wide = layers.Dense(256, activation="gelu")(value)
        value = layers.LayerNormalization()(value + layers.Dropout(0.1)(layers.Dense(64)(wide)))
    answer = layers.Dense(2, activation="softmax")(layers.Dense(64, activation="tanh")(value[:, 0]))
    model = keras.Model(tokens, answer)
    model.compile(keras.optimizers.AdamW(1e-4), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model, words, y


BENCHMARK = Benchmark(
    "recorder_overhead",
    "Recorder at its default interval makes a training take at most 5 % longer (median of pairs of fits, in turns)",
    run,
)

"""Small models and tables that many specimens are made of; the same at every call."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]
ROWS = 240


def dense(features: int, last: tuple[int, str | None], loss: Any, metric: str = "", factor: float | None = None) -> Any:
    """A compiled network with one relu layer of 16 and the output `last`; `factor` multiplies what the hidden layer says."""
    import keras
    from keras import layers

    keras.utils.set_random_seed(7)
    between = [] if factor is None else [layers.Rescaling(factor)]
    model = keras.Sequential([keras.Input((features,)), layers.Dense(16, "relu"), *between, layers.Dense(*last)])
    model.compile(optimizer=keras.optimizers.Adam(0.02), loss=loss, metrics=[metric] if metric else [])
    return model


def clusters(count: int) -> Arrays:
    """`count` groups of points in four dimensions, shuffled, about 0 with deviation near 1; y: class numbers."""
    random = np.random.default_rng(count)
    labels = random.permutation(np.arange(ROWS) % count)
    x = random.normal(0, 1.2, (count, 4))[labels] + random.normal(0, 0.3, (ROWS, 4))
    return {"x": x.astype("float32"), "y": labels.astype("int32")}


def one_hot(arrays: Arrays, count: int) -> Arrays:
    """The same with one-hot labels."""
    return {"x": arrays["x"], "y": np.eye(count, dtype="float32")[arrays["y"]]}


def halves() -> Arrays:
    """Yes or no, by the sign of a sum."""
    x = np.random.default_rng(1).normal(size=(ROWS, 4)).astype("float32")
    return {"x": x, "y": (x[:, 0] + x[:, 1] > 0).astype("int32")}


def slope() -> Arrays:
    """A number around 0 that depends on the columns."""
    random = np.random.default_rng(2)
    x = random.normal(size=(ROWS, 4)).astype("float32")
    y = x @ np.array([1.0, -0.8, 0.5, 0.3]) + 0.05 * random.normal(size=ROWS)
    return {"x": x, "y": y.astype("float32")[:, None]}


def tags(count: int) -> Arrays:
    """`count` labels that go together."""
    random = np.random.default_rng(3)
    x = random.normal(size=(ROWS, 4)).astype("float32")
    return {"x": x, "y": (x @ random.normal(size=(4, count)) > 0).astype("float32")}


def series() -> Arrays:
    """Six steps of two numbers, and one number in −1 … 1 for each."""
    x = np.random.default_rng(4).normal(size=(ROWS, 6, 2)).astype("float32")
    return {"x": x, "y": np.tanh(x[:, :, 0].mean(axis=1))[:, None].astype("float32")}


def words(vocabulary: int) -> Arrays:
    """Eight word numbers a row; yes when the first is in the upper half."""
    x = np.random.default_rng(5).integers(0, vocabulary, (ROWS, 8)).astype("int32")
    return {"x": x, "y": (x[:, 0] >= vocabulary // 2).astype("int32")}

"""Small sound programs that the specimens of curve checks bend: a ring to tell from its centre, and logs written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sample_models.specimen import Program

SEED = 7


def rings(rows: int = 400, noise: float = 0.0) -> dict[str, npt.NDArray[Any]]:
    """Two columns, standardised; label 1 outside a circle that halves the rows. `noise`: share of labels turned over."""
    generator = np.random.default_rng(SEED)
    x = generator.normal(size=(rows, 2)).astype(np.float32)
    y = (np.square(x).sum(axis=1) > 2 * np.log(2)).astype(np.float32)
    turned = generator.random(rows) < noise
    y[turned] = 1 - y[turned]
    return {"x": x, "y": y.reshape(-1, 1)}


def classifier(
    optimizer: Any = None, units: Sequence[int] = (32, 32), activation: str = "relu", inputs: int = 2
) -> Any:
    """A network for one yes or no with binary cross-entropy."""
    import keras
    from keras import layers

    keras.utils.set_random_seed(SEED)
    hidden = [layers.Dense(size, activation=activation, name=f"hidden_{at}") for at, size in enumerate(units, 1)]
    model = keras.Sequential(
        [layers.Input((inputs,), name="x"), *hidden, layers.Dense(1, activation="sigmoid", name="answer")]
    )
    model.compile(optimizer or keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=["accuracy"])
    return model


def fitted(
    model: Any, arrays: Mapping[str, Any] | None = None, *, epochs: int = 20, batch_size: int = 32, split: float = 0.25
) -> Program:
    """The model with data and what `fit` would be told."""
    fit = {"epochs": epochs, "batch_size": batch_size, "validation_split": split}
    return Program(model, rings() if arrays is None else arrays, fit)


def logged(**columns: Sequence[float]) -> Program:
    """A sound network whose log of training holds these columns."""

    def write(folder: Path) -> None:
        history = {name: [float(value) for value in values] for name, values in columns.items()}
        (folder / "history.json").write_text(json.dumps(history))

    return Program(classifier(), logs=write)


def runs(**logs: Mapping[str, Sequence[float]]) -> Program:
    """Logs of several runs, judged by themselves: a table of columns for each name."""

    def write(folder: Path) -> None:
        for name, columns in logs.items():
            history = {column: [float(value) for value in values] for column, values in columns.items()}
            (folder / f"{name}.json").write_text(json.dumps(history))

    return Program(logs=write)


def falling(epochs: int = 30, start: float = 0.7, end: float = 0.05, pace: float = 6.0) -> list[float]:
    """A loss that falls towards `end`."""
    return [float(end + (start - end) * np.exp(-at / pace)) for at in range(epochs)]


def rising(epochs: int = 30, start: float = 0.5, end: float = 0.97, pace: float = 6.0) -> list[float]:
    """An accuracy that rises towards `end`."""
    return [float(end - (end - start) * np.exp(-at / pace)) for at in range(epochs)]

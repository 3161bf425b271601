"""What the faulty samples share: a compiled, untrained network and its training rows, saved side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sample_models.canonical import save_keras


def raw_table(name: str) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
    """A small real table ("breast_cancer", "wine", "diabetes") in its own units: (rows, columns), targets.

    Source: the UCI and NCSU data sets in `sklearn.datasets`.
    """
    from sklearn import datasets

    # scikit-learn ships the diabetes columns already centred; their own units are what a user would have.
    given = {"scaled": False} if name == "diabetes" else {}
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True, **given)
    order = np.random.default_rng(0).permutation(len(x))
    return x[order].astype(np.float32), y[order]


def standardised(x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Columns with mean 0 and deviation 1."""
    return ((x - x.mean(axis=0)) / x.std(axis=0)).astype(np.float32)


def dense(columns: int, hidden: Sequence[int], activation: str, units: int, last: str | None, name: str) -> Any:
    """An untrained network of dense layers on rows of `columns` numbers."""
    import keras
    from keras import layers

    stack = [layers.Dense(size, activation=activation, name=f"hidden_{place}") for place, size in enumerate(hidden, 1)]
    ends = layers.Dense(units, activation=last, name="output")
    return keras.Sequential([layers.Input((columns,), name="row"), *stack, ends], name=name)


def save(folder: Path, name: str, model: Any, x: npt.NDArray[Any], y: npt.NDArray[Any]) -> Path:
    """Writes `name`.keras and `name`_data.npz; returns the model's file."""
    np.savez_compressed(folder / data_file(name), x=x, y=y)
    return save_keras(model, folder / f"{name}.keras")


def data_file(name: str) -> str:
    """The name of a faulty sample's data file."""
    return f"{name}_data.npz"

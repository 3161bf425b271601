"""Small compiled models with data."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sample_models.canonical import save_keras
from tests.frameworks import keras, tf_keras


def save_all(folder: Path) -> Path:
    """plain, xla, old (Keras 2) and random .keras; odd.npz (69 rows) and even.npz (64)."""
    rng = np.random.default_rng(0)
    y = np.arange(69) % 3
    x = rng.standard_normal((69, 4)).astype("float32")
    x[:, :3] += np.eye(3)[y]
    np.savez(folder / "odd.npz", x=x, y=y)
    np.savez(folder / "even.npz", x=x[:64], y=y[:64])
    keras.utils.clear_session()
    tf_keras.backend.clear_session()
    for name, package, layer, options, jit in (
        ("plain", keras, "", {}, False),
        ("xla", keras, "BatchNormalization", {}, True),
        ("old", tf_keras, "BatchNormalization", {}, True),
        ("random", keras, "Dropout", {"rate": 0.3}, False),
    ):
        package.utils.set_random_seed(0)
        layers = package.layers
        middle = [getattr(layers, layer)(**options)] if layer else []
        hidden, answer = layers.Dense(8, activation="tanh"), layers.Dense(3, activation="softmax")
        model = package.Sequential([layers.Input((4,)), hidden, *middle, answer])
        model.compile(package.optimizers.SGD(0.1), "sparse_categorical_crossentropy", jit_compile=jit)
        save_keras(model, folder / f"{name}.keras")
    return folder

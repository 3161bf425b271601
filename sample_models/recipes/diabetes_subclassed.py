"""A subclassed model, exported."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from sample_models import datasets
from sample_models.canonical import save_saved_model
from sample_models.recipe import Recipe


def _network() -> Any:
    import keras
    from keras import layers

    class Regressor(keras.Model):  # type: ignore[misc]
        """A dense network with one residual block, written as a class."""

        def __init__(self) -> None:
            super().__init__(name="regressor")
            self.enter = layers.Dense(32, activation="relu", name="enter")
            self.block = layers.Dense(32, activation="relu", name="block")
            self.leave = layers.Dense(1, name="leave")

        def call(self, x: Any) -> Any:
            x = self.enter(x)
            return self.leave(x + self.block(x))

    return Regressor()


def _build(folder: Path) -> Path:
    import keras
    import tensorflow as tf

    data, model = datasets.table("diabetes"), _network()
    centre, spread = data.y_train.mean(), data.y_train.std()
    model.compile(keras.optimizers.Adam(2e-3), "mse")
    model.fit(data.x_train, (data.y_train - centre) / spread, epochs=30, batch_size=32, verbose=0)
    np.savez(
        folder / "diabetes_sample.npz", x=data.x_test[:64], y=((data.y_test[:64] - centre) / spread).astype(np.float32)
    )
    with tempfile.TemporaryDirectory() as scratch:
        signature = [tf.TensorSpec((None, 10), tf.float32, name="measurements")]
        model.export(scratch, input_signature=signature, verbose=False)
        return save_saved_model(Path(scratch), folder / "diabetes_saved_model.zip")


RECIPE = Recipe(
    id="diabetes_subclassed",
    title="Diabetes progression (SavedModel)",
    behaviour="A model written as a Python class: only its graph and weights survive the export.",
    description="Predicts how diabetes progresses from ten standardised measurements; the target is standardised too. Trained on the "
    "real table that scikit-learn ships, written as a keras.Model subclass, exported as SavedModel.",
    parameters=1_441,
    build=_build,
    order=12,
    data="diabetes_sample.npz",
    expectations={"consistent": True},
)

"""A Keras 2 file of the old kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sample_models import datasets
from sample_models.recipe import SEED, Recipe


def _build(folder: Path) -> Path:
    import tf_keras as keras
    from tf_keras import layers

    keras.utils.set_random_seed(SEED)
    inputs = layers.Input((30,), name="measurements")
    x = layers.Dense(16, activation="relu", name="hidden_1")(inputs)
    x = layers.Dropout(0.2, name="dropout")(x)
    x = layers.Dense(8, activation="relu", name="hidden_2")(x)
    model = keras.Model(inputs, layers.Dense(1, activation="sigmoid", name="benign")(x), name="cancer")
    model.compile(keras.optimizers.Adam(learning_rate=0.003), "binary_crossentropy", metrics=["accuracy"])
    data = datasets.table("breast_cancer")
    model.fit(data.x_train, data.y_train, epochs=20, batch_size=32, verbose=0)
    np.savez(folder / "cancer_sample.npz", x=data.x_test[:64], y=data.y_test[:64])
    file = folder / "cancer_keras2.h5"
    model.save(file)
    return file


def _measure(file: Path) -> dict[str, float]:
    import tf_keras as keras

    data = datasets.table("breast_cancer")
    answer = np.asarray(keras.models.load_model(file).predict_on_batch(data.x_test))[:, 0]
    return {"accuracy": round(float(np.mean((answer > 0.5) == (data.y_test > 0.5))), 4)}


RECIPE = Recipe(
    id="cancer_keras2",
    title="Breast tumours (Keras 2, HDF5)",
    behaviour="A file from before Keras 3, with its training settings inside.",
    description="Tells benign from malignant tumours by 30 standardised measurements. Trained with Keras 2 on the real table that "
    "scikit-learn ships, with Adam, a learning rate of 0.003 and binary cross-entropy.",
    parameters=641,
    build=_build,
    order=13,
    data="cancer_sample.npz",
    expectations={
        "consistent": True,
        "compile": {"loss": "binary_crossentropy", "optimizer": "Adam", "learning_rate": 0.003},
    },
    measure=_measure,
)

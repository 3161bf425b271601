"""A `.keras` file that Keras 2 wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sample_models import datasets
from sample_models.canonical import save_keras
from sample_models.recipe import SEED, Recipe


def _build(folder: Path) -> Path:
    import tf_keras as keras
    from tf_keras import layers

    keras.utils.set_random_seed(SEED)
    model = keras.Sequential(
        [
            layers.Input((13,), name="chemistry"),
            layers.Dense(16, use_bias=False, name="hidden"),
            layers.BatchNormalization(name="norm"),
            layers.ReLU(name="relu"),
            layers.Dense(3, activation="softmax", name="cultivar"),
        ],
        name="wine",
    )
    model.compile(
        keras.optimizers.SGD(learning_rate=0.01, momentum=0.9), "sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    data = datasets.table("wine")
    model.fit(data.x_train, data.y_train, epochs=30, batch_size=16, verbose=0)
    np.savez(folder / "wine_sample.npz", x=data.x_test, y=data.y_test)
    return save_keras(model, folder / "wine_keras2.keras")


def _measure(file: Path) -> dict[str, float]:
    import tf_keras as keras

    data = datasets.table("wine")
    answer = np.asarray(keras.models.load_model(file).predict_on_batch(data.x_test))
    return {"accuracy": round(float(np.mean(answer.argmax(axis=-1) == data.y_test)), 4)}


RECIPE = Recipe(
    id="wine_keras2",
    title="Wine cultivars (Keras 2, .keras)",
    behaviour="The new container with an old model inside: a .keras file is not always Keras 3.",
    description="Tells three cultivars apart by 13 standardised measurements, with batch normalisation. Trained with Keras 2 on the "
    "real table that scikit-learn ships.",
    parameters=323,
    build=_build,
    order=23,
    data="wine_sample.npz",
    expectations={"consistent": True},
    measure=_measure,
)

"""Models inside a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sample_models import datasets
from sample_models.canonical import save_keras
from sample_models.recipe import Recipe

DATA = "digit_autoencoder_sample.npz"


def _build(folder: Path) -> Path:
    import keras
    from keras import layers

    encoder = keras.Sequential(
        [
            layers.Input((8, 8, 1), name="encoder_input"),
            layers.Conv2D(16, 3, strides=2, padding="same", activation="relu", name="shrink"),
            layers.Flatten(name="flatten"),
            layers.Dense(12, name="code"),
        ],
        name="encoder",
    )
    code = layers.Input((12,), name="decoder_input")
    x = layers.Dense(4 * 4 * 16, activation="relu", name="expand")(code)
    x = layers.Reshape((4, 4, 16), name="reshape")(x)
    x = layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid", name="draw")(x)
    decoder = keras.Model(code, x, name="decoder")
    image = layers.Input((8, 8, 1), name="image")
    model = keras.Model(image, decoder(encoder(image)), name="digit_autoencoder")
    model.compile(keras.optimizers.Adam(3e-3), "mse")
    data = datasets.digits()
    model.fit(data.x_train, data.x_train, epochs=20, batch_size=32, verbose=0)
    np.savez(folder / DATA, x=data.x_test[:64], y=data.x_test[:64])
    return save_keras(model, folder / "digit_autoencoder.keras")


def _measure(file: Path) -> dict[str, float]:
    import keras

    images = datasets.digits().x_test
    answer = np.asarray(keras.models.load_model(file).predict_on_batch(images))
    return {"mean_squared_error": round(float(np.mean((answer - images) ** 2)), 5)}


RECIPE = Recipe(
    id="digit_autoencoder",
    title="Digit autoencoder (models inside a model)",
    behaviour="An encoder and a decoder, each a model of its own, nested in a third.",
    description="Squeezes a digit image into 12 numbers and draws it again. Trained on scikit-learn's digits.",
    parameters=6_717,
    build=_build,
    order=16,
    data=DATA,
    expectations={"consistent": True, "nested": ["encoder", "decoder"]},
    measure=_measure,
)

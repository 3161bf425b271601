"""A recurrent text classifier."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sample_models import datasets
from sample_models.canonical import save_keras
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            layers.Input((None,), dtype="int32", name="tokens"),
            layers.Embedding(1000, 16, mask_zero=True, name="embedding"),
            layers.Bidirectional(layers.LSTM(16, name="lstm"), name="reader"),
            layers.Dropout(0.2, name="dropout"),
            layers.Dense(1, activation="sigmoid", name="praise"),
        ],
        name="reviews_lstm",
    )
    model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=["accuracy"])
    tokens, verdict = datasets.reviews(1500)
    model.fit(tokens[:1200], verdict[:1200], epochs=4, batch_size=32, verbose=0)
    np.savez(folder / "reviews_sample.npz", x=tokens[1200:1264], y=verdict[1200:1264])
    return save_keras(model, folder / "reviews_lstm.keras")


def _measure(file: Path) -> dict[str, float]:
    import keras

    tokens, verdict = datasets.reviews(1500)
    answer = np.asarray(keras.models.load_model(file).predict_on_batch(tokens[1200:]))
    return {"accuracy": round(float(np.mean((answer > 0.5) == (verdict[1200:] > 0.5))), 4)}


RECIPE = Recipe(
    id="reviews_lstm",
    title="Review classifier (LSTM)",
    behaviour="A recurrent network over word numbers of any length, with padding masked out.",
    description="An embedding, a bidirectional LSTM and a sigmoid, trained on made-up reviews in which words 1–99 praise and "
    "100–198 complain. Word numbers go from 0 (padding) to 999.",
    parameters=20_257,
    build=_build,
    order=14,
    data="reviews_sample.npz",
    expectations={"consistent": True, "integer_limits": {"tokens": 1000}},
    measure=_measure,
)

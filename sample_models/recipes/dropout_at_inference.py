"""Inconsistent: dropout that never switches off."""

from __future__ import annotations

from pathlib import Path

from sample_models.canonical import save_keras
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    import keras
    from keras import layers

    image = layers.Input((8, 8, 1), name="image")
    x = layers.Conv2D(8, 3, activation="relu", name="edges")(image)
    x = layers.Flatten(name="flatten")(x)
    x = layers.Dense(32, activation="relu", name="hidden")(x)
    x = layers.Dropout(0.5, name="always_on_dropout")(x, training=True)
    model = keras.Model(image, layers.Dense(10, activation="softmax", name="digit")(x), name="dropout_at_inference")
    return save_keras(model, folder / "dropout_at_inference.keras")


RECIPE = Recipe(
    id="dropout_at_inference",
    title="Dropout that never stops",
    behaviour="The same input gives another answer each time, because a dropout layer is active at inference.",
    description="A digits classifier with random weights whose dropout layer was called with training=True. Called as model(x), its "
    "answers change; Keras 3's predict() hides that, because it overrules the layer. The consistency test names the layer "
    "always_on_dropout.",
    parameters=9_658,
    build=_build,
    order=3,
    data="digits_sample.npz",
    expectations={"consistent": False, "first_difference": "always_on_dropout"},
)

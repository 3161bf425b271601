"""Inconsistent however it is called: Keras 2 lets a layer's training=True win over predict()."""

from __future__ import annotations

from pathlib import Path

from sample_models.recipe import SEED, Recipe


def _build(folder: Path) -> Path:
    import tf_keras as keras
    from tf_keras import layers

    keras.utils.set_random_seed(SEED)
    image = layers.Input((8, 8, 1), name="image")
    x = layers.Flatten(name="flatten")(image)
    x = layers.Dense(32, activation="relu", name="hidden")(x)
    x = layers.Dropout(0.5, name="always_on_dropout")(x, training=True)
    model = keras.Model(image, layers.Dense(10, activation="softmax", name="digit")(x), name="dropout_keras2")
    file = folder / "dropout_keras2.h5"
    model.save(file)
    return file


RECIPE = Recipe(
    id="dropout_keras2",
    title="Dropout that never stops (Keras 2)",
    behaviour="The same input gives another answer each time, even from predict(): in Keras 2 the layer's setting wins.",
    description="A digits classifier with random weights, written by Keras 2, whose dropout layer was called with training=True. The "
    "consistency test names the layer always_on_dropout.",
    parameters=2_410,
    build=_build,
    order=31,
    data="digits_sample.npz",
    expectations={"consistent": False, "first_difference": "always_on_dropout"},
)

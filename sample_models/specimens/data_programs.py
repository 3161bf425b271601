"""Models and tables that the specimens of data checks bend."""

from __future__ import annotations

from typing import Any

import numpy as np

from sample_models.specimen import Program
from sample_models.specimens.easy_rows import Arrays, groups, pictures

TRAINED = {"epochs": 20, "batch_size": 16}


def classified(arrays: Arrays | None = None, classes: int = 3, **fit: Any) -> Program:
    """A sound classifier of a table of class numbers."""
    import keras

    given = groups(classes=classes) if arrays is None else arrays
    keras.utils.set_random_seed(3)
    layers = [
        keras.Input((given["x"].shape[1],), name="table"),
        keras.layers.Dense(24, activation="relu", name="hidden"),
        keras.layers.Dense(classes, activation="softmax", name="kind"),
    ]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.005), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return Program(model, given, TRAINED | fit)


def seen(arrays: Arrays | None = None, *, rescaled: bool = False) -> Program:
    """A sound classifier of small pictures; `rescaled`: the model divides pixels by 255 itself."""
    import keras

    keras.utils.set_random_seed(3)
    inside = [keras.layers.Rescaling(1 / 255, name="to_one")] if rescaled else []
    layers = [
        keras.Input((16, 16, 1), name="picture"),
        *inside,
        keras.layers.Conv2D(8, 3, activation="relu", name="strokes"),
        keras.layers.MaxPooling2D(name="smaller"),
        keras.layers.Flatten(name="flat"),
        keras.layers.Dense(4, activation="softmax", name="quarter"),
    ]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.005), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return Program(model, pictures() if arrays is None else arrays, TRAINED)


def measured(size: float = 1.0, shift: float = 0.0) -> Program:
    """A sound regression whose targets have the deviation `size` around `shift`."""
    import keras

    random = np.random.default_rng(2)
    x = random.normal(size=(240, 4)).astype("float32")
    y = x @ np.array([0.7, -0.5, 0.4, 0.3]) + 0.05 * random.normal(size=240)
    keras.utils.set_random_seed(3)
    layers = [
        keras.Input((4,), name="table"),
        keras.layers.Dense(24, activation="relu", name="hidden"),
        keras.layers.Dense(1, name="price"),
    ]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    return Program(model, {"x": x, "y": (y / y.std() * size + shift).astype("float32")}, TRAINED)

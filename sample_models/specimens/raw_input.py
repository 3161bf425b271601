"""Reviews as text for a table of 50 words and 8 places, and as the numbers of their words."""

from __future__ import annotations

import numpy as np

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import words


def _program(faulty: bool) -> Program:
    import keras
    from keras import layers

    keras.utils.set_random_seed(7)
    model = keras.Sequential([keras.Input((8,)), layers.Embedding(50, 4), layers.Flatten(), layers.Dense(1, "sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    arrays = words(50)
    if faulty:
        arrays["x"] = np.array([" ".join(f"word{number:.0f}" for number in row) for row in arrays["x"]])
    return Program(model, arrays, {"epochs": 30})


SPECIMEN = Specimen("raw-input", faulty=lambda: _program(True), healthy=lambda: _program(False))

"""Word numbers up to 49 for a table of 20 rows, and of 50."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import words


def _program(faulty: bool) -> Program:
    import keras
    from keras import layers

    keras.utils.set_random_seed(7)
    table = layers.Embedding(20 if faulty else 50, 4)
    model = keras.Sequential([keras.Input((8,)), table, layers.Flatten(), layers.Dense(1, "sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    return Program(model, words(50), {"epochs": 30})


SPECIMEN = Specimen("embedding-range", faulty=lambda: _program(True), healthy=lambda: _program(False))

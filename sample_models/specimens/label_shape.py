"""An output at every step for one target a row, and one output."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import series


def _program(faulty: bool) -> Program:
    import keras
    from keras import layers

    keras.utils.set_random_seed(7)
    model = keras.Sequential(
        [keras.Input((6, 2)), layers.GRU(8, return_sequences=True), layers.GRU(1, return_sequences=faulty)]
    )
    model.compile(optimizer="adam", loss="mse")
    return Program(model, series(), {"epochs": 30})


SPECIMEN = Specimen("label-shape", faulty=lambda: _program(True), healthy=lambda: _program(False))

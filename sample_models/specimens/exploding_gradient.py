"""Noise cannot be learned, but a rate this large makes the attempt explode."""

from __future__ import annotations

from typing import Any

import numpy as np

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import SEED, fitted


def _program(rate: float) -> Program:
    import keras
    from keras import layers

    keras.utils.set_random_seed(SEED)
    generator = np.random.default_rng(SEED)
    arrays: dict[str, Any] = {
        "x": generator.normal(size=(320, 16)).astype(np.float32),
        "y": generator.normal(size=(320, 1)).astype(np.float32),
    }
    model = keras.Sequential([layers.Input((16,), name="x"), layers.Dense(1, name="answer")])
    model.compile(keras.optimizers.SGD(rate), "mse")
    return fitted(model, arrays, epochs=3)


def _faulty() -> Program:
    return _program(0.9)


def _healthy() -> Program:
    return _program(1e-2)


SPECIMEN = Specimen("exploding-gradient", faulty=_faulty, healthy=_healthy, trains=True)

"""A learning rate that grows tenfold every few steps, as a decay with a rate above 1 does; and one that stays."""

from __future__ import annotations

from typing import Any

import numpy as np

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import SEED, fitted


def _program(rate: Any) -> Program:
    import keras
    from keras import layers

    keras.utils.set_random_seed(SEED)
    generator = np.random.default_rng(SEED)
    x = generator.normal(size=(320, 16)).astype(np.float32)
    target = x @ generator.normal(size=(16, 1)) / 4 + 0.1 * generator.normal(size=(320, 1))
    model = keras.Sequential([layers.Input((16,), name="x"), layers.Dense(1, name="answer")])
    model.compile(keras.optimizers.Adam(rate), "mse")
    return fitted(model, {"x": x, "y": target.astype(np.float32)}, epochs=20)


def _faulty() -> Program:
    import keras

    return _program(keras.optimizers.schedules.ExponentialDecay(1e-3, decay_steps=20, decay_rate=10.0))


def _healthy() -> Program:
    return _program(1e-2)


SPECIMEN = Specimen("exploding-gradient", faulty=_faulty, healthy=_healthy, trains=True)

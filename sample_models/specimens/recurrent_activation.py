"""An LSTM with relu, and with tanh."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.easy_rows import waves


def faulty() -> Program:
    """Its state can grow without limit."""
    return _program("relu")


def healthy() -> Program:
    """The default."""
    return _program("tanh")


def _program(activation: str) -> Program:
    import keras
    from keras import layers

    memory = layers.LSTM(12, activation=activation, name="memory")
    model = keras.Sequential([keras.Input((12, 1)), memory, layers.Dense(1, name="next")])
    model.compile(optimizer="adam", loss="mse")
    return Program(model, waves(), {"epochs": 20})


SPECIMEN = Specimen(check_id="recurrent-activation", faulty=faulty, healthy=healthy)

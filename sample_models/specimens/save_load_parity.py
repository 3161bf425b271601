"""A layer that forgets a setting when it is saved, and one that has nothing to forget."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.easy_rows import groups


def faulty() -> Program:
    """Saved with autocast=False; Keras reads it and does not write it again, so large values overflow after that."""
    return _program(forgets=True)


def healthy() -> Program:
    """The same in the dtype of the other layers."""
    return _program(forgets=False)


def _program(forgets: bool) -> Program:
    import keras
    from keras import layers

    if forgets:
        unit = layers.UnitNormalization(dtype="float16", autocast=False, name="unit")
        settings = unit.get_config()
        unit.get_config = lambda: {**settings, "autocast": False}
    else:
        unit = layers.UnitNormalization(name="unit")
    columns = keras.Input((8,), name="columns")
    hidden = layers.Dense(24, activation="relu")(unit(layers.Rescaling(1e6)(columns)))
    model = keras.Model(columns, layers.Dense(3, activation="softmax", name="kind")(hidden))
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return Program(model, groups(), {"epochs": 20})


SPECIMEN = Specimen(check_id="save-load-parity", faulty=faulty, healthy=healthy)

"""The slope of a square root at zero is infinite, and times zero it is NaN."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import SEED, classifier, fitted


def _faulty() -> Program:
    import keras
    from keras import layers

    keras.utils.set_random_seed(SEED)
    inputs = layers.Input((2,), name="x")
    hidden = layers.Dense(16, activation="relu", name="hidden")(inputs)
    root = keras.ops.sqrt(hidden)
    model = keras.Model(inputs, layers.Dense(1, activation="sigmoid", name="answer")(root))
    model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=["accuracy"])
    return fitted(model)


def _healthy() -> Program:
    return fitted(classifier())


SPECIMEN = Specimen("nonfinite-training", faulty=_faulty, healthy=_healthy, trains=True)

"""A branch whose result is multiplied by zero."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import SEED, classifier, fitted, rings


def _faulty() -> Program:
    import keras
    from keras import layers

    keras.utils.set_random_seed(SEED)
    inputs = layers.Input((2,), name="x")
    main = layers.Dense(16, activation="relu", name="main")(inputs)
    side = layers.Dense(16, activation="relu", name="side")(inputs)
    both = layers.Add(name="both")([main, layers.Rescaling(0.0, name="nothing")(side)])
    model = keras.Model(inputs, layers.Dense(1, activation="sigmoid", name="answer")(both))
    model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=["accuracy"])
    return fitted(model, rings(noise=0.15))


def _healthy() -> Program:
    return fitted(classifier(), rings(noise=0.15))


SPECIMEN = Specimen("unchanged-weights", faulty=_faulty, healthy=_healthy, trains=True)

"""An operation in the middle that lets no gradient through."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import SEED, classifier, fitted, rings


def _faulty() -> Program:
    import keras
    from keras import layers

    keras.utils.set_random_seed(SEED)
    inputs = layers.Input((2,), name="x")
    hidden = layers.Dense(4, activation="tanh", name="hidden")(inputs)
    cut = keras.ops.stop_gradient(hidden)
    model = keras.Model(inputs, layers.Dense(1, activation="sigmoid", name="answer")(cut))
    model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=["accuracy"])
    return fitted(model, rings(noise=0.15))


def _healthy() -> Program:
    return fitted(classifier(), rings(noise=0.15))


SPECIMEN = Specimen("numerical-gradient", faulty=_faulty, healthy=_healthy, trains=True)

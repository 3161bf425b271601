"""Every input is multiplied by zero, so no row can be told from another."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import SEED, classifier, fitted


def _faulty() -> Program:
    import keras
    from keras import layers

    keras.utils.set_random_seed(SEED)
    model = keras.Sequential(
        [
            layers.Input((2,), name="x"),
            layers.Rescaling(0.0, name="nothing"),
            layers.Dense(16, activation="tanh", name="hidden"),
            layers.Dense(1, activation="sigmoid", name="answer"),
        ]
    )
    model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=["accuracy"])
    return fitted(model)


def _healthy() -> Program:
    return fitted(classifier())


SPECIMEN = Specimen("fit-small-batch", faulty=_faulty, healthy=_healthy, trains=True)

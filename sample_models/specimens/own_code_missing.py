"""A network with a layer of somebody's own, whose module is not here, and the same with Keras' own layer."""

from __future__ import annotations

from typing import Any

from sample_models.specimen import Program, Specimen


def _program(faulty: bool) -> Program:
    import keras

    class Doubled(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return x * 2.0

    Doubled.__module__ = "acme_tabular.layers"
    middle = Doubled(name="doubled") if faulty else keras.layers.Rescaling(2.0, name="doubled")
    model = keras.Sequential([keras.Input((4,)), middle, keras.layers.Dense(1, name="size")])
    model.compile("adam", "mse")
    return Program(model)


SPECIMEN = Specimen("own-code-missing", faulty=lambda: _program(True), healthy=lambda: _program(False))

"""The classifier that specimens vary: three classes of points, layers given by the specimen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sample_models.specimen import Program
from sample_models.specimens.easy_rows import groups


def points_program(hidden: Sequence[Any], optimizer: Any = "adam", *, bias: bool = True) -> Program:
    """A compiled classifier of `groups()`: the hidden layers, then softmax over three classes."""
    import keras

    layers = [keras.Input((8,)), *hidden, keras.layers.Dense(3, activation="softmax", use_bias=bias, name="kind")]
    model = keras.Sequential(layers)
    model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return Program(model, groups(), {"epochs": 20, "batch_size": 16})


def as_if_trained(model: Any, seed: int = 0) -> None:
    """Gives every bias small values, as training leaves them."""
    random = np.random.default_rng(seed)
    for layer in model.layers:
        if getattr(layer, "bias", None) is not None:
            layer.bias.assign(random.normal(size=layer.bias.shape) * 0.1)

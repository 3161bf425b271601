"""Small trainings to apply fixes to; nothing here needs TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from stethoscope.program.setup import Setup


def entry(kind: str, name: str, **settings: Any) -> dict[str, Any]:
    """A layer as Keras 3 serialises it."""
    return {
        "module": "keras.layers",
        "class_name": kind,
        "config": {"name": name, "trainable": True, **settings},
        "registered_name": None,
        "build_config": {"input_shape": [None, 4]},
    }


def dense(name: str, units: int, activation: str = "linear", **settings: Any) -> dict[str, Any]:
    """A Dense layer."""
    initial = {"module": "keras.initializers", "class_name": "Zeros", "config": {}, "registered_name": None}
    return entry(
        "Dense",
        name,
        **{
            "units": units,
            "activation": activation,
            "use_bias": True,
            "kernel_initializer": initial,
            "bias_initializer": initial,
            "kernel_regularizer": None,
            **settings,
        },
    )


def sequential(*layers: dict[str, Any], width: int = 4) -> dict[str, Any]:
    """A Sequential model over rows of `width` numbers."""
    first = entry("InputLayer", "rows", batch_shape=[None, width], dtype="float32")
    config = {"name": "sequential", "trainable": True, "layers": [first, *layers], "build_input_shape": [None, width]}
    return {"module": "keras", "class_name": "Sequential", "config": config, "registered_name": None}


def setup(*layers: dict[str, Any], **changes: Any) -> Setup:
    """Twelve rows of four columns in three classes; the last four rows are validation rows."""
    rng = np.random.default_rng(0)
    x = rng.normal(5.0, 3.0, (12, 4)).astype(np.float32)
    y = np.arange(12) % 3
    stack = layers or (dense("hidden", 8, "relu"), entry("Dropout", "drop", rate=0.5), dense("out", 3, "softmax"))
    return Setup(
        **{
            "config": sequential(*stack),
            "modern": True,
            "weights": (np.ones((4, 8)), np.ones(8), np.ones((8, 3)), np.ones(3)),
            "weight_layers": ("hidden", "hidden", "out", "out"),
            "losses": ("sparse_categorical_crossentropy",),
            "optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.5}},
            "x": {"rows": x[:8]},
            "y": (y[:8],),
            "x_val": {"rows": x[8:]},
            "y_val": (y[8:],),
            "batch_size": 4,
            "epochs": 3,
            "outputs": ("out",),
            **changes,
        }
    )


IMAGES = (
    entry("Conv2D", "conv", filters=4, kernel_size=[3, 3], padding="valid", activation="relu"),
    entry("Embedding", "tokens", input_dim=10, output_dim=4),
    dense("out", 3, "softmax", trainable=False),
)
"""Layers that a network of images and words has."""


def gaps() -> Setup:
    """Rows with a missing number, and two that are equal."""
    base = setup()
    x = base.x["rows"].copy()
    x[0, 0] = np.nan
    x[1] = x[2]
    y = base.y[0].copy()
    y[1] = y[2]
    return base.with_changes(x={"rows": x}, y=(y,))

"""The network that compares two digits; two specimens share it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sample_models import datasets

PARAMETERS = 7_458
DATA = "digit_pairs_sample.npz"


def trained(folder: Path) -> Any:
    """Two images in, one shared reader, two answers out: read from `folder` where built already, else trained."""
    import keras
    from keras import layers

    file = folder / "digit_pairs.keras"
    if file.exists():
        return keras.models.load_model(file)
    left, right = layers.Input((8, 8, 1), name="left"), layers.Input((8, 8, 1), name="right")
    flat, reader = layers.Flatten(name="flatten"), layers.Dense(64, activation="relu", name="reader")
    a, b = reader(flat(left)), reader(flat(right))
    both = layers.Concatenate(name="both")([a, b, layers.Multiply(name="agreement")([a, b])])
    hidden = layers.Dense(16, activation="relu", name="compare")(both)
    model = keras.Model(
        {"left": left, "right": right},
        {
            "same": layers.Dense(1, activation="sigmoid", name="same")(hidden),
            "total": layers.Dense(1, name="total")(both),
        },
        name="digit_pairs",
    )
    model.compile(
        keras.optimizers.Adam(3e-3),
        {"same": "binary_crossentropy", "total": "mse"},
        metrics={"same": ["accuracy"], "total": ["mae"]},
        loss_weights={"same": 1.0, "total": 0.05},
    )
    data = datasets.digit_pairs(4000)
    model.fit(
        {"left": data.left, "right": data.right},
        {"same": data.same, "total": data.total},
        epochs=15,
        batch_size=64,
        verbose=0,
    )
    return model

"""A deep network whose gradients vanish."""

from __future__ import annotations

from pathlib import Path

from sample_models import datasets, faulty
from sample_models.recipe import Recipe

NAME = "digits_deep_sigmoid"


def _build(folder: Path) -> Path:
    import keras

    data = datasets.digits()
    model = faulty.dense(64, [32] * 8, "sigmoid", 10, "softmax", NAME)
    model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return faulty.save(folder, NAME, model, data.x_train[::2].reshape(-1, 64), data.y_train[::2])


RECIPE = Recipe(
    id=NAME,
    title="A deep network that learns nothing",
    behaviour="Eight sigmoid layers: the gradient is gone before it reaches the first.",
    description="Handwritten digits and a deep network whose loss does not fall, whatever one waits.",
    parameters=9_802,
    build=_build,
    order=5,
    data=faulty.data_file(NAME),
    fit={"epochs": 10, "batch_size": 32},
    findings=("vanishing-gradient",),
    expectations={"consistent": True},
)

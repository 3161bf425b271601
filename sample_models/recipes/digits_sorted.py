"""A classifier trained on rows that are sorted by class."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sample_models import datasets, digits, faulty
from sample_models.recipe import Recipe

NAME = "digits_sorted"


def _build(folder: Path) -> Path:
    import keras

    data = datasets.digits()
    order = np.argsort(data.y_train, kind="stable")[::2]
    model = digits.network()
    model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    x = np.round(data.x_train[order] * 16).astype(np.uint8)
    return faulty.save(folder, NAME, model, x.astype(np.float32) / 16, data.y_train[order])


RECIPE = Recipe(
    id=NAME,
    title="Good in training, zero in validation",
    behaviour="The rows are sorted by class, and the last fifth of them is the validation split.",
    description="Handwritten digits, all zeros first and all nines last, trained with validation_split=0.2. The network never "
    "sees an eight or a nine.",
    parameters=digits.PARAMETERS,
    build=_build,
    order=4,
    data=faulty.data_file(NAME),
    fit={"epochs": 5, "batch_size": 32, "validation_split": 0.2},
    findings=("sorted-split",),
    expectations={"consistent": True},
)

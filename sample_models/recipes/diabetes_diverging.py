"""A regression whose loss becomes NaN."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sample_models import faulty
from sample_models.recipe import Recipe

NAME = "diabetes_diverging"


def _build(folder: Path) -> Path:
    import keras

    x, y = faulty.raw_table("diabetes")
    model = faulty.dense(10, [64, 64], "relu", 1, None, NAME)
    model.compile(keras.optimizers.SGD(2.0), "mean_squared_error")
    target = ((y - y.mean()) / y.std()).astype(np.float32)
    return faulty.save(folder, NAME, model, faulty.standardised(x), target)


RECIPE = Recipe(
    id=NAME,
    title="A loss that is NaN",
    behaviour="A learning rate far too large: the loss explodes within a few steps.",
    description="Ten measurements of 442 patients, scaled as they should be, and a network whose loss is NaN after the first epoch.",
    parameters=4_929,
    build=_build,
    order=6,
    data=faulty.data_file(NAME),
    fit={"epochs": 20, "batch_size": 32},
    findings=("learning-rate-high",),
    expectations={"consistent": True},
)

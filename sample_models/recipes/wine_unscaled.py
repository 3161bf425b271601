"""A classifier fed with columns in their own units."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sample_models import faulty
from sample_models.recipe import Recipe

NAME = "wine_unscaled"


def _build(folder: Path) -> Path:
    import keras

    x, y = faulty.raw_table("wine")
    model = faulty.dense(13, [32], "relu", 3, "softmax", NAME)
    model.compile(keras.optimizers.SGD(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return faulty.save(folder, NAME, model, x, y.astype(np.int32))


RECIPE = Recipe(
    id=NAME,
    title="A network worse than guessing",
    behaviour="Columns from 0.1 to 1,700 go into the network as they are.",
    description="Thirteen measurements of 178 wines in their own units, and a network that ought to learn them easily.",
    parameters=547,
    build=_build,
    order=3,
    data=faulty.data_file(NAME),
    fit={"epochs": 30, "batch_size": 16},
    findings=("input-scaling",),
    expectations={"consistent": True},
)

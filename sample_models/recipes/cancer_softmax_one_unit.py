"""A classifier whose last layer can only say 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sample_models import faulty
from sample_models.recipe import Recipe

NAME = "cancer_softmax_one_unit"


def _build(folder: Path) -> Path:
    x, y = faulty.raw_table("breast_cancer")
    model = faulty.dense(30, [16], "relu", 1, "softmax", NAME)
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return faulty.save(folder, NAME, model, faulty.standardised(x), y.astype(np.float32))


RECIPE = Recipe(
    id=NAME,
    title="Accuracy that does not move",
    behaviour="A sound network but for its last activation: softmax over a single unit.",
    description="A small network on the Wisconsin breast cancer table, with its training rows. Its accuracy stays where it "
    "started. Diagnose it and see why, and what the fix does.",
    parameters=513,
    build=_build,
    order=2,
    data=faulty.data_file(NAME),
    fit={"epochs": 10, "batch_size": 32},
    findings=("softmax-one-unit",),
    expectations={"consistent": True},
)

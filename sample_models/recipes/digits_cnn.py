"""A healthy classifier, trained on real data."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sample_models import datasets, digits
from sample_models.canonical import save_keras
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    file = folder / "digits_cnn.keras"
    file.unlink(missing_ok=True)
    data = datasets.digits()
    np.savez(folder / digits.DATA, x=data.x_test[:64], y=data.y_test[:64])
    return save_keras(digits.trained(folder), file)


RECIPE = Recipe(
    id="digits_cnn",
    title="Handwritten digits (Keras 3)",
    behaviour="A healthy image classifier: everything about it should be fine.",
    description="A small convolutional network that reads 8×8 grey images of handwritten digits, trained on the 1,797 real "
    "images that scikit-learn ships. Try it with its sample images.",
    parameters=digits.PARAMETERS,
    build=_build,
    order=1,
    data=digits.DATA,
    expectations={"consistent": True},
    measure=digits.keras_accuracy,
)

"""The digits classifier in Keras 3's HDF5 form."""

from __future__ import annotations

from pathlib import Path

from sample_models import digits
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    file = folder / "digits_cnn_keras3.h5"
    digits.trained(folder).save(file)
    return file


RECIPE = Recipe(
    id="digits_cnn_h5",
    title="Handwritten digits (Keras 3, HDF5)",
    behaviour="The old container with a new model inside: an .h5 file is not always Keras 2.",
    description="The handwritten digits classifier, saved by Keras 3 in the legacy HDF5 format.",
    parameters=digits.PARAMETERS,
    build=_build,
    order=22,
    data=digits.DATA,
    expectations={"consistent": True},
    measure=digits.keras_accuracy,
)

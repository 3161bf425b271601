"""The digits classifier for phones, in floating point."""

from __future__ import annotations

from pathlib import Path

from sample_models import digits
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    import tensorflow as tf

    converter = tf.lite.TFLiteConverter.from_keras_model(digits.trained(folder))
    file = folder / "digits_cnn.tflite"
    file.write_bytes(converter.convert())
    return file


RECIPE = Recipe(
    id="digits_cnn_tflite",
    title="Handwritten digits (TFLite)",
    behaviour="A model exported for phones: the same answers as the original, in another runtime.",
    description="The handwritten digits classifier converted to TensorFlow Lite with 32-bit floating-point weights.",
    parameters=digits.PARAMETERS,
    build=_build,
    order=10,
    data=digits.DATA,
    expectations={"consistent": True},
    measure=digits.tflite_accuracy,
)

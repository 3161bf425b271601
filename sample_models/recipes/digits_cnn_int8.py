"""The digits classifier for microcontrollers, in 8-bit integers from input to output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sample_models import datasets, digits
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    import tensorflow as tf

    images = datasets.digits().x_train[:200]

    def calibration() -> Iterator[list[Any]]:
        for image in images:
            yield [image[None]]

    converter = tf.lite.TFLiteConverter.from_keras_model(digits.trained(folder))
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = calibration
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    file = folder / "digits_cnn_int8.tflite"
    file.write_bytes(converter.convert())
    return file


RECIPE = Recipe(
    id="digits_cnn_int8",
    title="Handwritten digits (TFLite, 8-bit)",
    behaviour="Fully quantised: inputs, weights and outputs are 8-bit integers with a scale and a zero point.",
    description="The handwritten digits classifier quantised after training, calibrated on 200 training images. Its input is "
    "int8, so images must be quantised before they go in.",
    parameters=digits.PARAMETERS,
    build=_build,
    order=20,
    expectations={"consistent": True},
    measure=digits.tflite_accuracy,
)

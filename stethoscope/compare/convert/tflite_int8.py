"""TFLite with 8-bit weights and activations, whose ranges are found with rows of data."""

from __future__ import annotations

from typing import Any

from stethoscope.compare.convert.converter import Options
from stethoscope.compare.convert.tflite_making import Precision, ToTFLite


def _setup(converter: Any, options: Options) -> None:
    import tensorflow as tf

    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    kinds = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.target_spec.supported_ops = [*kinds, tf.lite.OpsSet.TFLITE_BUILTINS] if options.allow_float else kinds
    if options.integer_ends:
        converter.inference_input_type = converter.inference_output_type = tf.int8


CONVERTER = ToTFLite(
    Precision(
        "tflite-int8",
        "TFLite (full int8)",
        "A quarter of the size and the quickest on phones, microcontrollers and Edge TPUs; needs rows of data.",
        13,
        _setup,
        calibrated=True,
        options=("integer_ends", "allow_float"),
        lines=(
            "converter.optimizations = [tf.lite.Optimize.DEFAULT]",
            "converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]",
        ),
    )
)

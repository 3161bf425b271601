"""TFLite with 8-bit weights and 16-bit activations."""

from __future__ import annotations

from typing import Any

from stethoscope.convert.options import Options
from stethoscope.convert.tflite_making import Precision, ToTFLite


def _setup(converter: Any, options: Options) -> None:
    import tensorflow as tf

    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    kinds = [tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8]
    converter.target_spec.supported_ops = [*kinds, tf.lite.OpsSet.TFLITE_BUILTINS] if options.allow_float else kinds


CONVERTER = ToTFLite(
    Precision(
        "tflite-int16x8",
        "TFLite (int16 activations, int8 weights)",
        "A quarter of the size, finer than int8 where that loses too much; needs rows of data.",
        14,
        _setup,
        calibrated=True,
        lines=(
            "converter.optimizations = [tf.lite.Optimize.DEFAULT]",
            "converter.target_spec.supported_ops = [",
            "    tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8",
            "]",
        ),
    )
)

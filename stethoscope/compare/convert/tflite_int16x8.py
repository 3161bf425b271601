"""TFLite with 8-bit weights and 16-bit activations."""

from __future__ import annotations

from typing import Any

from stethoscope.compare.convert.options import Options
from stethoscope.compare.convert.sixteen_bit_repairs import repair_for_16x8
from stethoscope.compare.convert.tflite_making import Precision, ToTFLite


def _setup(converter: Any, options: Options) -> None:
    import tensorflow as tf

    del options

    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_ops = [
        tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8,
        tf.lite.OpsSet.TFLITE_BUILTINS,  # without it, operators on integers alone are refused too; floats are looked for afterwards
    ]


CONVERTER = ToTFLite(
    Precision(
        "tflite-int16x8",
        "TFLite (int16 activations, int8 weights)",
        "A quarter of the size, finer than int8 where that loses too much; needs rows of data.",
        14,
        _setup,
        calibrated=True,
        options=("allow_float",),
        lines=(
            "converter.optimizations = [tf.lite.Optimize.DEFAULT]",
            "converter.target_spec.supported_ops = [",
            "    tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8",
            "]",
        ),
        change=repair_for_16x8,
    )
)

"""TFLite with weights in half precision."""

from __future__ import annotations

from typing import Any

from stethoscope.compare.convert.converter import Options
from stethoscope.compare.convert.tflite_making import Precision, ToTFLite


def _setup(converter: Any, options: Options) -> None:
    import tensorflow as tf

    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_types = [tf.float16]


CONVERTER = ToTFLite(
    Precision(
        "tflite-fp16",
        "TFLite (float16 weights)",
        "Half the size; computed in float32 on processors, in float16 on GPUs.",
        11,
        _setup,
        lines=(
            "converter.optimizations = [tf.lite.Optimize.DEFAULT]",
            "converter.target_spec.supported_types = [tf.float16]",
        ),
    )
)

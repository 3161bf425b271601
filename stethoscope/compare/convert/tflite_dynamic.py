"""TFLite with 8-bit weights; activations are quantised while it runs."""

from __future__ import annotations

from typing import Any

from stethoscope.compare.convert.converter import Options
from stethoscope.compare.convert.tflite_making import Precision, ToTFLite


def _setup(converter: Any, options: Options) -> None:
    import tensorflow as tf

    converter.optimizations = [tf.lite.Optimize.DEFAULT]


CONVERTER = ToTFLite(
    Precision(
        "tflite-dynamic",
        "TFLite (dynamic-range int8)",
        "A quarter of the size, no data needed; inputs and outputs stay float.",
        12,
        _setup,
        lines=("converter.optimizations = [tf.lite.Optimize.DEFAULT]",),
    )
)

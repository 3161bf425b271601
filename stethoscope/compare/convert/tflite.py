"""TFLite with the model's own numbers."""

from __future__ import annotations

from typing import Any

from stethoscope.compare.convert.converter import Options
from stethoscope.compare.convert.tflite_making import Precision, ToTFLite


def _setup(converter: Any, options: Options) -> None:
    del converter, options  # as it comes: nothing but operators that every LiteRT has


CONVERTER = ToTFLite(
    Precision("tflite", "TFLite (float32)", "For phones and boards; numbers as in the model.", 10, _setup)
)

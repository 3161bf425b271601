"""Which formats a target cannot be made from, and why."""

from __future__ import annotations

from stethoscope.types import Architecture

_ONE_WAY = {
    "tflite": "A TFLite file has been made for one runtime, its layers fused and its training parts gone",
    "onnx": "An ONNX file has left TensorFlow, and nothing well kept leads back",
}


def not_traceable(architecture: Architecture, title: str) -> str:
    """Why TensorFlow cannot trace a model of this format; "" where it can."""
    reason = _ONE_WAY.get(architecture.format_id)
    if reason is None:
        return ""
    return f"{reason}: {title} cannot be made from it. Convert the model that it was made from."

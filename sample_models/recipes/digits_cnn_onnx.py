"""The digits classifier as ONNX."""

from __future__ import annotations

from pathlib import Path

from sample_models import datasets, digits
from sample_models.onnx_export import export
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    function, signature = digits.inference(folder)
    images = datasets.digits().x_test[:8]
    file = folder / "digits_cnn.onnx"
    file.write_bytes(export(function, signature, {"image": images}).SerializeToString(deterministic=True))
    return file


RECIPE = Recipe(
    id="digits_cnn_onnx",
    title="Handwritten digits (ONNX)",
    behaviour="A model exported for other frameworks: the same answers as the original, in another runtime.",
    description="The handwritten digits classifier converted to ONNX, opset 18, and checked in onnxruntime.",
    parameters=digits.PARAMETERS,
    build=_build,
    order=11,
    data=digits.DATA,
    expectations={"consistent": True},
    measure=digits.onnx_accuracy,
)

"""Half a gigabyte of dense layers, as SavedModel."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Any

from sample_models import big_dense
from sample_models.canonical import save_saved_model
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    import tensorflow as tf

    class Stack(tf.Module):  # type: ignore[misc]
        """Eight dense layers."""

        def __init__(self) -> None:
            super().__init__(name="stack")
            arrays = big_dense.weights()
            self.kernels = [tf.Variable(kernel, name=f"kernel_{i}") for i, kernel in enumerate(arrays[::2])]
            self.biases = [tf.Variable(bias, name=f"bias_{i}") for i, bias in enumerate(arrays[1::2])]

        @tf.function(input_signature=[tf.TensorSpec((None, big_dense.WIDTH), tf.float32, name="features")])  # type: ignore[untyped-decorator]
        def serve(self, features: Any) -> dict[str, Any]:
            for kernel, bias in zip(self.kernels, self.biases, strict=True):
                features = tf.matmul(features, kernel) + bias
            return {"scores": features}

    module = Stack()
    with tempfile.TemporaryDirectory() as scratch:
        tf.saved_model.save(module, scratch, signatures={"serving_default": module.serve})
        return save_saved_model(Path(scratch), folder / "saved_model_500mb.zip", zipfile.ZIP_STORED)


RECIPE = Recipe(
    id="saved_model_500mb",
    title="Half a gigabyte (SavedModel)",
    behaviour="Few operators, 504 MB of variables: for timing uploads and drawings.",
    description="Eight dense layers with random weights.",
    parameters=big_dense.PARAMETERS,
    build=_build,
    big=True,
    expectations={"consistent": True},
)

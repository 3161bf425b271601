"""An ONNX model whose weights lie in a second file."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

import numpy as np

from sample_models import datasets, pairs
from sample_models.canonical import pack
from sample_models.onnx_export import export
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    import onnx
    import tensorflow as tf

    model = pairs.trained(folder)
    signature = [tf.TensorSpec((None, 8, 8, 1), tf.float32, name=name) for name in ("left", "right")]
    function = tf.function(
        lambda left, right: model({"left": left, "right": right}, training=False), input_signature=signature
    )
    data = datasets.digit_pairs(8, held_out=True)
    proto = export(function, signature, {"left": data.left, "right": data.right})
    with tempfile.TemporaryDirectory() as scratch:
        onnx.save_model(
            proto,
            Path(scratch) / "model.onnx",
            save_as_external_data=True,
            all_tensors_to_one_file=True,
            location="weights.bin",
            # Shape inference cannot see constants that lie outside the graph.
            size_threshold=100,
        )
        return pack(Path(scratch), folder / "digit_pairs_onnx.zip")


def _measure(file: Path) -> dict[str, float]:
    import onnxruntime

    data = datasets.digit_pairs(1000, held_out=True)
    with tempfile.TemporaryDirectory() as scratch:
        with zipfile.ZipFile(file) as archive:
            archive.extractall(scratch)
        session = onnxruntime.InferenceSession(str(Path(scratch) / "model.onnx"), providers=["CPUExecutionProvider"])
        (answer,) = session.run(["same"], {"left": data.left, "right": data.right})
    return {"accuracy": round(float(np.mean((answer > 0.5) == (data.same > 0.5))), 4)}


RECIPE = Recipe(
    id="digit_pairs_external",
    title="Digit pairs (ONNX, weights in a second file)",
    behaviour="An ONNX graph and its weights in two files, brought together in one zip.",
    description="The digit pairs model as ONNX with external data: model.onnx refers to weights.bin, as models above 2 GB must.",
    parameters=pairs.PARAMETERS,
    build=_build,
    order=24,
    data=pairs.DATA,
    expectations={"consistent": True},
    measure=_measure,
)

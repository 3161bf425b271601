"""Operations and parameters of keras.applications, from the file alone, against TensorFlow's profiler and Keras' own count."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark

MODELS = (
    "ConvNeXtTiny",
    "DenseNet121",
    "EfficientNetB0",
    "EfficientNetV2B0",
    "InceptionResNetV2",
    "InceptionV3",
    "MobileNet",
    "MobileNetV2",
    "MobileNetV3Large",
    "MobileNetV3Small",
    "NASNetMobile",
    "ResNet50",
    "ResNet50V2",
    "VGG16",
    "VGG19",
    "Xception",
)
EXPORTED = ("EfficientNetB0", "InceptionV3", "MobileNetV2", "MobileNetV3Small", "ResNet50")
"""Those that are converted to TFLite and ONNX too."""
_NOT_SEEN = ("ConvNeXtTiny",)
"""Keras puts its grouped convolutions into a function of their own, which the profiler does not enter."""
_LARGEST_ERROR = 0.01
_PROFILE = """
import json, os, sys, zipfile
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras, tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
name, folder, exports = sys.argv[1], sys.argv[2], sys.argv[3] == "yes"
model = getattr(keras.applications, name)(weights=None)
with zipfile.ZipFile(f"{folder}/{name}.keras", "w") as out:
    out.writestr("config.json", model.to_json())
    out.writestr("metadata.json", json.dumps({"keras_version": keras.__version__}))
spec = tf.TensorSpec((1, *(size or 224 for size in model.inputs[0].shape[1:])), tf.float32)
frozen = convert_variables_to_constants_v2(tf.function(lambda x: model(x, training=False)).get_concrete_function(spec))
options = tf.compat.v1.profiler.ProfileOptionBuilder(tf.compat.v1.profiler.ProfileOptionBuilder.float_operation())
found = tf.compat.v1.profiler.profile(frozen.graph, cmd="op", options=options.with_empty_output().order_by("float_ops").build())
node, kinds = found, {}
while node.children:
    child = node.children[0]
    kinds[child.name] = child.float_ops
    node = child
tf.io.write_graph(frozen.graph.as_graph_def(), folder, f"{name}.pb", as_text=False)
if exports:
    converter = tf.lite.TFLiteConverter.from_concrete_functions([frozen])
    open(f"{folder}/{name}.tflite", "wb").write(converter.convert())
    import tf2onnx
    tf2onnx.convert.from_function(tf.function(lambda x: model(x, training=False)), [spec], opset=18, output_path=f"{folder}/{name}.onnx")
print(json.dumps({"flops": found.total_float_ops, "parameters": model.count_params(), "kinds": kinds}))
"""
_PRODUCTS = ("Conv2D", "DepthwiseConv2dNative", "MatMul", "Conv2DBackpropInput", "BatchMatMulV2")


def run(folder: Path) -> dict[str, Any]:
    """One row per model: relative differences of operations, for the Keras file, its frozen graph and the exports.

    Exports fold normalisation into convolutions, so of them only the products are compared.
    """
    rows: dict[str, dict[str, Any]] = {}
    for name in MODELS:
        rows[name] = one(name, folder)
        for path in folder.glob(f"{name}.*"):
            path.unlink()
        print(f"  {name}: {rows[name]}", file=sys.stderr, flush=True)
    seen = [row for name, row in rows.items() if name not in _NOT_SEEN]
    errors = [abs(value) for row in seen for key, value in row.items() if key.endswith("_error")]
    exact = all(row["parameters"] == row["keras_parameters"] for row in rows.values())
    return {"models": rows, "largest_error": max(errors), "holds": exact and max(errors) <= _LARGEST_ERROR}


def one(name: str, folder: Path) -> dict[str, Any]:
    """Profiles one model in a process of its own and reads the files it leaves."""
    command = [sys.executable, "-c", _PROFILE, name, str(folder), "yes" if name in EXPORTED else "no"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told = json.loads(done.stdout.splitlines()[-1])
    products = sum(flops for kind, flops in told["kinds"].items() if kind in _PRODUCTS)
    row: dict[str, Any] = {"profiler_flops": told["flops"], "keras_parameters": told["parameters"]}
    for suffix in ("keras", "pb", "tflite", "onnx"):
        path = folder / f"{name}.{suffix}"
        if not path.exists():
            continue
        parameters, flops, macs, unknown = _from_file(path)
        if suffix == "keras":
            row |= {"parameters": parameters, "flops": flops}
        if suffix in ("keras", "pb"):
            row[f"{suffix}_error"] = round(flops / told["flops"] - 1, 6)
        row |= {f"{suffix}_products_error": round(2 * macs / products - 1, 6), f"{suffix}_unknown": unknown}
    return row


def _from_file(path: Path) -> tuple[int, int, int, int]:
    from stethoscope.architecture.layer_costs import costs, total
    from stethoscope.models.formats import detect
    from stethoscope.types import ModelFile

    file = ModelFile.at(path)
    architecture = detect(file).describe(file)
    found = total(costs(architecture, 1))
    return architecture.parameters, found.flops, found.macs, found.without_flops


BENCHMARK = Benchmark(
    "flops_against_keras",
    "operations of keras.applications within 1 % of TensorFlow's profiler, parameters exactly",
    run,
)

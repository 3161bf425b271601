"""TFLite (LiteRT) and ONNX: converting and running."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import h5py
import keras
import numpy as np
import onnx
import onnxruntime
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter
from onnx import TensorProto, helper


def _tflite(dtype=tf.float32, shape=(1, 4)):
    function = tf.function(lambda x: tf.cast(x, tf.float32) * 2.0).get_concrete_function(tf.TensorSpec(shape, dtype))
    return tf.lite.TFLiteConverter.from_concrete_functions([function]).convert()


def tflite_unsupported_operators(here: Path):
    function = tf.function(tf.linalg.cholesky).get_concrete_function(tf.TensorSpec((4, 4), tf.float32))
    tf.lite.TFLiteConverter.from_concrete_functions([function]).convert()


def tflite_flex_missing(here: Path):
    function = tf.function(tf.linalg.cholesky).get_concrete_function(tf.TensorSpec((4, 4), tf.float32))
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function])
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]
    interpreter = Interpreter(model_content=converter.convert())
    interpreter.allocate_tensors()
    interpreter.invoke()


def tflite_input_type(here: Path):
    interpreter = Interpreter(model_content=_tflite(tf.uint8))
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.zeros((1, 4), np.float32))


def tflite_input_shape(here: Path):
    interpreter = Interpreter(model_content=_tflite())
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.zeros((3, 4), np.float32))


def tflite_not_allocated(here: Path):
    Interpreter(model_content=_tflite()).invoke()


def tflite_not_a_model(here: Path):
    Interpreter(model_content=b"<!DOCTYPE html><html><body>404</body></html>" * 8)


def tflite_representative_data(here: Path):
    function = tf.function(lambda x: x * 2.0).get_concrete_function(tf.TensorSpec((1, 4), tf.float32))
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.convert()


def _onnx(kind="Relu", opset=17, shape=(1, 4), domain="", dtype=TensorProto.FLOAT, ir=8):
    value = [helper.make_tensor_value_info(name, dtype, shape) for name in ("pixels", "scores")]
    node = helper.make_node(kind, ["pixels"], ["scores"], name="node_1", domain=domain)
    graph = helper.make_graph([node], "g", value[:1], value[1:])
    sets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=sets, ir_version=ir).SerializeToString()


def _session(data):
    return onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])


def onnx_dimensions(here: Path):
    _session(_onnx(shape=(1, 3, 224, 224))).run(None, {"pixels": np.zeros((1, 224, 224, 3), np.float32)})


def onnx_dimensions__rank(here: Path):
    _session(_onnx()).run(None, {"pixels": np.zeros((4,), np.float32)})


def onnx_input_type(here: Path):
    _session(_onnx()).run(None, {"pixels": np.zeros((1, 4))})


def onnx_input_name(here: Path):
    _session(_onnx()).run(None, {"x": np.zeros((1, 4), np.float32)})


def onnx_unknown_operator(here: Path):
    _session(_onnx("NotThere"))


def onnx_version(here: Path):
    _session(_onnx(opset=90))


def onnx_version__ir(here: Path):
    _session(_onnx(ir=90))


def onnx_file(here: Path):
    Path("model.onnx").write_text("version https://git-lfs.github.com/spec/v1\n")
    onnxruntime.InferenceSession("model.onnx")


def onnx_file__missing(here: Path):
    onnxruntime.InferenceSession("models/net.onnx")


def onnx_provider(here: Path):
    onnxruntime.InferenceSession(_onnx(), providers=["CUDAExecutionProvider", "CPUExecutionProvider"])


def onnx_unknown_operator__domain(here: Path):
    _session(_onnx("FusedThing", domain="my.ops"))


def onnx_runtime_shape(here: Path):
    value = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
    ]
    start = [helper.make_tensor("shape", TensorProto.INT64, [2], [3, 5])]
    graph = helper.make_graph(
        [helper.make_node("Reshape", ["x", "shape"], ["y"], name="flatten_1")], "g", value[:1], value[1:], start
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    _session(model.SerializeToString()).run(None, {"x": np.zeros((2, 4), np.float32)})


def onnx_unknown_operator__checker(here: Path):
    onnx.checker.check_model(_onnx("NotThere"))


def tf2onnx_operator(here: Path):
    import tf2onnx

    function = tf.function(tf.linalg.cholesky, input_signature=[tf.TensorSpec((4, 4), tf.float32)])
    tf2onnx.convert.from_function(function, input_signature=[tf.TensorSpec((4, 4), tf.float32)], opset=17)


def onnx_not_implemented(here: Path):
    _session(_onnx("Relu", dtype=TensorProto.BFLOAT16))


def tflite_node_failed(here: Path):
    import tensorflow as tf
    from ai_edge_litert.interpreter import Interpreter

    flat = tf.function(lambda x: tf.reshape(x, (2, 6)), input_signature=[tf.TensorSpec((3, 4))])
    converter = tf.lite.TFLiteConverter.from_concrete_functions([flat.get_concrete_function()])
    interpreter = Interpreter(model_content=converter.convert())
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], (5, 4))
    interpreter.allocate_tensors()


def tflite_tensor_list(here: Path):
    model = keras.Sequential([keras.Input((None, 4)), keras.layers.LSTM(3)])
    tf.lite.TFLiteConverter.from_keras_model(model).convert()


def hdf5_locked(here: Path):
    with h5py.File(here / "weights.h5", "w") as held:
        held["a"] = 1
        held.flush()
        read = "import sys, h5py; h5py.File(sys.argv[1], 'r')"
        subprocess.run([sys.executable, "-c", read, str(here / "weights.h5")], check=False)


def tpu_not_found(here: Path):
    tf.tpu.experimental.initialize_tpu_system(tf.distribute.cluster_resolver.TPUClusterResolver(tpu=""))

"""Weights in TensorFlow graphs and ONNX files, however they are stored, are those that TensorFlow and onnx read."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, external_data_helper, helper, numpy_helper

from stethoscope.models.weights import graph_weights
from stethoscope.models.weights.weight_statistics import opened
from stethoscope.types import ModelFile
from tests.frameworks import tf
from tests.models.weights.test_opened import KERNEL, onnx_model, values
from tests.tables import each


def proto(dtype: str, shape: tuple[int, ...], **stored: Any) -> Any:
    made = tf.make_tensor_proto(0).__class__()
    made.dtype = tf.as_dtype(dtype).as_datatype_enum
    for size in shape:
        made.tensor_shape.dim.add(size=size)
    for field, content in stored.items():
        if field == "tensor_content":
            made.tensor_content = content
        else:
            getattr(made, field).extend(content)
    return made


def halves(numbers: Any, dtype: Any) -> list[int]:
    return np.asarray(numbers, dtype).view(np.uint16).tolist()


def pieces_of(tensor: Any) -> tuple[np.ndarray, str]:
    content = tensor.SerializeToString()
    read, why = graph_weights.pieces_of(memoryview(content), (0, len(content)))
    parts = list(read())
    return np.concatenate(parts) if parts else np.zeros(0), why


@each(
    ("dtype", "shape", "stored"),
    [
        ("float32", (2, 3), {"tensor_content": np.arange(6, dtype="<f4").tobytes()}),
        ("float32", (2, 2), {"float_val": [1.0, 2.0, 3.0, 4.0]}),
        ("float32", (2, 2), {"float_val": [1.5]}),
        ("float32", (5,), {"float_val": [1.0, 2.0]}),
        ("float64", (2,), {"double_val": [1.0, 2.5]}),
        ("int32", (3,), {"int_val": [3, -4, 5]}),
        ("uint8", (3,), {"int_val": [3, 4, 255]}),
        ("int64", (2,), {"int64_val": [1 << 40, -1]}),
        ("bool", (2,), {"bool_val": [True, False]}),
        ("float16", (2,), {"half_val": halves([0.5, -2.0], "float16")}),
        ("bfloat16", (2,), {"half_val": [0x3F80, 0xC000]}),
        ("float32", (), {"float_val": [2.5]}),
    ],
)
def test_a_constant_has_the_values_that_tensorflow_reads(
    dtype: str, shape: tuple[int, ...], stored: dict[str, Any]
) -> None:
    tensor = proto(dtype, shape, **stored)
    content = tensor.SerializeToString()
    assert graph_weights.shape_and_dtype(memoryview(content), (0, len(content))) == (shape, dtype)
    found, why = pieces_of(tensor)
    assert why == ""
    np.testing.assert_array_equal(found.reshape(shape), np.asarray(tf.make_ndarray(tensor), found.dtype))


@each(
    ("dtype", "shape", "stored", "says"),
    [
        ("float32", (2, 3), {"tensor_content": bytes(20)}, "fewer bytes"),
        ("float32", (2,), {"float_val": [1.0, 2.0, 3.0]}, "do not fit"),
        ("string", (1,), {"string_val": [b"word"]}, "type string"),
        ("float32", (2,), {}, "are not read"),
    ],
)
def test_what_a_constant_does_not_hold_is_not_made_up(
    dtype: str, shape: tuple[int, ...], stored: dict[str, Any], says: str
) -> None:
    found, why = pieces_of(proto(dtype, shape, **stored))
    assert found.size == 0
    assert says in why


def test_constants_are_found_in_the_graph_and_in_its_functions() -> None:
    @tf.function(input_signature=[tf.TensorSpec([2])], autograph=False)
    def inner(x: Any) -> Any:
        return x * tf.constant([3.0, 4.0], name="inside")

    with tf.Graph().as_default() as graph:
        tf.constant([1.0, 2.0], name="outside")
        inner(tf.compat.v1.placeholder(tf.float32, [2], "x"))
    content = memoryview(graph.as_graph_def().SerializeToString())
    places = {node: (function, span) for function, node, span in graph_weights.in_graph(content, 0, len(content))}
    assert places["outside"][0] == ""
    assert "inner" in places["inside"][0]
    for name, expected in (("outside", [1.0, 2.0]), ("inside", [3.0, 4.0])):
        read, _ = graph_weights.pieces_of(content, places[name][1])
        np.testing.assert_array_equal(np.concatenate(list(read())), expected)


def test_a_saved_model_without_variables_keeps_its_weights_as_constants(tmp_path: Path) -> None:
    kernel = np.arange(12, dtype="float32").reshape(4, 3)

    class Frozen(tf.Module):  # type: ignore[misc, unused-ignore]
        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")], autograph=False)
        def serve(self, x: Any) -> Any:
            return {"y": tf.matmul(x, tf.constant(kernel, name="kernel"))}

    module = Frozen()
    tf.saved_model.save(module, tmp_path / "frozen", signatures={"serving_default": module.serve})
    with opened(ModelFile.at(tmp_path / "frozen")) as found:
        (weight,) = [weight for weights in found.values() for weight in weights if weight.shape == (4, 3)]
        assert not weight.unreadable
        np.testing.assert_array_equal(values(weight), kernel)


def test_variables_of_a_shard_that_ends_early_are_named_and_not_read(tmp_path: Path) -> None:
    class Held(tf.Module):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            self.kernel = tf.Variable(np.ones((4, 3), "float32"), name="kernel")

        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")], autograph=False)
        def serve(self, x: Any) -> Any:
            return {"y": tf.matmul(x, self.kernel)}

    module, folder = Held(), tmp_path / "held"
    tf.saved_model.save(module, folder, signatures={"serving_default": module.serve})
    with opened(ModelFile.at(folder)) as found:
        (weight,) = [weight for weights in found.values() for weight in weights]
        np.testing.assert_array_equal(values(weight), np.ones((4, 3)))
    shard = folder / "variables" / "variables.data-00000-of-00001"
    shard.write_bytes(shard.read_bytes()[:-20])
    with opened(ModelFile.at(folder)) as found:
        (weight,) = [weight for weights in found.values() for weight in weights]
        assert (weight.shape, weight.dtype) == ((4, 3), "float32")
        assert "in the file" in weight.unreadable
        assert not list(weight.pieces())


@each("folder", ["", "inside/"])
@each("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_data_beside_an_onnx_model_is_read_inside_an_archive(tmp_path: Path, packing: int, folder: str) -> None:
    tensor = numpy_helper.from_array(KERNEL, "w")
    external_data_helper.set_external_data(tensor, "w.bin", offset=8, length=48)
    tensor.ClearField("raw_data")
    onnx_model(tensor, tmp_path / "m.onnx")
    with zipfile.ZipFile(tmp_path / "m.zip", "w", packing) as out:
        out.writestr(f"{folder}m.onnx", (tmp_path / "m.onnx").read_bytes())
        out.writestr(f"{folder}w.bin", bytes(8) + KERNEL.tobytes())
    with opened(ModelFile.at(tmp_path / "m.zip")) as found:
        np.testing.assert_array_equal(values(found["project"][0]), KERNEL)


def test_typed_values_of_onnx_are_those_that_onnx_reads(tmp_path: Path) -> None:
    for number, kind in enumerate((TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.INT8, TensorProto.BFLOAT16)):
        tensor = helper.make_tensor("w", kind, (4, 3), (KERNEL / 2).ravel().astype(int).tolist())
        path = tmp_path / f"{number}.onnx"
        onnx_model(tensor, path)
        with opened(ModelFile.at(path)) as found:
            (weight,) = found["project"]
            expected = numpy_helper.to_array(tensor).astype("float64")
            np.testing.assert_array_equal(values(weight).astype("float64"), expected)

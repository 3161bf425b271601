"""Small models that tests make for themselves; nothing here needs TensorFlow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def tiny_onnx(path: Path, scale: float = 2.0) -> Path:
    """y = x @ (scale · I), x of shape (None, 4)."""
    weight = numpy_helper.from_array((np.eye(4) * scale).astype(np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="project")],
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])],
        [weight],
    )
    return _save(graph, path)


def endless_onnx(path: Path) -> Path:
    """A loop of 2^62 trips."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["c0"], ["c1"]), helper.make_node("Add", ["v0", "one"], ["v1"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c0", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v0", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("c1", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v1", TensorProto.FLOAT, None),
        ],
        [helper.make_tensor("one", TensorProto.FLOAT, [], [1.0])],
    )
    nodes = [
        helper.make_node("Constant", [], ["trips"], value=helper.make_tensor("trips", TensorProto.INT64, [], [2**62])),
        helper.make_node("Constant", [], ["go"], value=helper.make_tensor("go", TensorProto.BOOL, [], [True])),
        helper.make_node("Loop", ["trips", "go", "x"], ["y"], body=body),
    ]
    graph = helper.make_graph(
        nodes,
        "endless",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])],
    )
    return _save(graph, path)


def hungry_onnx(path: Path, mebibytes_per_row: int = 64) -> Path:
    """One row becomes a tensor of so many MiB, then its mean."""
    width = mebibytes_per_row * (1 << 18)
    nodes = [
        helper.make_node("Expand", ["x", "shape"], ["wide"], name="widen"),
        helper.make_node("Exp", ["wide"], ["grown"], name="grow"),
        helper.make_node("ReduceMean", ["grown"], ["y"], name="mean", axes=[1], keepdims=1),
    ]
    graph = helper.make_graph(
        nodes,
        "hungry",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 1])],
        [numpy_helper.from_array(np.array([1, width], np.int64), "shape")],
    )
    return _save(graph, path)


def _save(graph, path: Path) -> Path:
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
    return path

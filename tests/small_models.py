"""Small models that tests make for themselves; nothing here needs TensorFlow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def tiny_onnx(path: Path, scale: float = 2.0, rows: int | str = "n") -> Path:
    """y = x @ (scale · I), x of shape (rows, 4); any number of them where `rows` is a name."""
    weight = numpy_helper.from_array((np.eye(4) * scale).astype(np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="project")],
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, 4])],
        [weight],
    )
    return _save(graph, path)


def signal_onnx(path: Path, length: int = 8) -> Path:
    """y = x @ w for one signal: x of shape (length,) has no dimension for rows, y of shape (1, 2) has one."""
    weight = np.stack([np.arange(length), np.ones(length)], axis=1).astype(np.float32)
    nodes = [
        helper.make_node("Unsqueeze", ["x", "front"], ["framed"], name="frame"),
        helper.make_node("MatMul", ["framed", "w"], ["y"], name="project"),
    ]
    graph = helper.make_graph(
        nodes,
        "signal",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [length])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(np.array([0], np.int64), "front")],
    )
    return _save(graph, path)


def branching_onnx(path: Path) -> Path:
    """y = 2x where the sum of x is above 0, else 3x: what is inside the branches belongs to no main graph."""

    def branch(name: str, factor: float) -> onnx.GraphProto:
        node = helper.make_node("Mul", ["x", f"{name}_factor"], [f"{name}_y"], name="times")
        out = helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT, None)
        return helper.make_graph(
            [node], name, [], [out], [numpy_helper.from_array(np.float32(factor), f"{name}_factor")]
        )

    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], name="sum", keepdims=0),
        helper.make_node("Greater", ["sum", "zero"], ["above"], name="test"),
        helper.make_node("If", ["above"], ["y"], name="choice", then_branch=branch("a", 2), else_branch=branch("b", 3)),
    ]
    graph = helper.make_graph(
        nodes,
        "branching",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.float32(0), "zero")],
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

"""Models for the Architecture page at its limits: gigabytes of weights, and thousands of nodes. Written without a framework."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

WIDTH, WIDE_LAYERS = 8192, 12
"""Twelve dense layers of 8192 units: 3.2 GB of weights."""
BLOCKS, BLOCK_NODES = 1250, 4
"""Residual blocks, and the nodes in each."""


def wide(folder: Path) -> Path:
    """A Keras HDF5 model of 3.2 GB; real bytes on disk, the same random block for every kernel."""
    import h5py

    names = [f"wide_{place}" for place in range(WIDE_LAYERS)]
    first = {
        "class_name": "InputLayer",
        "config": {"batch_input_shape": [None, WIDTH], "dtype": "float32", "name": "features"},
    }
    dense = [
        {
            "class_name": "Dense",
            "config": {
                "name": name,
                "trainable": True,
                "dtype": "float32",
                "units": WIDTH,
                "activation": "relu",
                "use_bias": True,
            },
        }
        for name in names
    ]
    block = np.random.default_rng(7).standard_normal((WIDTH, WIDTH), dtype=np.float32) * np.float32(WIDTH**-0.5)
    path = folder / "wide_3gb.h5"
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"], file.attrs["backend"] = "2.15.0", "tensorflow"
        config = {"name": "wide", "layers": [first, *dense]}
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": config})
        weights = file.create_group("model_weights")
        weights.attrs["layer_names"] = np.array(["features", *names], "S")
        weights.create_group("features").attrs["weight_names"] = np.array([], "S")
        for name in names:
            group = weights.create_group(name)
            group.attrs["weight_names"] = np.array([f"{name}/kernel:0", f"{name}/bias:0"], "S")
            group.create_dataset(f"{name}/kernel:0", data=block)
            group.create_dataset(f"{name}/bias:0", data=np.zeros(WIDTH, np.float32))
    return path


def deep(folder: Path) -> Path:
    """An ONNX model of 5,000 named nodes with a residual connection every four."""
    from onnx import TensorProto, helper, numpy_helper, save

    generator = np.random.default_rng(7)
    nodes, weights, value = [], [], "x"
    for place in range(BLOCKS):
        block = f"block_{place}"
        weights.append(numpy_helper.from_array(generator.random((8, 8, 3, 3), dtype=np.float32), f"{block}/kernel"))
        conv, relu, gate, added = (f"{block}/{part}" for part in ("conv", "relu", "gate", "add"))
        nodes += [
            helper.make_node("Conv", [value, f"{block}/kernel"], [f"{conv}:0"], name=conv, pads=[1, 1, 1, 1]),
            helper.make_node("Relu", [f"{conv}:0"], [f"{relu}:0"], name=relu),
            helper.make_node("Sigmoid", [f"{relu}:0"], [f"{gate}:0"], name=gate),
            helper.make_node("Add", [f"{gate}:0", value], [f"{added}:0"], name=added),
        ]
        value = f"{added}:0"
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 8, 16, 16]) for name in ("x", value)]
    graph = helper.make_graph(nodes, "deep", ends[:1], ends[1:], weights)
    path = folder / "deep_5000.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path

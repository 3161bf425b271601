"""Small TensorFlow graphs for tests, built from messages: no TensorFlow needed."""

from __future__ import annotations

import struct
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stethoscope.models.formats.tf_graph import tf_proto

FLOAT, INT32, STRING, RESOURCE = 1, 3, 7, 20


def node(graph: Any, name: str, op: str, inputs: Sequence[str] = (), **types: int) -> Any:
    """Adds a node with dtype attributes."""
    added = graph.node.add(name=name, op=op, input=list(inputs))
    for key, value in types.items():
        added.attr[key].type = value
    return added


def placeholder(graph: Any, name: str, sizes: Sequence[int], dtype: int = FLOAT) -> Any:
    """Adds a placeholder; -1 for a dynamic dimension."""
    added = node(graph, name, "Placeholder", dtype=dtype)
    for size in sizes:
        added.attr["shape"].shape.dim.add(size=size)
    return added


def constant(graph: Any, name: str, sizes: Sequence[int], dtype: int = FLOAT, content: bytes | None = None) -> Any:
    """Adds a constant; floats are zeros unless `content` is given."""
    added = node(graph, name, "Const", dtype=dtype)
    tensor = added.attr["value"].tensor
    tensor.dtype = dtype
    count = 1
    for size in sizes:
        tensor.tensor_shape.dim.add(size=size)
        count *= size
    if dtype == STRING:
        tensor.string_val.append(content or b"")
    else:
        tensor.tensor_content = content if content is not None else bytes(4 * count)
    return added


def dense(units: int = 3) -> Any:
    """A frozen dense layer: (None, 4) → relu → (None, units)."""
    graph = tf_proto.messages().GraphDef()
    graph.versions.producer = 1882
    placeholder(graph, "x", [-1, 4])
    constant(graph, "dense/kernel", [4, units])
    node(graph, "dense/kernel/read", "Identity", ["dense/kernel"], T=FLOAT)
    constant(graph, "dense/bias", [units])
    node(graph, "dense/MatMul", "MatMul", ["x", "dense/kernel/read"], T=FLOAT)
    node(graph, "dense/BiasAdd", "BiasAdd", ["dense/MatMul", "dense/bias"], T=FLOAT)
    node(graph, "y", "Relu", ["dense/BiasAdd"], T=FLOAT)
    return graph


def saved_model(*, variables: bool = False) -> Any:
    """A TensorFlow 1 SavedModel of `dense`, with its kernel as a variable if asked."""
    saved = tf_proto.messages().SavedModel(saved_model_schema_version=1)
    meta = saved.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    meta.meta_info_def.tensorflow_version = "1.15.0"
    meta.graph_def.CopyFrom(dense())
    if variables:
        kernel = next(one for one in meta.graph_def.node if one.name == "dense/kernel")
        kernel.op = "VariableV2"
        shape = kernel.attr["value"].tensor.tensor_shape
        kernel.attr["shape"].shape.CopyFrom(shape)
        del kernel.attr["value"]
    signature = meta.signature_def["serving_default"]
    signature.method_name = "tensorflow/serving/predict"
    for infos, key, tensor, sizes in (
        (signature.inputs, "x", "x:0", (-1, 4)),
        (signature.outputs, "y", "y:0", (-1, 3)),
    ):
        infos[key].name = tensor
        infos[key].dtype = FLOAT
        for size in sizes:
            infos[key].tensor_shape.dim.add(size=size)
    return saved


def integers(*values: int) -> bytes:
    """The content of an int32 constant."""
    return struct.pack(f"<{len(values)}i", *values)


def write(path: Path, message: Any) -> Path:
    """Writes a message as a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(message.SerializeToString())
    return path


def packed(folder: Path, target: Path) -> Path:
    """Packs a folder, with its own name on top, into a zip or tar by the target's suffix."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if target.suffix == ".zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                archive.write(path, path.relative_to(folder.parent))
    else:
        with tarfile.open(target, "w:gz" if target.name.endswith("gz") else "w") as archive:
            for path in files:
                archive.add(path, str(path.relative_to(folder.parent)))
    return target

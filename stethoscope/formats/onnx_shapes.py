"""Types of ONNX values: as the file declares them, and as shape inference fills them in."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stethoscope.formats.onnx_tensors import DTYPES
from stethoscope.types import Shape, TensorSpec

if TYPE_CHECKING:
    import onnx

Types = dict[str, dict[str, TensorSpec]]
"""Value types by graph key ("" for the main graph, "3.body" for a subgraph of its node 3) and value name."""
_MAX_SKELETON_BYTES = 16 << 20
_MAX_ANSWER_BYTES = 64 << 20
_TIMEOUT_S = 10.0


def graphs(graph: onnx.GraphProto, key: str = "") -> Iterator[tuple[str, onnx.GraphProto]]:
    """Yields (key, graph) for a graph and each subgraph in it."""
    yield key, graph
    for position, node in enumerate(graph.node):
        for attribute, inner in subgraphs(node):
            yield from graphs(inner, f"{key}/{position}.{attribute}")


def subgraphs(node: onnx.NodeProto) -> Iterator[tuple[str, onnx.GraphProto]]:
    """Yields (attribute name, graph) for each body of a control-flow node."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.name, attribute.g
        for number, inner in enumerate(attribute.graphs):
            yield f"{attribute.name}#{number}", inner


def spec(value: onnx.ValueInfoProto) -> TensorSpec:
    """A graph input, output or value; its dtype may be "sequence(float32)", "map(int64, float32)" or "optional(…)"."""
    dtype, shape = _typed(value.type, 0)
    return TensorSpec(value.name, shape, dtype)


def declared(graph: onnx.GraphProto) -> Types:
    """What the file itself says."""
    return {
        key: {value.name: spec(value) for group in (part.value_info, part.input, part.output) for value in group}
        for key, part in graphs(graph)
    }


def complete(types: Types, graph: onnx.GraphProto) -> bool:
    """Whether every operator's first output has a known rank."""
    return all(
        types[key].get(next((name for name in node.output if name), ""), TensorSpec("", (), "x")).shape is not None
        and next((name for name in node.output if name), "") in types[key]
        for key, part in graphs(graph)
        for node in part.node
        if any(node.output)
    )


def inferred(skeleton: bytes) -> Types:
    """Runs onnx's shape inference in a forked child; {} when it crashes, takes too long, or the graph is large.

    It is native code that hostile graphs can crash or keep busy, so it never runs in this process.
    """
    if len(skeleton) > _MAX_SKELETON_BYTES:
        return {}
    receive, send = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(receive)
        os.close(send)
        return {}
    if child == 0:
        os.close(receive)
        _answer(skeleton, send)
    os.close(send)
    try:
        return _parse(_collect(receive))
    finally:
        os.close(receive)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _answer(skeleton: bytes, send: int) -> None:
    """The child: writes the types as JSON and ends without running anything of the parent's."""
    try:
        import onnx.shape_inference

        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        model = onnx.shape_inference.infer_shapes(skeleton)
        found = {
            key: {name: [value.dtype, value.shape] for name, value in values.items()}
            for key, values in declared(model.graph).items()
        }
        data = memoryview(json.dumps(found).encode())
        while data:
            data = data[os.write(send, data) :]
    finally:
        os._exit(0)


def _collect(receive: int) -> bytes:
    deadline, total = time.monotonic() + _TIMEOUT_S, 0
    chunks: list[bytes] = []
    while total <= _MAX_ANSWER_BYTES:
        ready, _, _ = select.select([receive], [], [], max(0.0, deadline - time.monotonic()))
        chunk = os.read(receive, 1 << 20) if ready else b""
        if not ready:
            return b""
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        total += len(chunk)
    return b""


def _parse(answer: bytes) -> Types:
    try:
        found = json.loads(answer) if answer else {}
    except ValueError:
        return {}
    return {
        key: {
            name: TensorSpec(name, None if shape is None else tuple(shape), dtype)
            for name, (dtype, shape) in values.items()
        }
        for key, values in found.items()
    }


def _typed(kind: onnx.TypeProto, depth: int) -> tuple[str, Shape | None]:
    which = kind.WhichOneof("value")
    if which is None or depth > 16:
        return "", None
    if which in ("tensor_type", "sparse_tensor_type"):
        part: Any = getattr(kind, which)
        dtype = DTYPES.get(part.elem_type, ("", 0))[0]
        shape = tuple(_size(size) for size in part.shape.dim) if part.HasField("shape") else None
        return (dtype if which == "tensor_type" else f"sparse({dtype})"), shape
    if which == "map_type":
        inner, _ = _typed(kind.map_type.value_type, depth + 1)
        return f"map({DTYPES.get(kind.map_type.key_type, ('', 0))[0]}, {inner})", None
    if which in ("sequence_type", "optional_type"):
        inner, shape = _typed(getattr(kind, which).elem_type, depth + 1)
        return f"{which.removesuffix('_type')}({inner})", shape if which == "optional_type" else None
    return "opaque", None


def _size(size: onnx.TensorShapeProto.Dimension) -> int | None:
    return size.dim_value if size.HasField("dim_value") and size.dim_value >= 0 else None

"""Types of ONNX values, as the file declares them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stethoscope.models.formats.onnx_model.onnx_tensors import DTYPES
from stethoscope.types import Shape, TensorSpec

if TYPE_CHECKING:
    import onnx

Types = dict[str, dict[str, TensorSpec]]
"""Value types by graph key ("" for the main graph, "3.body" for a subgraph of its node 3) and value name."""


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

"""Types of ONNX values, as the file declares them.

Shape inference for ONNX graphs that do not say their shapes, kept away from what its native code cannot bear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stethoscope.models.formats.onnx_model.onnx_tensors import DTYPES, is_left_out
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


_MAX_BYTES = 16 << 20
_MAX_NODES = 50_000
_MAX_RANK = 64
_EQUATION = re.compile(rb"[A-Za-z,.\- >]*")


def inferred(model: onnx.ModelProto) -> Types:
    """Returns the types that onnx's shape inference finds; {} for a graph that is large or not well formed.

    Only graphs that pass onnx's own checker and `_is_tame` reach its native code, which mutated models crashed otherwise.
    """
    import onnx
    import onnx.checker
    import onnx.shape_inference
    from google.protobuf.message import EncodeError

    nodes = [node for _, graph in graphs(model.graph) for node in graph.node]
    if model.ByteSize() > _MAX_BYTES or len(nodes) > _MAX_NODES or not all(_is_tame(node) for node in nodes):
        return {}
    alone = onnx.ModelProto()
    alone.CopyFrom(model)
    _hoist(alone.graph)
    try:
        onnx.checker.check_model(alone)
        return declared(onnx.shape_inference.infer_shapes(alone).graph)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, RuntimeError, ValueError, EncodeError):
        return {}


def _is_tame(node: onnx.NodeProto) -> bool:
    """Whether its attributes are within what inference checks itself; these three crash or hang onnx 1.23."""
    for attribute in node.attribute:
        if attribute.name in ("axis", "axes") and any(abs(axis) > _MAX_RANK for axis in (attribute.i, *attribute.ints)):
            return False
        if attribute.name == "num_outputs" and node.op_type == "Split" and attribute.i != len(node.output):
            return False
        if node.op_type == "Einsum" and not _EQUATION.fullmatch(attribute.s):
            return False
    return True


def _hoist(main: onnx.GraphProto) -> None:
    """Makes a graph without its weights pass the checker: tensors whose values were left out become inputs."""
    import onnx.helper

    known = {value.name for value in main.input}
    # The checker also wants a rank for each output; a value that is no output is free to have none.
    ranked = [value for value in main.output if spec(value).shape is not None]
    del main.output[:]
    main.output.extend(ranked)
    for _, graph in list(graphs(main)):
        for tensor in [tensor for tensor in graph.initializer if is_left_out(tensor)]:
            if tensor.name not in known:
                main.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
                known.add(tensor.name)
            graph.initializer.remove(tensor)
        for node in [node for node in graph.node if node.op_type == "Constant" and node.output]:
            for attribute in node.attribute:
                if attribute.name == "value" and is_left_out(attribute.t) and node.output[0] not in known:
                    dims = list(attribute.t.dims)
                    main.input.append(onnx.helper.make_tensor_value_info(node.output[0], attribute.t.data_type, dims))
                    known.add(node.output[0])
                    graph.node.remove(node)
                    break

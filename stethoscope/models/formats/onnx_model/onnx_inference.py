"""Shape inference for ONNX graphs that do not say their shapes, kept away from what its native code cannot bear."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stethoscope.models.formats.onnx_model import onnx_shapes
from stethoscope.models.formats.onnx_model.onnx_tensors import is_left_out

if TYPE_CHECKING:
    import onnx

_MAX_BYTES = 16 << 20
_MAX_NODES = 50_000
_MAX_RANK = 64
_EQUATION = re.compile(rb"[A-Za-z,.\- >]*")


def inferred(model: onnx.ModelProto) -> onnx_shapes.Types:
    """Returns the types that onnx's shape inference finds; {} for a graph that is large or not well formed.

    Only graphs that pass onnx's own checker and `_is_tame` reach its native code, which mutated models crashed otherwise.
    """
    import onnx
    import onnx.checker
    import onnx.shape_inference
    from google.protobuf.message import EncodeError

    nodes = [node for _, graph in onnx_shapes.graphs(model.graph) for node in graph.node]
    if model.ByteSize() > _MAX_BYTES or len(nodes) > _MAX_NODES or not all(_is_tame(node) for node in nodes):
        return {}
    alone = onnx.ModelProto()
    alone.CopyFrom(model)
    _hoist(alone.graph)
    try:
        onnx.checker.check_model(alone)
        return onnx_shapes.declared(onnx.shape_inference.infer_shapes(alone).graph)
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
    ranked = [value for value in main.output if onnx_shapes.spec(value).shape is not None]
    del main.output[:]
    main.output.extend(ranked)
    for _, graph in list(onnx_shapes.graphs(main)):
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

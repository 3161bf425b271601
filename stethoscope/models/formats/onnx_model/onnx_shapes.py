"""Types and shapes of ONNX values, and what stands between a file and the installed runtime, without loading it.

Shape inference for ONNX graphs that do not say their shapes, kept away from what its native code cannot bear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stethoscope.models.formats.onnx_model.onnx_tensors import DTYPES, is_left_out
from stethoscope.types import Hazard, Shape, TensorSpec

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


_KNOWN_DOMAINS = frozenset(
    {"", "ai.onnx", "ai.onnx.ml", "ai.onnx.preview", "com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"}
)
_MANY_TRIPS = 10**9
_TRAINING_DOMAINS = frozenset({"ai.onnx.training", "ai.onnx.preview.training"})


def hazards(model: onnx.ModelProto) -> Iterator[Hazard]:
    """Yields each operator whose code is outside the file and outside ONNX, once."""
    for domain, op_type in _unknown(model):
        name = f"{domain}.{op_type}"
        yield Hazard(
            "custom-operator",
            name,
            f"Operator {name} is custom code outside the file; what it does cannot be seen from here.",
        )
    for node in _nodes(model):
        if node.op_type == "EPContext" and node.domain == "com.microsoft":
            message = "Operator EPContext hands a compiled program, or the path of one, to an accelerator's driver."
            yield Hazard("file-access", node.name or "EPContext", message)
            return


def why_not(model: onnx.ModelProto, without_data: list[str]) -> str:
    """Returns one sentence that says why onnxruntime on the CPU cannot execute it; "" when it should."""
    unknown = [f"{domain}.{op_type}" for domain, op_type in _unknown(model)]
    if unknown:
        shown = ", ".join(name[:80] for name in unknown[:5]) + (
            f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        )
        return (
            f"It needs custom operator{'s' * (len(unknown) > 1)} {shown}, never loaded here: the code is not in the file. "
            "It runs only in the program that ships them."
        )
    if any(node.op_type == "EPContext" and node.domain == "com.microsoft" for node in _nodes(model)):
        return "It is compiled for an accelerator (operator EPContext) and runs only there. Run the .onnx it was compiled from."
    training = sorted({node.op_type for node in _nodes(model) if node.domain in _TRAINING_DOMAINS})
    if training:
        return f"It needs ONNX training operators ({', '.join(training[:5])}), which onnxruntime's inference package does not have."
    if without_data:
        return (
            f"Its weights are missing: {len(without_data)} tensor(s) ({without_data[0][:80]!r} first) have a shape but no values. "
            "Export the model with its weights."
        )
    return ""


def endless_loops(model: onnx.ModelProto) -> list[str]:
    """Returns names of Loop nodes with a huge fixed trip count whose body never changes its condition.

    A count of 2^63 - 1 alone is how exporters write `while`; those bodies compute a condition.
    """
    found = []
    for _, graph in graphs(model.graph):
        counts = {tensor.name: tensor for tensor in graph.initializer}
        counts |= {node.output[0]: a.t for node in graph.node if node.op_type == "Constant" for a in node.attribute[:1]}
        for position, node in enumerate(graph.node):
            if node.op_type != "Loop" or not node.input or node.input[0] not in counts:
                continue
            body = next((inner for name, inner in subgraphs(node) if name == "body"), None)
            if body is not None and _trips(counts[node.input[0]]) > _MANY_TRIPS and _keeps_condition(body):
                found.append(node.name or f"Loop_{position}")
    return found


def _trips(tensor: onnx.TensorProto) -> int:
    if tensor.data_type != 7:
        return 0
    if len(tensor.raw_data) == 8:
        return int.from_bytes(tensor.raw_data, "little", signed=True)
    return tensor.int64_data[0] if len(tensor.int64_data) == 1 else 0


def _keeps_condition(body: onnx.GraphProto) -> bool:
    if not body.output or len(body.input) < 2:
        return False
    condition = body.output[0].name
    producers = {name: node for node in body.node for name in node.output}
    for _ in range(len(body.node) + 1):
        node = producers.get(condition)
        if node is None or node.op_type != "Identity" or not node.input:
            break
        condition = node.input[0]
    stored = {tensor.name for tensor in body.initializer}
    made = producers[condition].op_type == "Constant" if condition in producers else False
    return condition == body.input[1].name or condition in stored or made


def _unknown(model: onnx.ModelProto) -> list[tuple[str, str]]:
    local = {(function.domain, function.name) for function in model.functions}
    used = ((node.domain, node.op_type) for node in _nodes(model))
    return [
        (domain, op_type)
        for domain, op_type in dict.fromkeys(used)
        if domain not in _KNOWN_DOMAINS and domain not in _TRAINING_DOMAINS and (domain, op_type) not in local
    ]


def _nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    for _, graph in graphs(model.graph):
        yield from graph.node
    for function in model.functions:
        for node in function.node:
            yield node
            for _, inner in subgraphs(node):
                for _, graph in graphs(inner):
                    yield from graph.node

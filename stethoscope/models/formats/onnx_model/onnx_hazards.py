"""What stands between an ONNX file and the installed runtime, judged without loading it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stethoscope.models.formats.onnx_model import onnx_shapes
from stethoscope.types import Hazard

if TYPE_CHECKING:
    import onnx

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
    for _, graph in onnx_shapes.graphs(model.graph):
        counts = {tensor.name: tensor for tensor in graph.initializer}
        counts |= {node.output[0]: a.t for node in graph.node if node.op_type == "Constant" for a in node.attribute[:1]}
        for position, node in enumerate(graph.node):
            if node.op_type != "Loop" or not node.input or node.input[0] not in counts:
                continue
            body = next((inner for name, inner in onnx_shapes.subgraphs(node) if name == "body"), None)
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
    for _, graph in onnx_shapes.graphs(model.graph):
        yield from graph.node
    for function in model.functions:
        for node in function.node:
            yield node
            for _, inner in onnx_shapes.subgraphs(node):
                for _, graph in onnx_shapes.graphs(inner):
                    yield from graph.node

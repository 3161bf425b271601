"""Where a bare graph begins and ends: its placeholders, and the operators that nothing reads.

Recognises what kind of TensorFlow graph file this is, and reads a GraphDef with its weights left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers import damage, sorted_table, wire
from stethoscope.models.formats.tf_graph import graph_ops, tf_proto
from stethoscope.models.formats.tf_graph.flat_graph import Tensor, ancestors
from stethoscope.models.formats.tf_graph.object_graph import static_shape
from stethoscope.types import ModelFile, Shape, TensorSpec

_MAX_OUTPUTS = 256
_SHAPE_SINCE_PRODUCER = 24
"""Before this GraphDef version a placeholder without dimensions meant "any shape", not a scalar."""
_CHECKPOINT = frozenset({"SaveV2", "RestoreV2", "MergeV2Checkpoints", "Save", "Restore", "SaveSlices", "RestoreSlice"})
_NO_RESULT = (
    graph_ops.INPUTS
    | graph_ops.VARIABLES
    | graph_ops.ASSIGNMENTS
    | {
        "NoOp",
        "Assert",
        "Const",
        "SaveV2",
        "RestoreV2",
        "MergeV2Checkpoints",
        "Save",
        "Restore",
        "Print",
        "PrintV2",
        "ControlTrigger",
        "VarIsInitializedOp",
        "IsVariableInitialized",
        "NextIteration",
        "LoopCond",
        "HistogramSummary",
        "ScalarSummary",
        "MergeSummary",
        "ImageSummary",
        "AudioSummary",
        "TensorSummaryV2",
        "Switch",
        "RefSwitch",
    }
)


@dataclass(frozen=True)
class Ends:
    """Inputs, and the tensor ("node:0") behind each output name."""

    inputs: tuple[TensorSpec, ...]
    fetches: dict[str, str]
    dtypes: dict[str, str]
    warnings: tuple[str, ...]

    def output(self, name: str, tensor: Tensor | None, shapes: Mapping[Tensor, Shape | None]) -> TensorSpec:
        """The spec of one output, with what is known of its shape."""
        return TensorSpec(name, shapes.get(tensor) if tensor else None, self.dtypes.get(name, ""))


def find(nodes: Mapping[str, Any], producer: int) -> Ends:
    """The ends of a graph.

    Args:
        nodes: NodeDef messages by name.
        producer: the GraphDef's version, 0 when it does not say.
    """
    read = {
        reference.partition(":")[0]
        for node in nodes.values()
        for reference in node.input
        if not reference.startswith("^")
    }
    loops = _members(nodes, ("Enter", "RefEnter"), ("Exit", "RefExit"))
    branches = _members(nodes, ("Switch", "RefSwitch"), ("Merge", "RefMerge"), loops)
    sinks = [
        node
        for node in nodes.values()
        if node.name not in read and node.op not in _NO_RESULT and node.name not in loops and _has_output(node)
    ]
    computed = [
        node
        for node in sinks
        if node.name not in branches and node.op not in ("Exit", "RefExit") and not _is_leftover(nodes, node)
    ]
    sinks = computed or sinks
    if not sinks:
        sinks = [node for node in nodes.values() if node.name not in read and node.op == "Const"]
    warnings = []
    if len(sinks) > _MAX_OUTPUTS:
        warnings.append(f"Shown are {_MAX_OUTPUTS} of {len(sinks):,} operators that nothing reads.")
        sinks = sinks[-_MAX_OUTPUTS:]
    fetches, dtypes = {}, {}
    for node in sinks:
        for index in range(max(1, graph_ops.answer_count(node.op, node.attr))):
            name = f"{node.name}:{index}" if index else node.name
            fetches[name] = f"{node.name}:{index}"
            dtypes[name] = tf_proto.dtype_name(graph_ops.dtype(node.op, node.attr, index))
    used = ancestors(nodes, fetches.values())
    placeholders = [
        nodes[name] for name in nodes if name in used and nodes[name].op in ("Placeholder", "PlaceholderV2")
    ]
    optional = [node.name for node in nodes.values() if node.name in used and node.op == "PlaceholderWithDefault"]
    if not placeholders and optional:
        placeholders, optional = [nodes[name] for name in optional], []
    if optional:
        warnings.append(f"Runs with the default of {', '.join(repr(name) for name in optional[:5])}.")
    if not placeholders:
        drawn = next((nodes[name].op for name in used if name in nodes and graph_ops.draws(nodes[name].op)), "")
        kept = any(nodes[name].op in graph_ops.ASSIGNMENTS for name in used if name in nodes)
        said = f"it draws random numbers in every call ({drawn})" if drawn else "it computes the same result every time"
        warnings.append("Has no inputs." if kept and not drawn else f"Has no inputs: {said}.")
    inputs = tuple(
        TensorSpec(node.name, _shape(node, producer), tf_proto.dtype_name(_dtype(node))) for node in placeholders
    )
    return Ends(inputs, fetches, dtypes, tuple(warnings))


def _is_leftover(nodes: Mapping[str, Any], node: Any) -> bool:
    """Whether a sink only passes on a constant, or belongs to saving a checkpoint."""
    source = node
    while source is not None and source.op in graph_ops.PASSING and source.input:
        source = nodes.get(source.input[0].partition(":")[0])
        if source is node:
            return False
    if source is not None and source.op == "Const":
        return True
    return any(nodes[name].op in _CHECKPOINT for name in ancestors(nodes, [node.name]))


def _members(
    nodes: Mapping[str, Any], starts: tuple[str, ...], ends: tuple[str, ...], apart: Collection[str] = ()
) -> set[str]:
    """Operators between TensorFlow 1's control operators: inside loops they have no single value, inside branches maybe none."""
    readers: dict[str, list[str]] = {}
    for node in nodes.values():
        for reference in node.input:
            readers.setdefault(reference.lstrip("^").partition(":")[0], []).append(node.name)
    found: set[str] = set()
    stack = [node.name for node in nodes.values() if node.op in starts]
    while stack:
        name = stack.pop()
        if name in found or name in apart or nodes[name].op in ends:
            continue
        found.add(name)
        stack.extend(readers.get(name, ()))
    return found


def _shape(node: Any, producer: int) -> Shape | None:
    if "shape" not in node.attr:
        return None
    shape = static_shape(node.attr["shape"].shape)
    return None if shape == () and 0 < producer < _SHAPE_SINCE_PRODUCER else shape


def _dtype(node: Any) -> int:
    return int(node.attr["dtype"].type) if "dtype" in node.attr else 0


def _has_output(node: Any) -> bool:
    return graph_ops.rule_for(node.op) == "" or graph_ops.output_count(node.op, node.attr) > 0


_NODES_LOOKED_AT = 24
_OPERATOR = re.compile(r"^[A-Za-z_][A-Za-z0-9_>]*$")
_SHARD = re.compile(r"\.data-\d{5}-of-\d{5}$")
_DECLINED = {
    "meta": "is a MetaGraph (.meta): a graph whose weights are in a separate checkpoint. Export a SavedModel and upload its folder as a zip.",
    "checkpoint": "is part of a TensorFlow checkpoint: weights without a model. Export the model as a SavedModel or .keras and upload that.",
}


def kind(file: ModelFile) -> str:
    """ "graph", "text", "meta" or "checkpoint"; "" for anything else. Never raises."""
    if not file.path.is_file() or file.path.stat().st_size == 0:
        return ""
    text = tf_proto.first_field(file)
    if text:
        return {
            "node": "text",
            "library": "text",
            "versions": "text",
            "meta_info_def": "meta",
            "model_checkpoint_path": "checkpoint",
        }.get(text, "")
    with file.path.open("rb") as stream:
        stream.seek(max(0, file.path.stat().st_size - 8))
        if stream.read(8) == sorted_table.MAGIC:
            return "checkpoint"
    if _SHARD.search(file.name):
        return "checkpoint"
    with wire.mapped(file) as view:
        return "graph" if _is_graph(view) else "meta" if _is_meta(view) else ""


def stripped(file: ModelFile) -> bytes:
    """A binary GraphDef without long tensor contents.

    Raises:
        UnreadableFile: damaged, or declined with its reason.
    """
    found = kind(file)
    if found in _DECLINED:
        raise UnreadableFile(f"{file.name}: {_DECLINED[found]}")
    if not found:
        raise UnreadableFile(
            f"{file.name}: is not a TensorFlow graph. Upload a frozen .pb, or the SavedModel's folder as a zip."
        )
    with wire.mapped(file) as view:
        return tf_proto.without_weights(file, view, tf_proto.GRAPH_DEF)


def load(file: ModelFile) -> Any:
    """The GraphDef message without long tensor contents.

    Raises:
        UnreadableFile: damaged, not a graph, or declined with its reason.
        TooLarge: more operators than `limits` allow.
    """
    from google.protobuf.message import DecodeError

    messages = tf_proto.messages()
    if kind(file) == "text":
        with wire.mapped(file) as view:
            graph = tf_proto.parse(file, view, messages.GraphDef())
    else:
        try:
            graph = messages.GraphDef.FromString(stripped(file))
        except DecodeError as error:
            raise UnreadableFile(
                f"{file.name}: the graph is damaged or cut short ({error}). Freeze it again or repeat the upload."
            ) from error
    count = len(graph.node) + sum(len(function.node_def) for function in graph.library.function)
    if count > damage.MAX_LAYERS:
        raise TooLarge(f"{file.name}: has {count:,} operators, expected at most {damage.MAX_LAYERS:,}.")
    if not graph.node:
        raise UnreadableFile(f"{file.name}: the graph has no operators. Freeze it again.")
    return graph


def _is_graph(view: memoryview) -> bool:
    """Whether it starts like a GraphDef: nodes with a name and an operator's name, one of which TensorFlow knows."""
    operators = []
    try:
        for field in wire.fields(view):
            if field.number == 1 and field.kind == wire.BYTES:
                operator = _operator(view, field)
                if not operator:
                    return False
                operators.append(operator)
            elif (field.number, field.kind) not in ((2, wire.BYTES), (4, wire.BYTES), (3, wire.VARINT)):
                return False
            if len(operators) >= _NODES_LOOKED_AT:
                break
    except wire.Malformed:
        # A later field that runs past the end is a truncated graph: `load` says so.
        pass
    return any(graph_ops.rule_for(operator) for operator in operators)


def _operator(view: memoryview, node: wire.Field) -> str:
    """The operator's name of a NodeDef, "" when the bytes are not one."""
    name = operator = ""
    for field in wire.fields(view, node.start, node.end):
        if field.kind != wire.BYTES or not 1 <= field.number <= 7:
            return ""
        if field.number in (1, 2):
            if field.end - field.start > 2000:
                return ""
            text = bytes(view[field.start : field.end]).decode("utf-8", "replace")
            name, operator = (text, operator) if field.number == 1 else (name, text)
    return operator if name.isprintable() and _OPERATOR.match(operator) else ""


def _is_meta(view: memoryview) -> bool:
    """Whether it is a MetaGraphDef: a description, then a GraphDef inside field 2."""
    try:
        for count, field in enumerate(wire.fields(view)):
            if field.kind != wire.BYTES or not 1 <= field.number <= 7 or count > 3:
                return False
            if field.number == 2:
                return _is_graph(view[field.start : field.end])
    except wire.Malformed:
        return False
    return False

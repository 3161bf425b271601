"""Where a bare graph begins and ends: its placeholders, and the operators that nothing reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from stethoscope.models.formats.tf_graph import graph_ops, tf_proto
from stethoscope.models.formats.tf_graph.flat_graph import Tensor, ancestors
from stethoscope.models.formats.tf_graph.object_graph import static_shape
from stethoscope.types import Shape, TensorSpec

_MAX_OUTPUTS = 256
_SHAPE_SINCE_PRODUCER = 24
"""Before this GraphDef version a placeholder without dimensions meant "any shape", not a scalar."""
_CHECKPOINT = frozenset({"SaveV2", "RestoreV2", "MergeV2Checkpoints", "Save", "Restore", "SaveSlices", "RestoreSlice"})
_NO_RESULT = frozenset({
    "NoOp", "Assert", "Const", "Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "Assign", "AssignAdd", "AssignSub",
    "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "SaveV2", "RestoreV2", "MergeV2Checkpoints", "Save", "Restore",
    "Print", "PrintV2", "ControlTrigger", "VarHandleOp", "VariableV2", "Variable", "VarIsInitializedOp", "IsVariableInitialized",
    "NextIteration", "LoopCond", "HistogramSummary", "ScalarSummary", "MergeSummary", "ImageSummary", "AudioSummary",
    "TensorSummaryV2", "Switch", "RefSwitch",
})  # fmt: skip


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
        for index in range(max(1, graph_ops.output_count(node.op, node.attr))):
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
        warnings.append("Has no inputs: it computes the same result every time.")
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

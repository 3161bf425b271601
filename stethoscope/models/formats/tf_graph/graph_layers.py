"""From a flat graph to the layers of an `Architecture`: operators with paths, shapes, edges, and the weights they use.

A weight belongs to the first operator, in execution order, that computes with it; identities, reads and casts only pass it on.
Paths are TensorFlow's names without the names of function calls, so "StatefulPartitionedCall/model/dense/MatMul" is
"model/dense/MatMul".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stethoscope.models.formats.tf_graph import graph_ops, graph_shapes, tf_proto
from stethoscope.models.formats.tf_graph.flat_graph import FlatGraph, Operator, Tensor
from stethoscope.types import Layer, Operand, TensorSpec

_CALL_SEGMENT = re.compile(r"^(Stateful)?PartitionedCall(_\d+)?$")
_WEIGHT_KINDS = re.compile(r"^(b?float|complex|q?u?int8|qint|quint|int4|uint4|q?u?int16)")
_NOT_USES = graph_ops.ASSIGNMENTS | {
    "VarIsInitializedOp",
    "IsVariableInitialized",
    "SaveV2",
    "RestoreV2",
    "Shape",
    "ShapeN",
    "Size",
    "Rank",
    "VariableShape",
    "NoOp",
    "Assert",
}
_ARGUMENTS_ONLY = frozenset(
    {
        "Fill",
        "Range",
        "LinSpace",
        "Reshape",
        "Tile",
        "Pad",
        "PadV2",
        "MirrorPad",
        "Slice",
        "StridedSlice",
        "ClipByValue",
        "FakeQuantWithMinMaxVars",
        "RequantizationRange",
        "ResizeBilinear",
        "ResizeNearestNeighbor",
        "OneHot",
        "CropAndResize",
    }
)
"""Operators whose constant arguments beyond the first say how to compute, not what with."""


@dataclass(frozen=True)
class Weight:
    """A stored tensor: elements, bits of all of them, and whether training changes it."""

    parameters: int
    bits: int
    trainable: bool | None = None


def paths(graph: FlatGraph) -> dict[str, str]:
    """The layer path of each operator worth showing, by operator name, in execution order.

    A graph of nothing but identities and reads (one that only returns a variable) shows those.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    hidden = graph_ops.PLUMBING
    if all(operator.type in hidden for operator in graph.operators.values()):
        hidden = frozenset({"Const", "NoOp"})
    for operator in graph.operators.values():
        if operator.type in hidden:
            continue
        parts = [part for part in operator.name.split("/") if not _CALL_SEGMENT.match(part)]
        path = base = "/".join(parts) or operator.name
        number = 1
        while path in taken:
            number += 1
            path = f"{base}#{number}"
        taken.add(path)
        found[operator.name] = path
    return found


def layers(
    graph: FlatGraph, functions: Mapping[str, Any], weights: Mapping[str, Weight], feeds: Mapping[str, TensorSpec]
) -> tuple[Layer, ...]:
    """The layers of `graph`.

    Args:
        graph: operators in execution order.
        functions: FunctionDef messages by name, for the bodies of loops and branches.
        weights: what operators that hold a weight (constants, variables, arguments) hold, by operator name.
        feeds: what is known of tensors from outside, by operator name.
    """
    shown = paths(graph)
    owned = _owners(graph, weights, shown)
    shapes = graph_shapes.infer(graph, {name: spec.shape for name, spec in feeds.items()})
    origins = _Origins(graph, shown)
    bodies: set[str] = set()
    built = []
    for name, path in shown.items():
        operator = graph.operators[name]
        mine = [weights[held] for held in owned.get(name, ())] + list(body_constants(operator, functions, bodies))
        dtype = (
            feeds[name].dtype
            if name in feeds
            else tf_proto.dtype_name(graph_ops.dtype(operator.type, operator.attributes))
        )
        built.append(
            Layer(
                path=path,
                type=operator.type,
                output_shape=shapes.get(Tensor(name, 0)),
                parameters=sum(weight.parameters for weight in mine),
                trainable_parameters=sum(weight.parameters for weight in mine if weight.trainable),
                dtype=dtype,
                inputs=origins.of(operator),
                config=config(operator),
                operands=tuple(Operand(origins.path(tensor), shapes.get(tensor)) for tensor in operator.inputs),
            )
        )
    return tuple(built)


def constants(graph: FlatGraph) -> dict[str, Weight]:
    """Constants that are weights.

    A constant is a weight when it is numeric but no plain index type (float, complex, 16 bits or fewer, or quantised), has at
    least one dimension, and reaches an operator that computes with it rather than reading how to compute from it (shapes, axes,
    sizes, ranges). A 32-bit integer constant counts where a quantised operator adds it, as its bias.
    """
    consumers = graph.consumers()
    found = {}
    for operator in graph.operators.values():
        if operator.type != "Const":
            continue
        weight = _constant(operator.attributes)
        if weight is not None and _is_used(consumers, operator, _dtype(operator.attributes)):
            found[operator.name] = weight
    return found


def body_constants(operator: Operator, functions: Mapping[str, Any], seen: set[str]) -> Iterator[Weight]:
    """Weights that the bodies of a loop, a branch or an opaque call hold as constants; bodies in `seen` are done, and added."""
    queue = [operator.attributes]
    for attributes in queue:
        for name in called(attributes):
            if name not in functions or name in seen:
                continue
            seen.add(name)
            for node in functions[name].node_def:
                weight = _constant(node.attr) if node.op == "Const" and _WEIGHT_KINDS.match(_dtype(node.attr)) else None
                if weight is not None:
                    yield weight
                queue.append(node.attr)


def called(attributes: Mapping[str, Any]) -> Iterator[str]:
    """Names of the functions an operator calls."""
    for value in attributes.values():
        kind = value.WhichOneof("value")
        if kind == "func":
            yield value.func.name
        elif kind == "list":
            yield from (function.name for function in value.list.func)


def config(operator: Operator) -> dict[str, Any]:
    """Attributes that help a reader: strides, padding, axes, the functions of loops and branches."""
    found: dict[str, Any] = {}
    for key in sorted(operator.attributes):
        value = operator.attributes[key]
        if key.startswith("_") or key in (
            "T",
            "Tidx",
            "dtype",
            "value",
            "container",
            "shared_name",
            "config_proto",
            "executor_type",
        ):
            continue
        kind = value.WhichOneof("value")
        if kind in ("i", "f", "b"):
            found[key] = getattr(value, kind)
        elif kind == "s":
            found[key] = value.s[:200].decode("utf-8", "replace")
        elif kind == "func":
            found[key] = value.func.name
        elif kind == "list" and (value.list.i or value.list.f or value.list.func):
            found[key] = (
                list(value.list.i)[:32]
                or list(value.list.f)[:32]
                or [function.name for function in value.list.func][:32]
            )
        if len(found) >= 24:
            break
    return found


class _Origins:
    """Which shown operators an operator reads, through the ones that are not shown."""

    def __init__(self, graph: FlatGraph, shown: Mapping[str, str]) -> None:
        self._graph = graph
        self._shown = shown
        self._memo: dict[str, tuple[str, ...]] = {}
        for operator in graph.operators.values():
            if operator.name not in shown:
                self._memo[operator.name] = self._merge(operator)

    def of(self, operator: Operator) -> tuple[str, ...]:
        return self._merge(operator)

    def path(self, tensor: Tensor) -> str:
        """The shown operator that yields a tensor, "" for a weight or a constant."""
        if tensor.operator in self._shown:
            return self._shown[tensor.operator]
        paths = self._memo.get(tensor.operator, ())
        return paths[tensor.output] if tensor.output < len(paths) else paths[0] if paths else ""

    def _merge(self, operator: Operator) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for tensor in operator.inputs:
            if tensor.operator in self._shown:
                found[self._shown[tensor.operator]] = None
            else:
                found.update(dict.fromkeys(self._memo.get(tensor.operator, ())))
        return tuple(found)


def weight_users(graph: FlatGraph, weights: Iterable[str]) -> dict[str, list[str]]:
    """The operators that hold the weights of each layer, by the layer's path."""
    shown = paths(graph)
    return {shown[name]: held for name, held in _owners(graph, weights, shown).items()}


def _owners(graph: FlatGraph, weights: Iterable[str], shown: Mapping[str, str]) -> dict[str, list[str]]:
    consumers = graph.consumers()
    order = {name: index for index, name in enumerate(graph.operators)}
    owned: dict[str, list[str]] = {}
    for name in weights:
        uses = [user.name for user, _ in _uses(consumers, name) if user.name in shown and user.type not in _NOT_USES]
        if uses:
            owned.setdefault(min(uses, key=order.__getitem__), []).append(name)
    return owned


def _uses(consumers: Mapping[str, list[Operator]], name: str) -> Iterator[tuple[Operator, str]]:
    """Each operator that computes with what `name` holds, and the operator from which it reads it."""
    queue, seen = [name], {name}
    for current in queue:
        for user in consumers.get(current, ()):
            if user.type in graph_ops.PASSING or user.type in ("Cast", "Dequantize"):
                if user.name not in seen:
                    seen.add(user.name)
                    queue.append(user.name)
            else:
                yield user, current


def _is_used(consumers: Mapping[str, list[Operator]], operator: Operator, dtype: str) -> bool:
    data = _WEIGHT_KINDS.match(dtype) is not None
    for user, source in _uses(consumers, operator.name):
        if user.type in _NOT_USES or user.type in graph_ops.PLUMBING:
            continue
        quantised = dtype == "int32" and user.type.startswith(("Quantized", "UniformQuantized"))
        if not (data or quantised):
            continue
        if user.type not in _ARGUMENTS_ONLY or (user.inputs and user.inputs[0].operator == source):
            return True
    return False


def _dtype(attributes: Mapping[str, Any]) -> str:
    return tf_proto.dtype_name(attributes["dtype"].type) if "dtype" in attributes else ""


def _constant(attributes: Mapping[str, Any]) -> Weight | None:
    if "value" not in attributes:
        return None
    shape = attributes["value"].tensor.tensor_shape
    if shape.unknown_rank or not shape.dim:
        return None
    count = 1
    for dim in shape.dim:
        count *= max(0, int(dim.size))
    return Weight(count, count * tf_proto.item_bits(_dtype(attributes)))

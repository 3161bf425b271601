"""A TensorFlow graph with its function calls inlined: one flat list of operators, in execution order.

Tensors are known by (operator name, output): the output is an index in a graph ("MatMul:1") and an argument name with an index
in a function ("MatMul:product:0"); both end up as the operator's flat output index where the argument table allows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from stethoscope.models.formats.tf_graph import graph_ops

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
MAX_INLINED = 60_000
"""Operators after inlining; beyond, calls stay opaque. The largest real exported model seen has about 5,000."""
_MAX_CALL_DEPTH = 60


class Tensor(NamedTuple):
    """One output of one operator."""

    operator: str
    output: int


@dataclass
class Operator:
    """One node of the flat graph. `name` is what TensorFlow's own inliner would call it, unique in the graph."""

    name: str
    type: str
    inputs: list[Tensor]
    attributes: Mapping[str, Any]
    control: list[str] = field(default_factory=list)
    function: str = ""
    """The function whose body this is, "" for the graph itself."""


@dataclass
class FlatGraph:
    """Operators by name, in execution order, and the tensors that were asked for."""

    operators: dict[str, Operator]
    fetches: dict[str, Tensor]
    truncated: bool = False
    """Some calls were left as they are, because inlining them would exceed the bound or never end."""
    ends: dict[str, list[str]] = field(default_factory=dict)
    """For each inlined call, the operators (or further calls) that must have run when it is done."""

    def consumers(self) -> dict[str, list[Operator]]:
        """For each operator, those that read one of its outputs, in execution order."""
        found: dict[str, list[Operator]] = {name: [] for name in self.operators}
        for operator in self.operators.values():
            for name in dict.fromkeys(tensor.operator for tensor in operator.inputs):
                if name in found:
                    found[name].append(operator)
        return found


class _Scope:
    """One call being inlined: names of its nodes, and what its arguments stand for."""

    def __init__(self, prefix: str, function: str, nodes: Sequence[Any], arguments: Mapping[str, Tensor]) -> None:
        self.prefix = prefix
        self.function = function
        self.nodes = {node.name: node for node in nodes}
        self.arguments = arguments
        self.calls: dict[str, Sequence[Tensor | None]] = {}
        """Results of calls that were inlined."""


def flatten(
    nodes: Sequence[Any], functions: Mapping[str, Any], fetches: Mapping[str, str], fed: Iterable[str] = ()
) -> FlatGraph:
    """Inlines `fetches` (name → "node:index") and all they depend on.

    Args:
        nodes: NodeDef messages of the main graph.
        functions: FunctionDef messages by name.
        fetches: tensors of the main graph; a name that is missing from the graph is left out of the result.
        fed: nodes of the main graph whose value comes from outside; what they depend on is not visited.
    """
    builder = _Builder(functions, frozenset(fed))
    scope = _Scope("", "", nodes, {})
    found = {}
    for key, reference in fetches.items():
        tensor = builder.tensor(scope, reference)
        if tensor is not None:
            found[key] = tensor
    return FlatGraph(builder.operators, found, builder.truncated, builder.ends)


def flatten_function(name: str, functions: Mapping[str, Any]) -> FlatGraph:
    """Inlines one function's outputs. Its arguments become operators of type "_Arg" with the argument's name."""
    builder = _Builder(functions)
    definition = functions[name]
    arguments = {}
    for argument in definition.signature.input_arg:
        builder.operators[argument.name] = Operator(argument.name, "_Arg", [], {}, function=name)
        arguments[argument.name] = Tensor(argument.name, 0)
    scope = _Scope("", name, definition.node_def, arguments)
    results = [
        (out.name, builder.tensor(scope, definition.ret.get(out.name, ""))) for out in definition.signature.output_arg
    ]
    return FlatGraph(
        builder.operators,
        {key: tensor for key, tensor in results if tensor is not None},
        builder.truncated,
        builder.ends,
    )


class _Builder:
    def __init__(self, functions: Mapping[str, Any], fed: frozenset[str] = frozenset()) -> None:
        self.functions = functions
        self.fed = fed
        self.ends: dict[str, list[str]] = {}
        self.operators: dict[str, Operator] = {}
        self.truncated = False
        self._seen = 0

    def tensor(self, scope: _Scope, reference: str, depth: int = 0) -> Tensor | None:
        """Resolves one input reference, visiting what it depends on first. None for a dangling reference."""
        node_name = _split(reference)[0]
        if node_name in scope.nodes and node_name not in scope.arguments:
            self._visit(scope, node_name, depth)
        return self._known(scope, reference)

    def _visit(self, scope: _Scope, name: str, depth: int) -> None:
        """Depth first without recursion inside a scope: graphs are deeper than Python's stack; calls recurse, bounded."""
        stack: list[tuple[str, bool]] = [(name, False)]
        entered: set[str] = set()
        while stack:
            current, ready = stack.pop()
            full = scope.prefix + current
            if full in self.operators or current in scope.calls or current not in scope.nodes:
                continue
            node = scope.nodes[current]
            if not scope.prefix and not scope.function and current in self.fed:
                kept = node.op if node.op in graph_ops.INPUTS else "Placeholder"
                self.operators[full] = Operator(full, kept, [], node.attr)
                continue
            if not ready:
                if current in entered:
                    continue
                entered.add(current)
                stack.append((current, True))
                for reference in reversed(node.input):
                    source = _split(reference.lstrip("^"))[0]
                    if source in scope.nodes and source not in entered and scope.prefix + source not in self.operators:
                        stack.append((source, False))
                continue
            self._seen += 1
            inputs = [self._known(scope, reference) for reference in node.input if not reference.startswith("^")]
            callee = node.attr["f"].func.name if node.op in CALLS and "f" in node.attr else ""
            if callee in self.functions and self._may_inline(callee, depth):
                scope.calls[current] = self._inline(full, callee, inputs, depth)
                continue
            control = [scope.prefix + reference[1:] for reference in node.input if reference.startswith("^")]
            present = [tensor for tensor in inputs if tensor is not None]
            self.operators[full] = Operator(full, node.op, present, node.attr, control, scope.function)

    def _known(self, scope: _Scope, reference: str) -> Tensor | None:
        node_name, rest = _split(reference)
        if node_name in scope.arguments:
            return scope.arguments[node_name]
        node = scope.nodes.get(node_name)
        if node is None:
            return None
        index = graph_ops.output_index(node.op, rest, node.attr)
        if node_name in scope.calls:
            results = scope.calls[node_name]
            return results[index] if index < len(results) else None
        return Tensor(scope.prefix + node_name, index)

    def _may_inline(self, callee: str, depth: int) -> bool:
        definition = self.functions[callee]
        if depth >= _MAX_CALL_DEPTH or self._seen + len(definition.node_def) > MAX_INLINED:
            self.truncated = True
            return False
        return True

    def _inline(self, name: str, callee: str, inputs: Sequence[Tensor | None], depth: int) -> Sequence[Tensor | None]:
        definition = self.functions[callee]
        arguments = {
            argument.name: tensor
            for argument, tensor in zip(definition.signature.input_arg, inputs, strict=False)
            if tensor is not None
        }
        scope = _Scope(f"{name}/", callee, definition.node_def, arguments)
        self.ends[name] = [scope.prefix + target for target in definition.control_ret.values()]
        for target in definition.control_ret.values():
            self._visit(scope, target, depth + 1)
        return [
            self.tensor(scope, definition.ret[out.name], depth + 1) if out.name in definition.ret else None
            for out in definition.signature.output_arg
        ]


def _split(reference: str) -> tuple[str, str]:
    """("node", "product:0") of "node:product:0", ("node", "1") of "node:1", ("node", "0") of "node"."""
    name, _, rest = reference.partition(":")
    return name, rest or "0"


def ancestors(nodes: Mapping[str, Any], roots: Iterable[str]) -> set[str]:
    """Names of all nodes of one graph or function body that `roots` depend on, control inputs included."""
    seen: set[str] = set()
    stack = [_split(root.lstrip("^"))[0] for root in roots]
    while stack:
        name = stack.pop()
        if name in seen or name not in nodes:
            continue
        seen.add(name)
        stack.extend(_split(reference.lstrip("^"))[0] for reference in nodes[name].input)
    return seen

"""What in a TensorFlow graph reaches outside its tensors: files, network, Python, or programs passed as data.

Every operator of the graph and of every function is held against an allow-list (`graph_ops.json`). Four kinds are judged by what
they are given: checkpoints (only what the file's saver names, and only on the name it is given), vocabulary files (only the
model's own assets), printing (only to the console), and dataset caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stethoscope.models.formats.tf_graph import graph_ops
from stethoscope.models.formats.tf_graph.flat_graph import ancestors
from stethoscope.models.formats.tf_graph.graph_layers import called
from stethoscope.types import Hazard

_MAX_HAZARDS = 200
_CHECKPOINT = frozenset({"SaveV2", "RestoreV2", "MergeV2Checkpoints", "Save", "SaveSlices", "Restore", "RestoreSlice"})
_VOCABULARY = frozenset({"InitializeTableFromTextFile", "InitializeTableFromTextFileV2"})
_CONSOLE = ("stderr", "stdout", "log(info)", "log(warning)", "log(error)")
_MEANING = {
    "file-access": "can read or write files of this machine",
    "network": "can talk to other machines",
    "python-function": "calls Python code",
    "hidden-program": "runs a program that is hidden in its data",
    "process": "can end or reach into the process that runs it",
    "internal-operator": "is internal to TensorFlow and in no exported model",
    "unknown-operator": "is not an operator of the installed TensorFlow; nothing is known of what it does",
}


@dataclass(frozen=True)
class Context:
    """What a file says about the parts of its graph that may touch files."""

    nodes: Mapping[str, Any]
    functions: Mapping[str, Any]
    save_roots: tuple[str, ...] = ()
    """Tensors that only saving asks for."""
    restore_roots: tuple[str, ...] = ()
    """Operators that only restoring, at load time, asks for."""
    filename_tensor: str = ""
    served: tuple[str, ...] = ()
    """Tensors and operators that serving and loading ask for."""
    asset_tensors: frozenset[str] = frozenset()
    entry_functions: frozenset[str] = frozenset()
    """Functions that can be called from outside the graph."""
    asset_arguments: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    """(function, argument) pairs that are bound to an asset."""
    bound_arguments: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    """(function, argument) pairs that are bound to anything stored in the file."""


def find(context: Context) -> tuple[Hazard, ...]:
    """All hazards, at most 200, in the order of the graph, one for each kind of operator in each function."""
    found: dict[tuple[str, str, str], Hazard] = {}
    judge = _Judge(context)
    for function, nodes in [
        ("", context.nodes),
        *((name, _by_name(f.node_def)) for name, f in context.functions.items()),
    ]:
        for node in nodes.values():
            rule, detail = judge.rule(function, nodes, node)
            if rule and len(found) < _MAX_HAZARDS:
                where = f"{node.name} in function {function}" if function else node.name
                message = f"Operator {node.op} {detail or _MEANING[rule]}."
                found.setdefault((rule, node.op, function), Hazard(rule, where, message))
    return tuple(found.values())


class _Judge:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._callers = _call_sites(context)
        self._served = ancestors(context.nodes, context.served)
        restoring = ancestors(context.nodes, context.restore_roots)
        self._writers = ancestors(context.nodes, context.save_roots) - restoring - self._served
        self._readers = restoring - self._served
        self._writer_functions = self._only_from(self._writers)
        self._reader_functions = self._only_from(self._readers)

    def _only_from(self, allowed: set[str]) -> set[str]:
        """Functions that only operators in `allowed` can call."""
        context = self._context
        others = [name for node in context.nodes.values() if node.name not in allowed for name in called(node.attr)]
        inside = [name for node in allowed for name in called(context.nodes[node].attr)]
        return _reached(context, inside) - _reached(context, [*others, *context.entry_functions])

    def rule(self, function: str, nodes: Mapping[str, Any], node: Any) -> tuple[str, str]:
        """(rule id, what is wrong) of a node; ("", "") for a harmless one."""
        if node.op in self._context.functions:
            return "", ""
        if node.op == "PrintV2":
            stream = (
                node.attr["output_stream"].s.decode("utf-8", "replace") if "output_stream" in node.attr else "stderr"
            )
            return ("", "") if stream in _CONSOLE else ("file-access", f"prints into {stream[:100]!r}")
        if node.op in _CHECKPOINT:
            return self._checkpoint(function, node)
        if node.op in _VOCABULARY:
            if len(node.input) > 1 and self._is_asset(function, nodes, node.input[1], 0):
                return "", ""
            return "file-access", "fills a table from a file that is not one of the model's assets"
        if (
            node.op in ("CacheDataset", "CacheDatasetV2")
            and len(node.input) > 1
            and _constant_string(nodes, node.input[1]) == b""
        ):
            return "", ""
        rule = graph_ops.rule_for(node.op) or "unknown-operator"
        return ("", "") if rule == "compute" else (rule, "")

    def _checkpoint(self, function: str, node: Any) -> tuple[str, str]:
        if not function and node.name not in self._served | self._writers | self._readers:
            return "", ""  # Left over from training: nothing that loading or serving asks for depends on it.
        if node.op == "RestoreV2":
            reading = function in self._reader_functions if function else node.name in self._readers
            if reading and node.input and self._is_filename(function, node.input[0], 0):
                return "", ""
        elif function in self._writer_functions if function else node.name in self._writers:
            return "", ""
        return "file-access", "reads or writes a checkpoint outside the model's own saving and restoring"

    def _is_filename(self, function: str, reference: str, depth: int) -> bool:
        """Whether a restore reads from the name that the loader passes in, and from nowhere else."""
        name = reference.partition(":")[0]
        if depth > 30:
            return False
        if function:
            node = _by_name(self._context.functions[function].node_def).get(name)
            if node is None:
                sites = self._callers.get((function, name), ())
                return bool(sites) and all(self._is_filename(caller, argument, depth + 1) for caller, argument in sites)
        else:
            if name == self._context.filename_tensor.partition(":")[0]:
                return True
            node = self._context.nodes.get(name)
        return (
            node is not None
            and node.op == "Identity"
            and bool(node.input)
            and self._is_filename(function, node.input[0], depth + 1)
        )

    def _is_asset(self, function: str, nodes: Mapping[str, Any], reference: str, depth: int) -> bool:
        name = reference.partition(":")[0]
        if depth > 30:
            return False
        node = nodes.get(name)
        if node is None and function:
            pair = (function, name)
            sites = self._callers.get(pair, ())
            if pair in self._context.bound_arguments and pair not in self._context.asset_arguments:
                return False
            if not sites:
                return pair in self._context.asset_arguments
            return all(self._is_asset(caller, self._nodes(caller), argument, depth + 1) for caller, argument in sites)
        if node is None:
            return False
        if not function and name in self._context.asset_tensors:
            return True
        if node.op == "ReadVariableOp" and node.input and not function:
            return self._holds_asset(nodes, node.input[0], depth)
        return (
            node.op in ("Identity", "PlaceholderWithDefault")
            and bool(node.input)
            and self._is_asset(function, nodes, node.input[0], depth + 1)
        )

    def _holds_asset(self, nodes: Mapping[str, Any], handle: str, depth: int) -> bool:
        """Whether a variable of the main graph is only ever given an asset's name: how TensorFlow 2 stores initializers."""
        users = [node for node in nodes.values() if handle in node.input]
        assigned = [node for node in users if node.op == "AssignVariableOp"]
        harmless = ("AssignVariableOp", "ReadVariableOp", "VarIsInitializedOp")
        return (
            bool(assigned)
            and all(node.op in harmless for node in users)
            and all(self._is_asset("", nodes, node.input[1], depth + 1) for node in assigned if len(node.input) > 1)
        )

    def _nodes(self, function: str) -> Mapping[str, Any]:
        return _by_name(self._context.functions[function].node_def) if function else self._context.nodes


def _by_name(nodes: Iterable[Any]) -> dict[str, Any]:
    return {node.name: node for node in nodes}


def _constant_string(nodes: Mapping[str, Any], reference: str) -> bytes | None:
    node = nodes.get(reference.partition(":")[0])
    if node is None or node.op != "Const" or "value" not in node.attr:
        return None
    values = node.attr["value"].tensor.string_val
    return bytes(values[0]) if len(values) == 1 else b"" if not values else None


def _call_sites(context: Context) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """(caller, reference) of what is passed for each (function, argument) by direct calls."""
    sites: dict[tuple[str, str], list[tuple[str, str]]] = {}
    bodies: Iterator[tuple[str, Any]] = iter(
        [("", context.nodes.values()), *((n, f.node_def) for n, f in context.functions.items())]
    )
    for caller, nodes in bodies:
        for node in nodes:
            data = [reference for reference in node.input if not reference.startswith("^")]
            for callee in called(node.attr):
                if callee in context.functions:
                    arguments = context.functions[callee].signature.input_arg
                    passed = data[len(data) - len(arguments) :] if len(data) >= len(arguments) else data
                    for argument, reference in zip(arguments, passed, strict=False):
                        sites.setdefault((callee, argument.name), []).append((caller, reference))
    return sites


def _reached(context: Context, roots: Iterable[str]) -> set[str]:
    seen: set[str] = set()
    stack = [root for root in roots if root in context.functions]
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        for node in context.functions[name].node_def:
            stack.extend(inner for inner in called(node.attr) if inner in context.functions)
            if node.op in context.functions:
                stack.append(node.op)
    return seen

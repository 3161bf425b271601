"""Operators of a GraphDef written as others that mean the same, in the graph and in the bodies of its functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Last = tuple[str, list[str], dict[str, Any]]
"""The operator that takes the place of the old one: its type, its inputs, and attributes that it has besides those of the old one."""


def rewrite(definition: Any, recipes: Mapping[str, Callable[[Writer], Last | None]]) -> None:
    """Changes a GraphDef in place; function bodies too.

    Args:
        definition: the graph.
        recipes: what takes the place of each type of operator; one that gives None leaves the operator as it is.
    """
    for node in [one for one in definition.node if one.op in recipes]:
        _replace(Writer(definition.node, node, inside=False), recipes)
    for body in definition.library.function:
        for node in [one for one in body.node_def if one.op in recipes]:
            before = _first_output(node.op)
            _replace(Writer(body.node_def, node, inside=True), recipes)
            _rename_output(body, f"{node.name}:{before}:0", f"{node.name}:{_first_output(node.op)}:0")


def _replace(writer: Writer, recipes: Mapping[str, Callable[[Writer], Last | None]]) -> None:
    node = writer.node
    last = recipes[node.op](writer)
    if last is None:
        return
    op, inputs, attributes = last
    control = [one for one in node.input if one.startswith("^")]
    node.op = op
    del node.input[:]
    node.input.extend([*inputs, *control])
    for name in set(node.attr) - set(_attributes(op)):
        del node.attr[name]
    for name, value in attributes.items():
        _set(node.attr[name], value)


def _rename_output(body: Any, before: str, after: str) -> None:
    """In a function's body an output is called by its argument, which another operator calls otherwise."""
    for node in body.node_def:
        for place, source in enumerate(node.input):
            if source == before:
                node.input[place] = after
    for name, source in body.ret.items():
        if source == before:
            body.ret[name] = after


def _first_output(op: str) -> str:
    from tensorflow.python.framework import op_def_registry

    return str(op_def_registry.get(op).output_arg[0].name)


@dataclass(frozen=True)
class Writer:
    """Adds operators beside the one that is replaced."""

    nodes: Any
    node: Any
    inside: bool
    """Within a function's body, where an output is named by its argument."""

    @property
    def inputs(self) -> list[str]:
        """What it reads, without what it only waits for."""
        return [one for one in self.node.input if not one.startswith("^")]

    @property
    def kind(self) -> int:
        """The number of the dtype it computes in."""
        return int(self.node.attr["T"].type)

    def add(self, op: str, inputs: list[str], **attributes: Any) -> str:
        """A new operator of the same dtype; returns its output."""
        made = self.nodes.add(name=f"{self.node.name}/{op.lower()}_{len(self.nodes)}", op=op)
        made.input.extend(inputs)
        if "T" in _attributes(op) and "T" not in attributes:
            made.attr["T"].type = self.kind
        for name, value in attributes.items():
            _set(made.attr[name], value)
        return self._output(made)

    def constant(self, values: Any, kind: int | None = None) -> str:
        """Numbers as a constant, of the operator's own dtype if no other is given."""
        import numpy as np
        import tensorflow as tf

        dtype = tf.as_dtype(self.kind if kind is None else kind)
        made = self.nodes.add(name=f"{self.node.name}/const_{len(self.nodes)}", op="Const")
        made.attr["dtype"].type = dtype.as_datatype_enum
        made.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.asarray(values), dtype=dtype))
        return self._output(made)

    def behind(self, name: str) -> Any:
        """The operator that a value comes from, past those that only pass it on; None for an input of the graph."""
        by_name = {node.name: node for node in self.nodes}
        found = by_name.get(name.partition(":")[0])
        while found is not None and found.op == "Identity":
            found = by_name.get(found.input[0].partition(":")[0])
        return found

    def _output(self, made: Any) -> str:
        return f"{made.name}:{_first_output(made.op)}:0" if self.inside else str(made.name)


def _attributes(op: str) -> list[str]:
    from tensorflow.python.framework import op_def_registry

    return [one.name for one in op_def_registry.get(op).attr]


def _set(attribute: Any, value: Any) -> None:
    if isinstance(value, bool):
        attribute.b = value
    elif isinstance(value, int):
        attribute.type = value
    else:
        raise TypeError(type(value))

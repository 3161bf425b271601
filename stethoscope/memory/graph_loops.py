"""Loops in a graph as one turn of their body, with the shapes that only running them would tell. Used in a worker.

TensorFlow lowers a loop to Enter, Merge, Switch, NextIteration and Exit. Memory is that of one turn, plus the lists that the
turns fill (a recurrent layer's outputs). Source: tensorflow/core/common_runtime/lower_while_op.cc.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stethoscope.memory.op_buffers import Operation

PASSING = frozenset(
    {"Enter", "RefEnter", "Switch", "RefSwitch", "Merge", "NextIteration", "Exit", "RefExit", "Identity"}
)
TURNS_AHEAD = 32
"""Source: `parallel_iterations` of keras.backend.rnn and tf.while_loop (10 where nothing is said)."""
_SHAPE_INPUT = {"TensorListStack": 1, "TensorListGetItem": 2}
_ALIGNMENT_BYTES = 64
"""Rows of a tensor that start at such addresses are put on a list without being copied. Source: TensorListFromTensor."""


def one_turn(definition: Any, variables: Mapping[str, Any]) -> dict[str, str]:
    """Cuts every loop open, and gives the variables read inside it their shapes. Changes `definition`.

    Args:
        definition: a GraphDef, optimised or not.
        variables: the captured variables, by their placeholder.

    Returns:
        For each Exit the operation that ends a turn for its value: what comes behind the loop waits for it.
    """
    nodes = {node.name: node for node in definition.node}
    counted = {_name(source) for node in definition.node for source in node.input if source.endswith(":1")}
    waits: dict[str, str] = {}
    for node in definition.node:
        if node.op == "Exit":
            switch = nodes.get(_name(node.input[0]))
            merge = nodes.get(_name(switch.input[0])) if switch is not None and switch.op == "Switch" else None
            if merge is not None and merge.op == "Merge" and len(merge.input) > 1:
                waits[node.name] = _name(merge.input[1])
    for node in definition.node:
        if node.op == "Merge" and node.name not in counted and _is_loop(node, nodes):
            kept = node.input[0]
            del node.input[:]
            node.input.append(kept)
            node.op = "Identity"
            del node.attr["N"]
        elif node.op == "Enter":  # which forgets the shape
            node.op = "Identity"
            for attribute in ("frame_name", "is_constant", "parallel_iterations"):
                del node.attr[attribute]
        elif node.op == "ReadVariableOp":
            variable = variables.get(_origin(node.input[0], nodes))
            if variable is not None:
                del node.input[:]
                node.op = "Placeholder"
                node.attr["shape"].shape.CopyFrom(variable.shape.as_proto())
    return waits


def listed_shapes(definition: Any, graph: Any) -> bool:
    """Tells what is read from lists the shape of what is put on them. Changes `definition`; says whether anything was learnt."""
    nodes = {node.name: node for node in definition.node}
    items: dict[str, list[int]] = {}
    lengths: dict[str, int] = {}
    for operation in graph.get_operations():
        if operation.type == "TensorListSetItem" and operation.inputs[2].shape.is_fully_defined():
            items[_origin(operation.inputs[0].name, nodes)] = operation.inputs[2].shape.as_list()
        elif operation.type == "TensorListFromTensor" and operation.inputs[0].shape.is_fully_defined():
            items[operation.name] = operation.inputs[0].shape.as_list()[1:]
        elif operation.type == "TensorListReserve":
            length = _number(operation.inputs[1])
            if length is not None:
                lengths[operation.name] = length
    learnt = False
    for operation in graph.get_operations():
        place = _SHAPE_INPUT.get(operation.type)
        if place is None or operation.outputs[0].shape.is_fully_defined():
            continue
        shape = items.get(_origin(operation.inputs[0].name, nodes))
        name = f"{operation.name}/element_shape_known"
        if shape is None or name in nodes:
            continue
        known = definition.node.add()
        known.op, known.name = "Const", name
        known.attr["dtype"].type = 3
        known.attr["value"].tensor.dtype = 3
        known.attr["value"].tensor.tensor_shape.dim.add().size = len(shape)
        known.attr["value"].tensor.int_val.extend(shape)
        nodes[operation.name].input[place] = name
        length = lengths.get(_origin(operation.inputs[0].name, nodes))
        if operation.type == "TensorListStack" and length:
            nodes[operation.name].attr["num_elements"].i = length
        learnt = True
    return learnt


def _number(tensor: Any) -> int | None:
    """The value of a scalar that follows from shapes: a constant, or one size of a known shape."""
    import tensorflow as tf

    value = tf.get_static_value(tensor)
    if value is None and tensor.op.type in ("Identity", "Cast", "Max", "Maximum"):
        return _number(tensor.op.inputs[0])
    if value is None and tensor.op.type == "StridedSlice":
        sizes, place = tf.get_static_value(tensor.op.inputs[0]), tf.get_static_value(tensor.op.inputs[1])
        value = None if sizes is None or place is None else sizes[int(place[0])]
    return None if value is None or getattr(value, "size", 1) != 1 else int(value)


def with_lists(operations: list[Operation]) -> list[Operation]:
    """Gives every list the bytes of what is on it: those of the tensor that it becomes, or comes from."""
    makers = {value.name: operation for operation in operations for value in operation.outputs}
    sizes: dict[str, int] = {}
    for operation in operations:
        if operation.type == "TensorListStack":
            source = _source(operation, makers)
            sizes[source] = max(sizes.get(source, 0), operation.outputs[0].size_bytes)
    found = []
    for operation in operations:
        size = sizes.get(operation.name, 0)
        if operation.type == "TensorListFromTensor":
            value = operation.inputs[0]
            rows = max(1, value.shape[0] if value.shape else 1)
            size = 0 if value.size_bytes // rows % _ALIGNMENT_BYTES == 0 else value.size_bytes
        if size and operation.outputs and operation.outputs[0].dtype == "variant":
            found.append(replace(operation, outputs=(replace(operation.outputs[0], size_bytes=size),)))
        else:
            found.append(operation)
    return _run_ahead(found)


def _run_ahead(operations: list[Operation]) -> list[Operation]:
    """What a turn computes without the state of the turn before is computed for many turns ahead, and kept for each."""
    items = [operation for operation in operations if operation.type == "TensorListGetItem"]
    states = [
        operation
        for operation in operations
        if operation.type == "Switch" and operation.outputs[0].dtype.startswith(("float", "bfloat", "double"))
    ]
    if not items or not states:
        return operations
    readers: dict[str, list[Operation]] = {}
    for operation in operations:
        for value in operation.inputs:
            readers.setdefault(value.name, []).append(operation)
    late = _behind(states, readers)
    makers = {value.name: operation for operation in operations for value in operation.outputs}
    turns: dict[str, int] = {}
    for item in items:
        # Of a short loop about half: the first turns are done with while the last are still computed.
        ahead = min(TURNS_AHEAD, (_length(item, makers) + 1) // 2)
        for name in _behind([item], readers) - late:
            turns[name] = max(ahead, turns.get(name, 0))

    def kept(operation: Operation) -> Operation:
        outputs = tuple(
            replace(value, size_bytes=turns[operation.name] * value.size_bytes)
            if any(reader.name in late for reader in readers.get(value.name, ()))
            else value
            for value in operation.outputs
        )
        return replace(operation, outputs=outputs)

    return [kept(operation) if operation.name in turns else operation for operation in operations]


def _length(item: Operation, makers: Mapping[str, Operation]) -> int:
    """Turns of the loop that reads an item of a list each turn; what is assumed where the list's length is open."""
    source = makers.get(_source(item, makers) + ":0")
    if source is None or source.type != "TensorListFromTensor" or not source.inputs[0].shape:
        return TURNS_AHEAD
    return max(1, source.inputs[0].shape[0])


def _behind(starts: list[Operation], readers: Mapping[str, list[Operation]]) -> set[str]:
    found: set[str] = set()
    waiting = list(starts)
    while waiting:
        operation = waiting.pop()
        if operation.name in found or operation.type in ("NextIteration", "Exit"):
            continue
        found.add(operation.name)
        waiting += [reader for value in operation.outputs for reader in readers.get(value.name, ())]
    return found


def _source(operation: Operation, makers: Mapping[str, Operation]) -> str:
    """The operation that made the list an operation reads."""
    for _ in range(len(makers)):
        maker = makers.get(operation.inputs[0].name) if operation.inputs else None
        if maker is None:
            return operation.name
        if maker.type not in PASSING and maker.type != "TensorListSetItem":
            return maker.name
        operation = maker
    return operation.name


def _origin(tensor: str, nodes: Mapping[str, Any]) -> str:
    name = _name(tensor)
    for _ in range(len(nodes)):
        node = nodes.get(name)
        if node is None or (node.op not in PASSING and node.op != "TensorListSetItem") or not node.input:
            return name
        name = _name(node.input[0])
    return name


def _is_loop(node: Any, nodes: Mapping[str, Any]) -> bool:
    return any(nodes[_name(source)].op == "NextIteration" for source in node.input if _name(source) in nodes)


def _name(tensor: str) -> str:
    return tensor.lstrip("^").partition(":")[0]

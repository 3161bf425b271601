"""Models that write to variables which no output depends on: the same answers without writing.

Keras 3 draws the masks of a recurrent layer's dropout in every call, and counts on; what is answered takes none of them.
Source: keras/src/layers/rnn/dropout_rnn_cell.py, get_dropout_mask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stethoscope.compare.convert.traced import WRITES, TracedModel

_RESOURCE = 20
"""TensorFlow's number for what stands for a variable."""


def settled(traced: TracedModel) -> TracedModel:
    """The same function of constants, without its writes, where no output depends on what they write; else as it came."""
    if not traced.writes or traced.lookups:
        return traced
    import tensorflow as tf
    from tensorflow.python.framework import convert_to_constants

    data = convert_to_constants._FunctionConverterDataInEager(
        func=traced.function, lower_control_flow=False, aggressive_inlining=True
    )
    outputs = [tensor.name for tensor in traced.function.outputs]
    needed = _ancestors(data.graph_def, outputs)
    if needed & set(_written(data.graph_def)):
        return traced
    definition, _ = convert_to_constants._replace_variables_by_constants(data)
    kept = _ancestors(definition, outputs)
    own = len(traced.function.inputs) - len(traced.function.captured_inputs)
    inputs = [(tensor.name, tensor.dtype) for tensor in traced.function.inputs[:own]]
    fed_names = {name.partition(":")[0] for name, _ in inputs}
    _keep(definition, kept - fed_names)  # what is fed takes their place
    names = sorted(name for name, _ in traced.outputs)

    def model(*tensors: Any) -> dict[str, Any]:
        fed = {name: one for (name, _), one in zip(inputs, tensors, strict=True) if name.partition(":")[0] in kept}
        found = tf.graph_util.import_graph_def(definition, input_map=fed, return_elements=outputs, name="")
        return dict(zip(names, found, strict=True))

    signature = [
        tf.TensorSpec(spec.shape, dtype, name=name)
        for (name, spec), (_, dtype) in zip(traced.inputs, inputs, strict=True)
    ]
    function = tf.function(model, input_signature=signature, autograph=False).get_concrete_function()
    return TracedModel(function, None, traced.inputs, traced.outputs)


def _ancestors(definition: Any, outputs: list[str]) -> set[str]:
    """Names of the operators that tensors are computed from, these included; what is only waited for is not."""
    by_name = {node.name: node for node in definition.node}
    found: set[str] = set()
    waiting = [name.partition(":")[0] for name in outputs]
    while waiting:
        name = waiting.pop()
        if name in found or name not in by_name:
            continue
        found.add(name)
        waiting += [one.partition(":")[0] for one in by_name[name].input if not one.startswith("^")]
    return found


def _written(definition: Any) -> Iterator[str]:
    """Names of the placeholders that stand for variables which some operator, or a function that it calls, writes to."""
    by_name = {node.name: node for node in definition.node}
    bodies = {one.signature.name: one for one in definition.library.function}
    for node in definition.node:
        if not WRITES.match(node.op) and not _calls_a_write(node, bodies, set()):
            continue
        for one in node.input:
            root = by_name.get(one.partition(":")[0])
            while root is not None and root.op == "Identity":
                root = by_name.get(root.input[0].partition(":")[0])
            if root is not None and root.op == "Placeholder" and root.attr["dtype"].type == _RESOURCE:
                yield root.name


def _calls_a_write(node: Any, bodies: Mapping[str, Any], seen: set[str]) -> bool:
    called = {one.name for value in node.attr.values() for one in (value.func, *value.list.func)} | {node.op}
    for name in called & bodies.keys() - seen:
        seen.add(name)
        for inner in bodies[name].node_def:
            if WRITES.match(inner.op) or _calls_a_write(inner, bodies, seen):
                return True
    return False


def _keep(definition: Any, names: set[str]) -> None:
    """Leaves only these operators in a GraphDef."""
    for place in reversed(range(len(definition.node))):
        node = definition.node[place]
        if node.name not in names:
            del definition.node[place]
            continue
        kept = [one for one in node.input if not one.startswith("^") or one[1:] in names]
        if len(kept) < len(node.input):
            del node.input[:]
            node.input.extend(kept)

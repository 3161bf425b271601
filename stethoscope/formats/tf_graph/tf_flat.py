"""A loaded TensorFlow function with its calls inlined, so that every operator inside can be read. Imported only in a worker.

The inlining is the one `describe` uses, so operators have the names it shows. Variables stay variables: nothing is frozen or
folded, and a model that changes its own state (a random seed) works too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stethoscope.formats.tf_graph import tf_calls
from stethoscope.formats.tf_graph.flat_graph import FlatGraph, flatten
from stethoscope.types import Feed, ModelFile

_FETCHES_AT_ONCE = 400


class FlatFunction:
    """Inputs by name, and every operator by its name inside the function."""

    def __init__(self, file: ModelFile, function: Any, names: Sequence[str], *, by_name: bool) -> None:
        """Inlines `function`, a loaded ConcreteFunction.

        Args:
            file: for error texts.
            function: what to inline.
            names: names of its inputs; in its own order unless `by_name`.
            by_name: its inputs are keyword arguments.
        """
        self._file = file
        definition = function.graph.as_graph_def()
        self._outputs = {f"output_{index}": tensor.name for index, tensor in enumerate(function.outputs)}
        library = {one.signature.name: one for one in definition.library.function}
        self._graph = flatten(definition.node, library, self._outputs)
        self._nodes = {node.name: node for node in definition.node}
        own = list(function.inputs[: len(function.inputs) - len(function.captured_inputs)])
        if by_name:
            keywords = function.structured_input_signature[1]
            order = [tensor.name for tensor in own]
            by_argument = {argument: order[index] for index, argument in enumerate(_in_order(keywords, own))}
            self._feeds = {name: by_argument[name] for name in names if name in by_argument}
        else:
            self._feeds = {name: tensor.name for name, tensor in zip(names, own, strict=False)}
        self._dtypes = {tensor.name: tensor.dtype for tensor in own}
        self._captures = list(
            zip([tensor.name for tensor in function.inputs[len(own) :]], function.captured_inputs, strict=True)
        )
        self._definition = _definition(self._graph, definition, [*self._dtypes, *(name for name, _ in self._captures)])

    def outputs(self, values: Feed) -> Feed:
        """The function's outputs as output_0, output_1, …"""
        found = self._run({name: self._resolved(tensor) for name, tensor in self._outputs.items()}, values)
        return found

    def fetch(self, operators: Mapping[str, str], values: Feed) -> Feed:
        """First outputs of `operators` (name inside the function, by path); those that hold no array are left out."""
        return self._run(
            {path: f"{name}:0" for path, name in operators.items() if name in self._graph.operators}, values
        )

    def _resolved(self, tensor: str) -> str:
        for key, name in self._outputs.items():
            if name == tensor and key in self._graph.fetches:
                found = self._graph.fetches[key]
                return f"{found.operator}:{found.output}"
        return tensor

    def _run(self, wanted: Mapping[str, str], values: Feed) -> Feed:
        import tensorflow as tf
        from tensorflow.python.eager import wrap_function

        feeds = [(name, tensor) for name, tensor in self._feeds.items() if name in values]
        found: Feed = {}
        with tf_calls.explained(self._file, "reading its operators"):
            graph = tf.Graph()
            with graph.as_default():
                tf.import_graph_def(self._definition, name="")
        readable = {path: tensor for path, tensor in wanted.items() if tf_calls.holds_array(graph, tensor)}
        paths = list(readable)
        for start in range(0, len(paths), _FETCHES_AT_ONCE):
            part = paths[start : start + _FETCHES_AT_ONCE]
            sources = [tensor for _, tensor in feeds] + [tensor for tensor, _ in self._captures]
            with tf_calls.explained(self._file, tf_calls.RUNNING):
                pruned = wrap_function.function_from_graph_def(
                    self._definition, sources, [readable[path] for path in part]
                )
                results = pruned(
                    *(tf_calls.tensor(values[name], self._dtypes[tensor]) for name, tensor in feeds),
                    *(captured for _, captured in self._captures),
                )
            results = results if isinstance(results, list | tuple) else [results]
            found.update({path: tf_calls.array(result) for path, result in zip(part, results, strict=True)})
        return found


def _in_order(keywords: Mapping[str, Any], own: Sequence[Any]) -> list[str]:
    """Keyword names in the order of the function's own inputs, which carry the names of their specs."""
    specs = {spec.name or name: name for name, spec in keywords.items()}
    names = [tensor.name.partition(":")[0] for tensor in own]
    if all(name in specs for name in names):
        return [specs[name] for name in names]
    return sorted(keywords)


def _definition(graph: FlatGraph, original: Any, inputs: Sequence[str]) -> Any:
    """A GraphDef of the inlined operators, with the library for loops and branches."""
    from tensorflow.core.framework import graph_pb2

    result = graph_pb2.GraphDef()
    result.library.CopyFrom(original.library)
    result.versions.CopyFrom(original.versions)
    for operator in graph.operators.values():
        node = result.node.add(name=operator.name, op=operator.type)
        for key, value in operator.attributes.items():
            if key not in ("_class", "_output_shapes"):
                node.attr[key].CopyFrom(value)
        node.input.extend(f"{tensor.operator}:{tensor.output}" for tensor in operator.inputs)
        controls: dict[str, None] = {}
        for name in operator.control:
            controls.update(dict.fromkeys(_finished(graph, name)))
        node.input.extend(f"^{name}" for name in controls)
    nodes = {node.name: node for node in original.node}
    for tensor in inputs:
        name = tensor.partition(":")[0]
        if name not in graph.operators and name in nodes:
            result.node.add().CopyFrom(nodes[name])
    return result


def _finished(graph: FlatGraph, name: str) -> list[str]:
    """Operators to wait for in place of one that may have been an inlined call."""
    stack, found, seen = [name], [], set()
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        if current in graph.operators:
            found.append(current)
        else:
            stack.extend(graph.ends.get(current, ()))
    return found

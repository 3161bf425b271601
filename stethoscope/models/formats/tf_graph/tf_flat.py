"""A loaded TensorFlow function with its calls inlined, so that every operator inside can be read. Imported only in a worker.

The inlining is the one `describe` uses, so operators have the names it shows. Variables stay variables: nothing is frozen or
folded, and a model that changes its own state (a random seed) works too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stethoscope.models.capabilities import Reduce
from stethoscope.models.formats.tf_graph import tf_calls
from stethoscope.models.formats.tf_graph.flat_graph import FlatGraph, flatten
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
        self._pruned: dict[Any, Any] = {}
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

    def input_tensor(self, name: str) -> str:
        """The tensor behind an input, as "name:0"."""
        return str(self._feeds[name])

    def as_tensor(self, name: str, value: Any) -> Any:
        """An input's array as a tensor of its dtype."""
        return tf_calls.tensor(value, self._dtypes[self._feeds[name]])

    def output_tensor(self, place: int) -> str:
        """The tensor behind the output at `place`."""
        return self._resolved(self._outputs[f"output_{place}"])

    def before(self, tensor: str, kinds: Sequence[str], passing: Sequence[str]) -> str | None:
        """What goes into the operator of one of `kinds` that yields `tensor`, through any that are `passing`; None without one."""
        name, _, index = tensor.partition(":")
        while (operator := self._graph.operators.get(name)) is not None and operator.inputs:
            if operator.type in kinds:
                return f"{operator.inputs[0].operator}:{operator.inputs[0].output}"
            if operator.type not in passing:
                return None
            source = operator.inputs[int(index or 0) if operator.type == "IdentityN" else 0]
            name, index = source.operator, str(source.output)
        return None

    def called(self, values: Feed, given: Mapping[str, Any], wanted: Sequence[str]) -> list[Any]:
        """The tensors `wanted`, computed eagerly with tensors `given` in place of the graph's own; gradients go through.

        Args:
            values: an array for each input.
            given: tensors by the name they replace.
            wanted: names of tensors.
        """
        from tensorflow.python.eager import wrap_function

        feeds = {tensor: name for name, tensor in self._feeds.items() if name in values and tensor not in given}
        key = (tuple(given), tuple(feeds), tuple(wanted))
        if key not in self._pruned:
            sources = [*given, *feeds, *(tensor for tensor, _ in self._captures)]
            self._pruned[key] = wrap_function.function_from_graph_def(self._definition, sources, list(wanted))
        results = self._pruned[key](
            *given.values(),
            *(self.as_tensor(name, values[name]) for name in feeds.values()),
            *(captured for _, captured in self._captures),
        )
        return list(results) if isinstance(results, list | tuple) else [results]

    def reducing(self, reduce: Reduce, operators: Mapping[str, str]) -> Callable[[Feed], dict[str, Feed]]:
        """Returns a function that runs `operators` (name inside the function, by path) on a feed and reduces their outputs.

        The reductions are part of one traced function: nothing of the outputs is kept.
        """
        import tensorflow as tf

        wanted = {path: f"{name}:0" for path, name in operators.items() if name in self._graph.operators}

        def body(named: dict[str, Any]) -> dict[str, Any]:
            graph = tf.compat.v1.get_default_graph()
            sources = {self._feeds[name]: tensor for name, tensor in named.items() if name in self._feeds}
            sources |= {name: graph.capture(captured) for name, captured in self._captures}
            tf.import_graph_def(self._definition, input_map=sources, name="model")
            found = {}
            for path, tensor in wanted.items():
                if not tf_calls.holds_array(graph, f"model/{tensor}"):
                    continue
                reduced = reduce(path, graph.get_tensor_by_name(f"model/{tensor}"), named)
                if reduced is not None:
                    found[path] = dict(reduced)
            return found

        traced: dict[tuple[Any, ...], Any] = {}

        def call(values: Feed) -> dict[str, Feed]:
            with tf_calls.explained(self._file, tf_calls.RUNNING):
                named = {
                    name: tf_calls.tensor(values[name], self._dtypes[tensor])
                    for name, tensor in self._feeds.items()
                    if name in values
                }
                key = tuple(tensor.shape[1:].as_list().__repr__() for tensor in named.values())
                if key not in traced:
                    traced[key] = tf.function(body, autograph=False, reduce_retracing=True)
                found = traced[key](named)
                return {path: {name: part.numpy() for name, part in parts.items()} for path, parts in found.items()}

        return call

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

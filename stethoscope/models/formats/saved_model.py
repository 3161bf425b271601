"""TensorFlow SavedModel: a folder with a graph, its variables and assets; here as a zip, a tar or a folder.

`describe` reads the graph (weights left out) and the list of variables; it never loads the model, because loading one runs it.
Layers are the operators of one signature with its function calls inlined.

One served function as a plain GraphDef for Netron: calls inlined, weights as constants without values, nodes named by layer path.

Netron draws a SavedModel's own file as loose variables with the operators hidden in functions, and refuses some function
libraries; this is the graph that the layer table lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from stethoscope.models.formats.tf_graph import (
    graph_layers,
    graph_ops,
    saved_model_files,
    saved_model_serving,
    tf_proto,
)
from stethoscope.models.formats.tf_graph.flat_graph import FlatGraph, Operator, Tensor
from stethoscope.models.formats.tf_graph.object_graph import SavedVariable
from stethoscope.models.formats.tf_graph.saved_model_architecture import architecture
from stethoscope.models.model_format import Format, Program, WeightsByLayer, refuse
from stethoscope.types import Architecture, ModelFile, Runner, WorkerKind


class SavedModelFormat(Format):
    """See the module's docstring."""

    id = "saved_model"
    title = "TensorFlow SavedModel (zip, tar.gz or folder)"
    extensions = (".zip", ".tar", ".tgz", ".gz", ".pb", ".pbtxt")
    hint = "a SavedModel as zip, tar or folder"
    worker: WorkerKind = "tensorflow"
    is_program = True
    trainable = opens_inside = True

    def sniff(self, file: ModelFile) -> bool:
        """Whether it is an archive or folder with a saved_model.pb inside, or such a file alone."""
        return saved_model_files.looks_like_one(file) or saved_model_serving.is_saved_model(file)

    def describe(self, file: ModelFile) -> Architecture:
        """Reads the default signature, the variables, and everything that reaches outside the graph."""
        return architecture(saved_model_files.locate(file))

    def skeleton(self, file: ModelFile) -> tuple[str, bytes]:
        """The served operators with their weights' shapes, as Netron draws them best; the whole graph where nothing is served."""
        located = saved_model_files.locate(file)
        served = saved_model_serving.serve(located)
        if served.graph.operators:
            return "graph.pb", draw(served.graph, served.functions, served.behind)
        return saved_model_files.GRAPHS[0], served.saved.SerializeToString()

    def open(self, file: ModelFile, scratch: Path, *, trusted: bool = False) -> Runner:
        """Unpacks the model into `scratch` and loads it with TensorFlow.

        Raises:
            NeedsTrust: it holds operators that reach outside the graph, and nobody said yes to that.
            CannotRun: variables are missing, an operator is unknown, or it has nothing to call.
        """
        located = saved_model_files.locate(file)
        described = architecture(located)
        refuse(file, described, trusted=trusted)
        from stethoscope.models.formats.tf_graph import saved_model_runner

        return saved_model_runner.load(file, located.unpack(scratch), saved_model_serving.load(located), described)

    def program(self, name: str, architecture: Architecture) -> Program:
        """See `Format.program`."""
        folder = name.split(".", maxsplit=1)[0] or "model"
        return Program(
            ("import tensorflow as tf",),
            (
                f"model = tf.saved_model.load({folder!r})  # the unpacked folder",
                "serve = model.signatures['serving_default']",
            ),
            ("results.append(serve(**{name: tf.constant(values) for name, values in batch.items()}))",),
        )

    def weights(self, file: ModelFile) -> AbstractContextManager[WeightsByLayer]:
        """See `Format.weights`."""
        from stethoscope.models.weights.graph_weights import of_model

        return of_model(file)


FORMAT: Any = SavedModelFormat()


_NUMBERS = {tf_proto.dtype_name(number): number for number in range(1, 40) if tf_proto.dtype_name(number)}


def draw(graph: FlatGraph, functions: Mapping[str, Any], variables: Mapping[str, SavedVariable]) -> bytes:
    """Returns the serialized GraphDef.

    Args:
        graph: operators in execution order.
        functions: FunctionDef messages by name; those that loops and branches call are kept.
        variables: what is behind operators that hold a variable, by operator name.
    """
    result = tf_proto.messages().GraphDef()
    shown = graph_layers.paths(graph)
    taken = set(shown.values())
    stored: dict[str, str] = {}
    called: dict[str, None] = {}
    for name, path in shown.items():
        operator = graph.operators[name]
        references = [_reference(graph, shown, tensor) for tensor in operator.inputs]
        for source in {reference.operator: None for reference in references if reference is not None}:
            if source not in shown and source not in stored:
                stored[source] = _store(result, graph.operators[source], variables, taken)
        node = result.node.add(name=path, op=operator.type)
        for key, value in operator.attributes.items():
            if not key.startswith("_") or key == "_output_shapes":
                node.attr[key].CopyFrom(value)
        called.update(
            dict.fromkeys(function for function in graph_layers.called(operator.attributes) if function in functions)
        )
        for reference in references:
            if reference is not None:
                source = shown.get(reference.operator) or stored[reference.operator]
                node.input.append(f"{source}:{reference.output}" if reference.output else source)
    for function in _with_callees(called, functions):
        added = result.library.function.add()
        added.CopyFrom(functions[function])
        added.attr.clear()
    data: bytes = result.SerializeToString()
    return data


def _reference(graph: FlatGraph, shown: Mapping[str, str], tensor: Tensor) -> Tensor | None:
    """The shown operator or stored weight behind a tensor, through operators that only pass it on."""
    for _ in range(len(graph.operators)):
        operator = graph.operators.get(tensor.operator)
        if operator is None:
            return None
        if tensor.operator in shown or operator.type not in graph_ops.PASSING or not operator.inputs:
            return tensor
        tensor = operator.inputs[tensor.output if tensor.output < len(operator.inputs) else 0]
    return None


def _store(result: Any, operator: Operator, variables: Mapping[str, SavedVariable], taken: set[str]) -> str:
    """Adds a constant for a weight; returns its name."""
    variable = variables.get(operator.name)
    base = variable.name.partition(":")[0] if variable and variable.name else operator.name
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}#{number}"
    taken.add(name)
    node = result.node.add(name=name, op="Const" if variable else operator.type)
    if variable is None:
        for key, value in operator.attributes.items():
            if key in ("dtype", "value", "shape"):
                node.attr[key].CopyFrom(value)
        return name
    dtype = _NUMBERS.get(variable.dtype, 0)
    node.attr["dtype"].type = dtype
    tensor = node.attr["value"].tensor
    tensor.dtype = dtype
    for size in variable.shape:
        tensor.tensor_shape.dim.add(size=-1 if size is None else size)
    return name


def _with_callees(roots: Mapping[str, None], functions: Mapping[str, Any]) -> list[str]:
    queue = list(roots)
    seen = set(queue)
    for name in queue:
        for node in functions[name].node_def:
            for inner in graph_layers.called(node.attr):
                if inner in functions and inner not in seen:
                    seen.add(inner)
                    queue.append(inner)
    return queue

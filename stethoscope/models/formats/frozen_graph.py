"""TensorFlow frozen graph: one GraphDef, binary (.pb) or text (.pbtxt), whose weights are constants.

Inputs are its placeholders, outputs the operators that nothing reads. Which constants count as parameters is
`graph_layers.constants`; a frozen graph does not know what was trained.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers import damage
from stethoscope.models.formats.tf_graph import (
    frozen_graph_ends,
    graph_hazards,
    graph_layers,
    graph_ops,
    graph_shapes,
    tf_proto,
)
from stethoscope.models.formats.tf_graph.flat_graph import FlatGraph, flatten
from stethoscope.models.model_format import Format, Program, WeightsByLayer, refuse
from stethoscope.types import Architecture, ModelFile, Runner, WorkerKind


class FrozenGraphFormat(Format):
    """See the module's docstring."""

    id = "frozen_graph"
    title = "TensorFlow frozen graph (.pb)"
    extensions = (".pb", ".pbtxt")
    hint = ".pb"
    worker: WorkerKind = "tensorflow"
    is_program = True

    def sniff(self, file: ModelFile) -> bool:
        """Whether it is a GraphDef by its structure, or something of TensorFlow's that needs its own explanation."""
        return frozen_graph_ends.kind(file) != ""

    def describe(self, file: ModelFile) -> Architecture:
        """Reads operators, inputs and outputs without the weights' values."""
        return self._describe(file)[0]

    def skeleton(self, file: ModelFile) -> tuple[str, bytes]:
        """The graph without long tensor contents, as Netron draws it."""
        if tf_proto.first_field(file):
            return "graph.pb", frozen_graph_ends.load(file).SerializeToString()
        return "graph.pb", frozen_graph_ends.stripped(file)

    def open(self, file: ModelFile, scratch: Path, *, trusted: bool = False) -> Runner:
        """Imports the graph into a TensorFlow session; `scratch` is not needed.

        Raises:
            NeedsTrust: it holds operators that reach outside the graph, and nobody said yes to that.
            CannotRun: its variables are not in it, or an operator is unknown.
        """
        described, ends, graph = self._describe(file)
        refuse(file, described, trusted=trusted)
        from stethoscope.models.formats.tf_graph import graph_session

        names = {path: name for name, path in graph_layers.paths(graph).items()}
        inputs = {spec.name: f"{spec.name}:0" for spec in described.inputs}
        return graph_session.import_graph(file, described.inputs, described.outputs, inputs, ends.fetches, names)

    def _describe(self, file: ModelFile) -> tuple[Architecture, frozen_graph_ends.Ends, FlatGraph]:
        definition = frozen_graph_ends.load(file)
        functions = {function.signature.name: function for function in definition.library.function}
        nodes = {node.name: node for node in definition.node}
        if len(nodes) != len(definition.node):
            raise UnreadableFile(
                f"{file.name}: two operators have the same name, expected unique ones. Freeze the graph again."
            )
        producer = int(definition.versions.producer or definition.version)
        ends = frozen_graph_ends.find(nodes, producer)
        graph = flatten(definition.node, functions, ends.fetches)
        constants = graph_layers.constants(graph)
        feeds = {spec.name: spec for spec in ends.inputs}
        layers = graph_layers.layers(graph, functions, constants, feeds)
        shapes = graph_shapes.infer(graph, {name: spec.shape for name, spec in feeds.items()})
        total = sum(layer.parameters for layer in layers)
        bits = sum(weight.bits for weight in constants.values())
        if bits // 8 > damage.MAX_WEIGHT_BYTES:
            raise TooLarge(
                f"{file.name}: declares {bits // 8:,} bytes of weights, expected at most {damage.MAX_WEIGHT_BYTES:,}."
            )
        context = graph_hazards.Context(nodes, functions, served=tuple(ends.fetches.values()))
        architecture = Architecture(
            format_id=self.id,
            display_format="Frozen graph" if not _variables(nodes) else "TensorFlow graph (not frozen)",
            framework_version=f"GraphDef producer {producer}" if producer else "",
            parameters=total,
            trainable_parameters=None,
            inputs=ends.inputs,
            outputs=tuple(ends.output(name, graph.fetches.get(name), shapes) for name in ends.fetches),
            layers=layers,
            warnings=ends.warnings + _truncated(graph),
            hazards=graph_hazards.find(context),
            weight_bytes=(bits + 7) // 8,
            runnable=_runnable(file, nodes, functions, ends),
        )
        return architecture, ends, graph

    def program(self, name: str, architecture: Architecture) -> Program:
        """See `Format.program`."""
        outputs = [spec.name if ":" in spec.name else f"{spec.name}:0" for spec in architecture.outputs]
        fed = "{name if ':' in name else name + ':0': values for name, values in batch.items()}"
        return Program(
            ("import tensorflow as tf",),
            (
                f"graph_def = tf.compat.v1.GraphDef.FromString(open({name!r}, 'rb').read())",
                "graph = tf.Graph()",
                "with graph.as_default():",
                "    tf.import_graph_def(graph_def, name='')",
                "session = tf.compat.v1.Session(graph=graph)",
            ),
            (f"results.append(session.run({outputs!r}, {fed}))",),
        )

    def weights(self, file: ModelFile) -> AbstractContextManager[WeightsByLayer]:
        """See `Format.weights`."""
        from stethoscope.models.weights.graph_weights import of_graph

        return of_graph(file)


def _variables(nodes: dict[str, Any]) -> list[str]:
    return [name for name, node in nodes.items() if node.op in graph_ops.VARIABLES]


def _truncated(graph: FlatGraph) -> tuple[str, ...]:
    return (
        ("Some function calls are shown as one operator, because the graph is too large to inline.",)
        if graph.truncated
        else ()
    )


def _runnable(file: ModelFile, nodes: dict[str, Any], functions: dict[str, Any], ends: frozen_graph_ends.Ends) -> str:
    variables = _variables(nodes)
    if variables:
        return (
            f"{file.name}: variable {variables[0]!r} has no value in this file, because the graph is not frozen. "
            "Freeze it together with its checkpoint, or upload the SavedModel."
        )
    unknown = graph_ops.unregistered(nodes.values(), functions)
    if unknown:
        return f"{file.name}: uses operator {unknown[0]!r}, which the installed TensorFlow does not have. Run it where its library is installed."
    if not ends.fetches:
        return f"{file.name}: has no operator that computes a result, so there is nothing to run."
    return ""


FORMAT: Any = FrozenGraphFormat()

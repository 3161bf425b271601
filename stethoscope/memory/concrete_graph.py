"""The graph that TensorFlow would run, for a given batch: traced once, optimised, with every shape known. Used in a worker.

No operation of the model is executed: a function is traced with open dimensions, its placeholders are given sizes, and
TensorFlow's own graph optimiser (which fuses, prunes and folds constants) and shape inference do the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stethoscope.errors import CannotRun
from stethoscope.framework_errors import gist
from stethoscope.memory import graph_loops
from stethoscope.memory.op_buffers import Operation, Value

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_BYTES = {"resource": 0, "variant": 0, "string": 16, "bfloat16": 2}
_SMALL_CONSTANT_BYTES = 1 << 16


@dataclass(frozen=True)
class ConcreteGraph:
    """Operations in the order of the graph, and the tensors that leave it."""

    operations: tuple[Operation, ...]
    outputs: tuple[Value, ...]
    inputs: tuple[Value, ...]
    unknown: int
    """Tensors of which not even TensorFlow knows the size before they are run; they count as nothing."""
    constant_bytes: int
    optimised: bool


class OpenGraph:
    """A traced function whose inputs have open dimensions.

    Args:
        function: a concrete function.
        inputs: how many of its leading inputs are fed; the others are variables it captured.
    """

    def __init__(self, function: Any, inputs: Sequence[Any]) -> None:
        graph = function.graph
        captured = {tensor.op.name: source for source, tensor in graph.captures}
        variables = {id(variable.handle): variable for variable in graph.variables}
        self._variables = {name: variables[id(source)] for name, source in captured.items() if id(source) in variables}
        self.loops = any(operation.type in ("While", "StatelessWhile") for operation in graph.get_operations())
        self._definition = graph.as_graph_def()
        self.order = [node.name for node in self._definition.node]
        self.inputs = [tensor.op.name for tensor in inputs]
        self._outputs = [tensor.name for tensor in graph.outputs if tensor is not None]
        for node in list(self._definition.node):
            self._open(node)
        self._compiled = self._shown(graph)

    def _open(self, node: Any) -> None:
        """Variables become placeholders of their values' shape, as their handles say nothing once the function is left."""
        if node.op == "ReadVariableOp" and node.input[0] in self._variables:
            node.op = "Placeholder"
            node.attr["shape"].shape.CopyFrom(self._variables[node.input[0]].shape.as_proto())
            del node.input[:]
        elif node.op == "ResourceGather" and node.input[0] in self._variables:
            self._gather(node)
        if "_output_shapes" in node.attr:
            del node.attr["_output_shapes"]

    def _shown(self, graph: Any) -> dict[str, list[int | None]]:
        """Puts a node behind each call of a function that XLA compiles, to carry its shape: {that node: shape as traced}.

        Keras compiles grouped and depthwise convolutions so; TensorFlow infers no shape through them.
        """
        shapes: dict[str, list[int | None]] = {}
        renamed: dict[str, str] = {}
        for operation in graph.get_operations():
            if operation.type not in CALLS or len(operation.outputs) != 1 or operation.outputs[0].shape.rank is None:
                continue
            made = self._definition.node.add()
            made.op, made.name = "EnsureShape", f"{operation.name}/shown"
            made.attr["T"].type = operation.outputs[0].dtype.as_datatype_enum
            made.input.append(operation.name)
            shapes[made.name] = operation.outputs[0].shape.as_list()
            renamed[operation.name] = made.name
        for node in self._definition.node:
            if node.name not in shapes:
                kept = [renamed.get(source.removesuffix(":0"), source) for source in node.input]
                del node.input[:]
                node.input.extend(kept)
        self._outputs = [
            f"{renamed[n]}:0" if (n := name.partition(":")[0]) in renamed else name for name in self._outputs
        ]
        return shapes

    def _gather(self, node: Any) -> None:
        variable = self._variables[node.input[0]]
        made = self._definition.node.add()
        made.op, made.name = "Placeholder", f"{node.name}/table"
        made.attr["dtype"].type = node.attr["dtype"].type
        made.attr["shape"].shape.CopyFrom(variable.shape.as_proto())
        indices, dtypes = node.input[1], (node.attr["dtype"].type, node.attr["Tindices"].type)
        axis = self._definition.node.add()
        axis.op, axis.name = "Const", f"{node.name}/axis"
        axis.attr["dtype"].type = 3
        axis.attr["value"].tensor.dtype = 3
        axis.attr["value"].tensor.tensor_shape.SetInParent()
        axis.attr["value"].tensor.int_val.append(int(node.attr["batch_dims"].i))
        batch_dims = int(node.attr["batch_dims"].i)
        node.op = "GatherV2"
        del node.input[:]
        node.input.extend([made.name, indices, axis.name])
        node.attr.clear()
        node.attr["Tparams"].type, node.attr["Tindices"].type = dtypes
        node.attr["Taxis"].type = 3
        node.attr["batch_dims"].i = batch_dims

    def at(self, shapes: Sequence[Sequence[int]], *, optimise: bool = True) -> ConcreteGraph:
        """The graph for inputs of these shapes.

        Args:
            shapes: one for each input, without open dimensions.
            optimise: whether TensorFlow's optimiser goes over it, as it does before a function runs.

        Raises:
            CannotRun: an operation does not take what these shapes become.
        """
        definition = type(self._definition)()
        definition.CopyFrom(self._definition)
        given = dict(zip(self.inputs, shapes, strict=True))
        rows = shapes[0][0] if shapes and shapes[0] else 1
        for node in definition.node:
            if node.name in self._compiled:
                node.attr["shape"].shape.SetInParent()
                for place, length in enumerate(self._compiled[node.name]):
                    known = rows if length is None and place == 0 else -1 if length is None else length
                    node.attr["shape"].shape.dim.add().size = int(known)
            if node.name in given:
                del node.attr["shape"].shape.dim[:]
                node.attr["shape"].shape.unknown_rank = False
                for size in given[node.name]:
                    node.attr["shape"].shape.dim.add().size = int(size)
        done = False
        if optimise:
            better = _optimised(_imported(definition), self._outputs)
            definition, done = (definition, False) if better is None else (better, True)
        waits = graph_loops.one_turn(definition, self._variables)
        graph = _imported(definition)
        while graph_loops.listed_shapes(definition, graph):
            graph = _imported(definition)
        return read(graph, self.inputs, self._outputs, waits, optimised=done)


def read(
    graph: Any, inputs: Sequence[str], outputs: Sequence[str], waits: Mapping[str, str], *, optimised: bool
) -> ConcreteGraph:
    """A TensorFlow graph as operations.

    Args:
        graph: the graph; its loops cut open.
        inputs: its fed operations.
        outputs: the tensors that leave it.
        waits: operations that wait for another besides those whose outputs they read.
        optimised: whether TensorFlow's optimiser was over it.
    """
    unknown = constants = 0
    operations = []
    shown = {node.inputs[0].name: node.outputs[0] for node in graph.get_operations() if node.type == "EnsureShape"}
    for node in graph.get_operations():
        values = tuple(_value(tensor, shown.get(tensor.name)) for tensor in node.outputs)
        unknown += sum(_unknown(shown.get(tensor.name, tensor)) for tensor in node.outputs)
        if node.type == "Const":
            constants += sum(value.size_bytes for value in values if value.size_bytes >= _SMALL_CONSTANT_BYTES)
        controls = [control.name for control in node.control_inputs]
        operations.append(
            Operation(
                node.name,
                node.type,
                tuple(_value(tensor) for tensor in node.inputs),
                values,
                tuple([*controls, waits[node.name]] if node.name in waits else controls),
                _attributes(node),
            )
        )
    operations = graph_loops.with_lists(operations)
    known = {value.name: value for operation in operations for value in operation.outputs}
    found = tuple(known[name] for name in outputs if name in known)
    fed = tuple(known[f"{name}:0"] for name in inputs if f"{name}:0" in known)
    return ConcreteGraph(tuple(operations), found, fed, unknown, constants, optimised)


def _imported(definition: Any) -> Any:
    import tensorflow as tf

    graph = tf.Graph()
    try:
        with graph.as_default():
            tf.graph_util.import_graph_def(definition, name="")
    except ValueError as error:
        raise CannotRun(f"Estimate: the graph does not take these shapes: {gist(error)}. Name other sizes.") from error
    return graph


def _optimised(graph: Any, outputs: Sequence[str]) -> Any | None:
    """What TensorFlow's optimiser makes of a graph; None where it fails, which then runs as it is."""
    import tensorflow as tf
    from tensorflow.python.grappler import tf_optimizer
    from tensorflow.python.training.saver import export_meta_graph

    try:
        described = export_meta_graph(graph_def=graph.as_graph_def(), graph=graph)
        described.collection_def["train_op"].node_list.value.extend(outputs)
        settings = tf.compat.v1.ConfigProto()
        settings.graph_options.rewrite_options.min_graph_nodes = -1
        return tf_optimizer.OptimizeGraph(settings, described)
    except (tf.errors.OpError, ValueError, RuntimeError):
        return None


def _value(tensor: Any, shown: Any = None) -> Value:
    """A tensor; `shown` is the same one behind a node that says its shape."""
    known = tensor.shape if shown is None else shown.shape
    shape = () if known.rank is None else tuple(size or 0 for size in known.as_list())
    dtype = tensor.dtype.base_dtype.name
    count = 0 if known.rank is None else int(np.prod(shape, dtype=np.int64))
    return Value(tensor.name, shape, dtype, count * _BYTES.get(dtype, _width(tensor)))


def _width(tensor: Any) -> int:
    try:
        return int(tensor.dtype.size)
    except (TypeError, NotImplementedError):
        return 0


def _unknown(tensor: Any) -> bool:
    return not tensor.shape.is_fully_defined() and tensor.dtype.base_dtype.name not in ("resource", "variant")


def _attributes(node: Any) -> Mapping[str, Any]:
    definition = node.node_def.attr
    found: dict[str, Any] = {}
    if "fused_ops" in definition:
        found["fused_ops"] = tuple(item.decode() for item in definition["fused_ops"].list.s)
    if "equation" in definition:
        found["equation"] = definition["equation"].s.decode()
    if "axis" in definition and definition["axis"].HasField("i"):
        found["axis"] = int(definition["axis"].i)
    return found

"""The part of a SavedModel that serves: its signature inlined, and the variables behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stethoscope.models.containers import limits
from stethoscope.models.formats.tf_graph import graph_ops, saved_model_graph, signatures, tf_proto, variables_index
from stethoscope.models.formats.tf_graph.flat_graph import FlatGraph, flatten, flatten_function
from stethoscope.models.formats.tf_graph.graph_layers import Weight
from stethoscope.models.formats.tf_graph.object_graph import SavedVariable, handles, static_shape, weights
from stethoscope.models.formats.tf_graph.saved_model_files import Located

_INDEX = "variables/variables.index"


@dataclass(frozen=True)
class Variables:
    """A model's variables, and whether it is known which of them training changes."""

    all: tuple[SavedVariable, ...]
    trainable_known: bool


@dataclass(frozen=True)
class Serving:
    """What `describe` and `skeleton` read of one SavedModel."""

    saved: Any
    meta: Any
    """The meta graph that serves."""
    functions: Mapping[str, Any]
    known: tuple[signatures.Signature, ...]
    chosen: signatures.Signature | None
    graph: FlatGraph
    variables: Variables
    behind: Mapping[str, SavedVariable]
    """The variable behind each operator of `graph` that is one."""
    bundle: variables_index.Bundle | None
    notes: tuple[str, ...]


def serve(located: Located) -> Serving:
    """Reads the SavedModel at `located`.

    Raises:
        UnreadableFile: its graph is damaged.
        TooLarge: its graph is larger than `limits` allow.
    """
    saved = saved_model_graph.load(located)
    meta = saved_model_graph.serving(saved)
    nodes = meta.graph_def.node
    functions = {function.signature.name: function for function in meta.graph_def.library.function}
    known = signatures.read(meta) or signatures.callable_functions(meta)
    chosen = known[0] if known else None
    graph = _graph(nodes, functions, chosen)
    notes: list[str] = []
    bundle = _bundle(located, notes)
    every = {f"{one.name}/{key}": tensor for one in known for key, tensor in one.fetches.items()}
    variables = _variables(meta, graph if len(known) < 2 else flatten(nodes, functions, every), bundle)
    behind = _behind(graph, variables, handles(meta) | _captures(meta, chosen))
    return Serving(saved, meta, functions, known, chosen, graph, variables, behind, bundle, tuple(notes))


def weight_of(variable: SavedVariable) -> Weight:
    """What a variable holds."""
    bits = variable.parameters * tf_proto.item_bits(variable.dtype)
    return Weight(variable.parameters, bits, variable.trainable)


def _graph(nodes: Sequence[Any], functions: Mapping[str, Any], chosen: signatures.Signature | None) -> FlatGraph:
    if chosen is None:
        return FlatGraph({}, {})
    return (
        flatten_function(chosen.function, functions)
        if chosen.function
        else flatten(nodes, functions, chosen.fetches, chosen.fed)
    )


def _captures(meta: Any, chosen: signatures.Signature | None) -> dict[str, int]:
    """Objects behind the last arguments of a function that is called without a signature, by argument name."""
    if chosen is None or not chosen.function:
        return {}
    functions = {function.signature.name: function for function in meta.graph_def.library.function}
    bound = meta.object_graph_def.concrete_functions[chosen.function].bound_inputs
    arguments = functions[chosen.function].signature.input_arg
    return {
        argument.name: node for argument, node in zip(arguments[len(arguments) - len(bound) :], bound, strict=False)
    }


def _variables(meta: Any, graph: FlatGraph, bundle: variables_index.Bundle | None) -> Variables:
    """The model's own variables: as its object graph lists them, or (TensorFlow 1) those that a signature depends on."""
    listed = weights(meta.object_graph_def)
    if listed:
        return Variables(tuple(_completed(variable, bundle) for variable in listed), True)
    trainable = _trainable_names(meta)
    found = []
    for operator in graph.operators.values():
        if operator.type in graph_ops.VARIABLES:
            shape = static_shape(operator.attributes["shape"].shape) if "shape" in operator.attributes else None
            dtype = tf_proto.dtype_name(operator.attributes["dtype"].type) if "dtype" in operator.attributes else ""
            variable = SavedVariable(
                operator.name, dtype, shape or (), operator.name in trainable if trainable is not None else None
            )
            if not variable.is_seed:
                found.append(_completed(variable, bundle))
    return Variables(tuple(found), trainable is not None or (not found and bool(meta.object_graph_def.nodes)))


def _completed(variable: SavedVariable, bundle: variables_index.Bundle | None) -> SavedVariable:
    """`variable` with the stored shape where its own leaves a dimension open."""
    entry = bundle.entries.get(variable.name) if bundle and None in variable.shape else None
    return replace(variable, shape=entry[1]) if entry else variable


def _trainable_names(meta: Any) -> set[str] | None:
    """Names in the "trainable_variables" collection of a TensorFlow 1 graph; None when it has no such collection."""
    from google.protobuf.message import DecodeError

    if "trainable_variables" not in meta.collection_def:
        return None
    names = set()
    for data in meta.collection_def["trainable_variables"].bytes_list.value:
        try:
            names.add(tf_proto.messages().VariableDef.FromString(data).variable_name.partition(":")[0])
        except DecodeError:
            return None
    return names


def _behind(graph: FlatGraph, variables: Variables, known: Mapping[str, int]) -> dict[str, SavedVariable]:
    by_node = {variable.node: variable for variable in variables.all}
    by_name = {variable.name.partition(":")[0]: variable for variable in variables.all}
    found = {}
    for operator in graph.operators.values():
        if operator.type not in graph_ops.VARIABLES and operator.type != "_Arg":
            continue
        shared = (
            operator.attributes["shared_name"].s.decode("utf-8", "replace")
            if "shared_name" in operator.attributes
            else ""
        )
        variable = (
            by_node.get(known[operator.name])
            if operator.name in known
            else by_name.get(shared) or by_name.get(operator.name)
        )
        if variable is not None:
            found[operator.name] = variable
    return found


def _bundle(located: Located, warnings: list[str]) -> variables_index.Bundle | None:
    if _INDEX not in located.sizes or located.sizes[_INDEX] > limits.MAX_CONFIG_BYTES or not located.sizes[_INDEX]:
        return None
    with located.view(_INDEX) as view:
        try:
            return variables_index.read(bytes(view))
        except variables_index.Damaged as error:
            warnings.append(f"{_INDEX} cannot be read: {error}.")
            return None

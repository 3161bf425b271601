"""The part of a SavedModel that serves: its signature inlined, and the variables behind it.

Reads the graph file of a SavedModel into messages, its weights left out, and chooses the part that serves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers import damage, wire
from stethoscope.models.containers.sorted_table import Damaged
from stethoscope.models.formats.tf_graph import checkpoint_index, graph_ops, saved_model_files, tf_proto
from stethoscope.models.formats.tf_graph.flat_graph import FlatGraph, flatten, flatten_function
from stethoscope.models.formats.tf_graph.graph_layers import Weight
from stethoscope.models.formats.tf_graph.object_graph import SavedVariable, handles, static_shape, weights
from stethoscope.models.formats.tf_graph.saved_model_files import Located
from stethoscope.types import ModelFile

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
    known: tuple[saved_model_files.Signature, ...]
    chosen: saved_model_files.Signature | None
    graph: FlatGraph
    variables: Variables
    behind: Mapping[str, SavedVariable]
    """The variable behind each operator of `graph` that is one."""
    bundle: checkpoint_index.Bundle | None
    notes: tuple[str, ...]


def serve(located: Located) -> Serving:
    """Reads the SavedModel at `located`.

    Raises:
        UnreadableFile: its graph is damaged.
        TooLarge: its graph is larger than `limits` allow.
    """
    saved = load(located)
    meta = serving(saved)
    nodes = meta.graph_def.node
    functions = {function.signature.name: function for function in meta.graph_def.library.function}
    known = saved_model_files.read(meta) or saved_model_files.callable_functions(meta)
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


def _graph(nodes: Sequence[Any], functions: Mapping[str, Any], chosen: saved_model_files.Signature | None) -> FlatGraph:
    if chosen is None:
        return FlatGraph({}, {})
    return (
        flatten_function(chosen.function, functions)
        if chosen.function
        else flatten(nodes, functions, chosen.fetches, chosen.fed)
    )


def _captures(meta: Any, chosen: saved_model_files.Signature | None) -> dict[str, int]:
    """Objects behind the last arguments of a function that is called without a signature, by argument name."""
    if chosen is None or not chosen.function:
        return {}
    functions = {function.signature.name: function for function in meta.graph_def.library.function}
    bound = meta.object_graph_def.concrete_functions[chosen.function].bound_inputs
    arguments = functions[chosen.function].signature.input_arg
    return {
        argument.name: node for argument, node in zip(arguments[len(arguments) - len(bound) :], bound, strict=False)
    }


def _variables(meta: Any, graph: FlatGraph, bundle: checkpoint_index.Bundle | None) -> Variables:
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


def _completed(variable: SavedVariable, bundle: checkpoint_index.Bundle | None) -> SavedVariable:
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


def _bundle(located: Located, warnings: list[str]) -> checkpoint_index.Bundle | None:
    if _INDEX not in located.sizes or located.sizes[_INDEX] > damage.MAX_CONFIG_BYTES or not located.sizes[_INDEX]:
        return None
    with located.view(_INDEX) as view:
        try:
            return checkpoint_index.read(bytes(view))
        except Damaged as error:
            warnings.append(f"{_INDEX} cannot be read: {error}.")
            return None


def is_saved_model(file: ModelFile) -> bool:
    """Whether a single file is a saved_model.pb or .pbtxt: a schema version, then meta graphs. Never raises."""
    if not file.path.is_file() or file.path.stat().st_size == 0:
        return False
    if tf_proto.first_field(file) in ("saved_model_schema_version", "meta_graphs"):
        return True
    try:
        with wire.mapped(file) as view:
            for count, field in enumerate(wire.fields(view)):
                if (field.number, field.kind) == (2, wire.BYTES):
                    return _is_meta_graph(view, field) and _only_meta_graphs_follow(view, field)
                if (field.number, field.kind) != (1, wire.VARINT) or field.value > 1000 or count > 1:
                    return False
    except (wire.Malformed, OSError):
        return False
    return False


def load(located: Located) -> Any:
    """The SavedModel message without long tensor contents.

    Raises:
        UnreadableFile: damaged, or no SavedModel.
        TooLarge: its graph is larger than `limits` allow.
    """
    from google.protobuf.message import DecodeError

    file, messages = located.file, tf_proto.messages()
    with located.view(located.graph) as view:
        if located.graph.endswith(".pbtxt") or tf_proto.first_field_of(view) in (
            "saved_model_schema_version",
            "meta_graphs",
        ):
            parsed = tf_proto.parse(file, view, messages.SavedModel())
        else:
            stripped = tf_proto.without_weights(file, view, tf_proto.SAVED_MODEL)
            try:
                parsed = messages.SavedModel.FromString(stripped)
            except DecodeError as error:
                raise UnreadableFile(
                    f"{file.name}: {located.graph} is damaged or cut short ({error}). Save it again or repeat the upload."
                ) from error
    if not parsed.meta_graphs:
        raise UnreadableFile(f"{file.name}: {located.graph} holds no graph. Save it again or repeat the upload.")
    nodes = sum(
        len(meta.graph_def.node) + sum(len(function.node_def) for function in meta.graph_def.library.function)
        for meta in parsed.meta_graphs
    )
    if nodes > damage.MAX_LAYERS:
        raise TooLarge(f"{file.name}: has {nodes:,} operators, expected at most {damage.MAX_LAYERS:,}.")
    return parsed


def serving(saved: Any) -> Any:
    """The meta graph to serve: the one tagged "serve" alone, else one that is among others, else the first."""
    tagged = [meta for meta in saved.meta_graphs if "serve" in meta.meta_info_def.tags]
    return min(tagged, key=lambda meta: len(meta.meta_info_def.tags)) if tagged else saved.meta_graphs[0]


def _only_meta_graphs_follow(view: memoryview, field: wire.Field) -> bool:
    """A Core ML model begins alike, and has its network in other fields. A file that is cut short still counts."""
    try:
        return all(later.number in (1, 2) for later in wire.fields(view, field.end, len(view)))
    except wire.Malformed:
        return True


def _is_meta_graph(view: memoryview, field: wire.Field) -> bool:
    for inner in wire.fields(view, field.start, field.end):
        return inner.number in range(1, 8) and inner.kind == wire.BYTES
    return False

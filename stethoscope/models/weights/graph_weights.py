"""Weights of TensorFlow graphs, frozen or in a SavedModel, and where constants lie in a file, found on the wire without copying any.

Weights of frozen graphs: constants, each counted for the operator that computes with it.

Weights of SavedModels: variables in the shards of its checkpoint, or constants of a frozen one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from stethoscope.errors import UnreadableFile
from stethoscope.models.containers import wire
from stethoscope.models.formats.tf_graph import (
    frozen_graph_ends,
    graph_layers,
    saved_model_files,
    saved_model_serving,
    tf_proto,
)
from stethoscope.models.formats.tf_graph.flat_graph import FlatGraph, flatten
from stethoscope.models.formats.tf_graph.object_graph import SavedVariable
from stethoscope.models.formats.tf_graph.saved_model_files import Located
from stethoscope.models.formats.tf_graph.saved_model_serving import Serving
from stethoscope.models.model_format import Pieces, StoredWeight, WeightsByLayer
from stethoscope.models.weights.checkpoint_values import Shards, named
from stethoscope.models.weights.weight_statistics import PLAIN, array_pieces, buffer_pieces, no_pieces
from stethoscope.types import ModelFile

Span = tuple[int, int]
_CONTENT = 4
_MOST_PARSED_BYTES = 256 << 20
_TYPED = {5: "float_val", 6: "double_val", 7: "int_val", 10: "int64_val", 11: "bool_val", 13: "half_val"}


def in_graph(view: memoryview, start: int, end: int) -> Iterator[tuple[str, str, Span]]:
    """Yields (function, node, span of its TensorProto) of each constant in a GraphDef; function is "" for the main graph."""
    for part in wire.fields(view, start, end):
        if part.number == 1 and part.kind == wire.BYTES:
            yield from _node(view, "", part)
        elif part.number == 2 and part.kind == wire.BYTES:
            for function in wire.fields(view, part.start, part.end):
                if function.number == 1 and function.kind == wire.BYTES:
                    yield from _function(view, function)


def _function(view: memoryview, function: wire.Field) -> Iterator[tuple[str, str, Span]]:
    parts = list(wire.fields(view, function.start, function.end))
    name = next((_text(view, item, 1) for item in parts if item.number == 1), "")
    for item in parts:
        if item.number == 3 and item.kind == wire.BYTES:
            yield from _node(view, name, item)


def _node(view: memoryview, function: str, node: wire.Field) -> Iterator[tuple[str, str, Span]]:
    name, span, operator = "", None, b""
    for part in wire.fields(view, node.start, node.end):
        if part.number == 1:
            name = bytes(view[part.start : part.end]).decode("utf-8", "replace")
        elif part.number == 2:
            operator = bytes(view[part.start : min(part.end, part.start + 64)])
        elif part.number == 5 and part.kind == wire.BYTES and _text(view, part, 1) == "value":
            span = _tensor(view, part)
    if operator == b"Const" and span is not None:
        yield function, name, span


def _tensor(view: memoryview, entry: wire.Field) -> Span | None:
    for value in wire.fields(view, entry.start, entry.end):
        if value.number == 2 and value.kind == wire.BYTES:
            for tensor in wire.fields(view, value.start, value.end):
                if tensor.number == 8 and tensor.kind == wire.BYTES:
                    return tensor.start, tensor.end
    return None


def _text(view: memoryview, parent: wire.Field, number: int) -> str:
    for part in wire.fields(view, parent.start, parent.end):
        if part.number == number and part.kind == wire.BYTES:
            return bytes(view[part.start : min(part.end, part.start + 4096)]).decode("utf-8", "replace")
    return ""


def shape_and_dtype(view: memoryview, span: Span) -> tuple[tuple[int, ...], str]:
    """What a TensorProto declares."""
    message = tf_proto.messages().TensorProto()
    for part in wire.fields(view, *span):
        if part.number in (1, 2):
            message.MergeFromString(bytes(view[part.begin : part.end]))
    return tuple(int(dim.size) for dim in message.tensor_shape.dim), tf_proto.dtype_name(message.dtype)


def pieces_of(view: memoryview, span: Span) -> tuple[Pieces, str]:
    """(how to read a TensorProto's values, why not)."""
    shape, dtype = shape_and_dtype(view, span)
    count = 1
    for size in shape:
        count *= size
    content = [part for part in wire.fields(view, *span) if part.number == _CONTENT and part.kind == wire.BYTES]
    if content and 8 * (content[0].end - content[0].start) < count * tf_proto.item_bits(dtype):
        return no_pieces, "it stores fewer bytes than its shape needs"
    if content and dtype in PLAIN:
        return buffer_pieces(view, content[0].start, dtype, count), ""
    if span[1] - span[0] > _MOST_PARSED_BYTES:
        return no_pieces, "its values are too long to parse"
    import numpy as np

    message = tf_proto.messages().TensorProto.FromString(bytes(view[span[0] : span[1]]))
    values = next((list(getattr(message, field)) for field in _TYPED.values() if getattr(message, field)), [])
    if not values:
        return no_pieces, f"values of type {dtype or 'unknown'} are not read"
    if dtype in ("float16", "bfloat16"):
        bits = np.asarray(values, np.uint16)
        found = bits.view(np.float16) if dtype == "float16" else (bits.astype(np.uint32) << 16).view(np.float32)
    else:
        found = np.asarray(values)
    # A short list stands for a tensor whose last value repeats; a single one is broadcast, however large the tensor.
    if found.size == 1:
        return array_pieces(np.broadcast_to(found, (count,))), ""
    if found.size > count or count > _MOST_PARSED_BYTES:
        return no_pieces, "its values do not fit its shape"
    return array_pieces(np.concatenate([found, np.repeat(found[-1:], count - found.size)])), ""


@contextmanager
def of_graph(file: ModelFile) -> Iterator[WeightsByLayer]:
    """Weights of a frozen `.pb`.

    Raises:
        UnreadableFile: a graph in text form, whose values are not read apart.
    """
    if frozen_graph_ends.kind(file) == "text":
        raise UnreadableFile(f"{file.name}: weights of a graph in text form are not read. Save it as a binary .pb.")
    definition = frozen_graph_ends.load(file)
    functions = {function.signature.name: function for function in definition.library.function}
    nodes = {node.name: node for node in definition.node}
    ends = frozen_graph_ends.find(nodes, int(definition.versions.producer or definition.version))
    graph = flatten(definition.node, functions, ends.fetches)
    with wire.mapped(file) as view:
        places = {(function, node): span for function, node, span in in_graph(view, 0, len(view))}
        yield constant_weights(view, graph, places)


def constant_weights(view: memoryview, graph: FlatGraph, places: Mapping[tuple[str, str], Span]) -> WeightsByLayer:
    """Constants of a flat graph by the path of the layer that computes with them."""
    constants = graph_layers.constants(graph)
    found: WeightsByLayer = {}
    for path, names in graph_layers.weight_users(graph, constants).items():
        for name in names:
            operator = graph.operators[name]
            span = places.get((operator.function, name)) or _inlined(operator.function, name, places)
            if span is None:
                continue
            shape, dtype = shape_and_dtype(view, span)
            pieces, why = pieces_of(view, span)
            found.setdefault(path, []).append(
                StoredWeight("/".join(name.split("/")[-2:]), shape, dtype, None, pieces, unreadable=why)
            )
    return found


def _inlined(function: str, name: str, places: Mapping[tuple[str, str], Span]) -> Span | None:
    """A constant of a function's body: the flat graph puts the call's name before the node's."""
    parts = name.split("/")
    return next(
        (
            places[function, "/".join(parts[at:])]
            for at in range(len(parts))
            if (function, "/".join(parts[at:])) in places
        ),
        None,
    )


@contextmanager
def of_model(file: ModelFile) -> Iterator[WeightsByLayer]:
    """Weights of a SavedModel in an archive or a folder."""
    located = saved_model_files.locate(file)
    served = saved_model_serving.serve(located)
    with ExitStack() as stack:
        if not served.variables.all:
            view = stack.enter_context(located.view(located.graph))
            yield constant_weights(view, served.graph, dict(_constants(view)))
            return
        yield _variables(located, served, stack)


def _constants(view: memoryview) -> Iterator[tuple[tuple[str, str], Span]]:
    for meta in wire.fields(view):
        if meta.number == 2 and meta.kind == wire.BYTES:
            for graph in wire.fields(view, meta.start, meta.end):
                if graph.number == 2 and graph.kind == wire.BYTES:
                    for function, node, span in in_graph(view, graph.start, graph.end):
                        yield (function, node), span


def _variables(located: Located, served: Serving, stack: ExitStack) -> WeightsByLayer:
    shards = Shards(located, served.bundle, "variables/variables", stack)
    keys = {own: key for key, names in reversed(named(shards).items()) for own in names if own}
    held = {name: saved_model_serving.weight_of(variable) for name, variable in served.behind.items()}
    users = graph_layers.weight_users(served.graph, held)
    found: WeightsByLayer = {}
    for path, names in users.items():
        for name in names:
            found.setdefault(path, []).append(_weight(served.behind[name], shards, keys))
    return found


def _weight(variable: SavedVariable, shards: Shards, keys: Mapping[int | str, str]) -> StoredWeight:
    name = variable.name.partition(":")[0]
    key = keys.get(variable.node) or keys.get(name) or name
    short = "/".join(name.split("/")[-2:]) or name
    place = shards.places.get(key)
    if place is None:
        shape = tuple(size or 0 for size in variable.shape)
        why = "its values are not in the file"
        return StoredWeight(short, shape, variable.dtype, variable.trainable, no_pieces, unreadable=why)
    return shards.weight(short, place, variable.trainable)

"""Weights of SavedModels: variables in the shards of its checkpoint, or constants of a frozen one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from stethoscope.models.containers import wire
from stethoscope.models.formats.tf_graph import graph_layers, saved_model_files, saved_model_serving
from stethoscope.models.formats.tf_graph.object_graph import Bundle, Place, SavedVariable
from stethoscope.models.formats.tf_graph.saved_model_files import Located
from stethoscope.models.formats.tf_graph.saved_model_serving import Serving
from stethoscope.models.model_format import StoredWeight, WeightsByLayer
from stethoscope.models.weights import tensor_places
from stethoscope.models.weights.frozen_weights import constant_weights
from stethoscope.models.weights.stored import PLAIN, buffer_pieces, no_pieces
from stethoscope.types import ModelFile

_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_CRC_BYTES = 4


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


def _constants(view: memoryview) -> Iterator[tuple[tuple[str, str], tensor_places.Span]]:
    for meta in wire.fields(view):
        if meta.number == 2 and meta.kind == wire.BYTES:
            for graph in wire.fields(view, meta.start, meta.end):
                if graph.number == 2 and graph.kind == wire.BYTES:
                    for function, node, span in tensor_places.in_graph(view, graph.start, graph.end):
                        yield (function, node), span


def _variables(located: Located, served: Serving, stack: ExitStack) -> WeightsByLayer:
    shards = _Shards(located, served.bundle, stack)
    keys = _keys(shards)
    held = {name: saved_model_serving.weight_of(variable) for name, variable in served.behind.items()}
    users = graph_layers.weight_users(served.graph, held)
    found: WeightsByLayer = {}
    for path, names in users.items():
        for name in names:
            found.setdefault(path, []).append(_weight(served.behind[name], shards, keys))
    return found


def _weight(variable: SavedVariable, shards: _Shards, keys: Mapping[int | str, str]) -> StoredWeight:
    name = variable.name.partition(":")[0]
    key = keys.get(variable.node) or keys.get(name) or name
    place = shards.places.get(key)
    shape = tuple(size or 0 for size in variable.shape)
    short = "/".join(name.split("/")[-2:]) or name
    if place is None:
        return StoredWeight(
            short, shape, variable.dtype, variable.trainable, no_pieces, unreadable="its values are not in the file"
        )
    if place.sliced or place.dtype not in PLAIN:
        why = "it is stored in slices" if place.sliced else f"values of type {place.dtype} are not read"
        return StoredWeight(short, place.shape, place.dtype, variable.trainable, no_pieces, unreadable=why)
    held = shards.holding(place)
    if held is None:
        return StoredWeight(
            short,
            place.shape,
            place.dtype,
            variable.trainable,
            no_pieces,
            unreadable="its data file is missing or short",
        )
    count = 1
    for size in place.shape:
        count *= size
    return StoredWeight(
        short, place.shape, place.dtype, variable.trainable, buffer_pieces(held, place.offset, place.dtype, count)
    )


class _Shards:
    """The data files of a checkpoint, each mapped when first needed."""

    def __init__(self, located: Located, bundle: Bundle | None, stack: ExitStack) -> None:
        self.places: Mapping[str, Place] = bundle.places if bundle else {}
        self._located, self._stack = located, stack
        self._count = bundle.shards if bundle else 0
        self._mapped: dict[str, memoryview] = {}

    def holding(self, place: Place) -> memoryview | None:
        name = f"variables/variables.data-{place.shard:05d}-of-{self._count:05d}"
        if name not in self._located.sizes or place.offset + place.size > self._located.sizes[name]:
            return None
        if name not in self._mapped:
            self._mapped[name] = self._stack.enter_context(self._located.view(name))
        return self._mapped[name]


def _keys(shards: _Shards) -> dict[int | str, str]:
    """The name under which a checkpoint stores each object's value: by its place in the object graph, and by variable name.

    Source: tensorflow/core/protobuf/trackable_object_graph.proto; tensor_bundle.cc (strings: length, checksum, bytes).
    """
    place = shards.places.get(_OBJECT_GRAPH)
    held = shards.holding(place) if place else None
    if held is None or place is None:
        return {}
    found: dict[int | str, str] = {}
    try:
        length, start = wire.varint(held, place.offset, place.offset + place.size)
        start += _CRC_BYTES
        nodes = [part for part in wire.fields(held, start, start + length) if part.number == 1]
        for number, node in enumerate(nodes):
            for attribute in wire.fields(held, node.start, node.end):
                if attribute.number == 2 and attribute.kind == wire.BYTES:
                    texts = {
                        item.number: bytes(held[item.start : item.end]).decode("utf-8", "replace")
                        for item in wire.fields(held, attribute.start, attribute.end)
                        if item.kind == wire.BYTES
                    }
                    if texts.get(1) == "VARIABLE_VALUE" and texts.get(3):
                        found[number] = texts[3]
                        if texts.get(2):
                            found.setdefault(texts[2], texts[3])
    except wire.Malformed:
        return {}
    return found

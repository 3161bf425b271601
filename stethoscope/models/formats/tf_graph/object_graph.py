"""Which variables of a SavedModel are the model's own: weights, not optimizer slots, metrics, counters or random seeds.

TensorFlow 2 stores the Python objects it saved as a graph of children. A Keras model lists its weights under "variables" (and
those that training changes under "trainable_variables"); any other module owns what can be reached from it.

Reads `variables.index`: which variables a SavedModel or checkpoint stores, with dtype and shape, without their values.

The file is a LevelDB table of `BundleEntryProto` by name. TensorFlow writes its blocks plain or compressed with snappy.

Source: tensorflow/core/util/tensor_bundle, https://github.com/google/leveldb/blob/main/doc/table_format.md
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from stethoscope.models.containers import damage, wire
from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.types import Shape

_NOT_WEIGHTS = frozenset(
    {
        "optimizer",
        "_optimizer",
        "keras_api",
        "signatures",
        "save_counter",
        "metrics",
        "layer_metrics",
        "compiled_metrics",
        "_all_variables",
        "_seed_generators",
        "loss_tracker",
        "_loss_tracker",
        "_metrics",
    }
)
_SEED_SUFFIXES = ("seed_generator_state", "StateVar")


@dataclass(frozen=True)
class SavedVariable:
    """One variable: its name, dtype, shape (None for an unknown dimension), and whether training changes it."""

    name: str
    dtype: str
    shape: Shape
    trainable: bool | None
    node: int = -1
    """Its place in the object graph."""

    @property
    def parameters(self) -> int:
        """Number of elements; 0 while a dimension is unknown."""
        total = 1
        for size in self.shape:
            total *= size or 0
        return total

    @property
    def is_seed(self) -> bool:
        """Whether it is the state of a random generator."""
        return self.name.split(":")[0].endswith(_SEED_SUFFIXES) and self.dtype in ("int64", "uint32", "uint64", "int32")


def static_shape(shape: Any) -> Shape | None:
    """The shape of a TensorShapeProto, None for unknown rank."""
    if shape.unknown_rank:
        return None
    return tuple(None if dim.size < 0 else int(dim.size) for dim in shape.dim)


def handles(meta_graph: Any) -> dict[str, int]:
    """Which object is behind each operator of the main graph that a served function captures, by operator name.

    A function's captures are its last arguments, and the object graph says what they were bound to; the names of variable
    operators say nothing about it since TensorFlow 2.13 or so.
    """
    functions = meta_graph.object_graph_def.concrete_functions
    found: dict[str, int] = {}
    for node in meta_graph.graph_def.node:
        callee = node.attr["f"].func.name if "f" in node.attr else ""
        if callee in functions:
            bound = functions[callee].bound_inputs
            passed = [reference for reference in node.input if not reference.startswith("^")]
            if len(passed) >= len(bound):
                names = (reference.partition(":")[0] for reference in passed[len(passed) - len(bound) :])
                found.update(zip(names, bound, strict=True))
    return found


def variable(nodes: Any, index: int) -> SavedVariable:
    """The variable that object `index` is."""
    saved = nodes[index].variable
    shape = static_shape(saved.shape) or ()
    return SavedVariable(saved.name, tf_proto.dtype_name(saved.dtype), shape, bool(saved.trainable), index)


def weights(graph: Any) -> tuple[SavedVariable, ...]:
    """The model's own variables of a SavedObjectGraph, in the order in which the model lists them."""
    if not graph.nodes:
        return ()
    nodes = graph.nodes
    children = {child.local_name: child.node_id for child in nodes[0].children}
    trainable = set(_listed(nodes, children["trainable_variables"])) if "trainable_variables" in children else None
    if "variables" in children and _is_list(nodes, children["variables"]):
        ids = list(_listed(nodes, children["variables"]))
    else:
        ids = [index for index in _reachable(nodes) if nodes[index].WhichOneof("kind") == "variable"]
    slots = {slot.slot_variable_node_id for node in nodes for slot in node.slot_variables}
    found = []
    for index in dict.fromkeys(ids):
        saved = variable(nodes, index)
        if index in slots or saved.is_seed:
            continue
        if trainable is not None:
            saved = replace(saved, trainable=index in trainable)
        found.append(saved)
    return tuple(found)


def _is_list(nodes: Any, index: int) -> bool:
    if not 0 <= index < len(nodes):
        return False
    node = nodes[index]
    return node.WhichOneof("kind") == "user_object" and bool(node.user_object.identifier == "trackable_list_wrapper")


def _listed(nodes: Any, index: int) -> Iterator[int]:
    if _is_list(nodes, index):
        for child in nodes[index].children:
            if 0 <= child.node_id < len(nodes) and nodes[child.node_id].WhichOneof("kind") == "variable":
                yield child.node_id


def _reachable(nodes: Any) -> Iterator[int]:
    seen, queue = {0}, [0]
    for index in queue:
        yield index
        for child in nodes[index].children:
            if child.local_name not in _NOT_WEIGHTS and 0 <= child.node_id < len(nodes) and child.node_id not in seen:
                if (
                    "metric" in nodes[child.node_id].user_object.identifier
                    or "optimizer" in nodes[child.node_id].user_object.identifier.lower()
                ):
                    continue
                seen.add(child.node_id)
                queue.append(child.node_id)


MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_FOOTER_BYTES = 48
_TRAILER_BYTES = 5


class Damaged(ValueError):
    """The index is truncated, or not an index."""


@dataclass(frozen=True)
class Place:
    """The values of one variable: `size` bytes from `offset` in data file `shard`; `sliced` when they are stored in parts."""

    dtype: str
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    sliced: bool


@dataclass(frozen=True)
class Bundle:
    """What an index lists: data files it needs, and (dtype, shape, bytes) by variable name."""

    shards: int
    entries: dict[str, tuple[str, Shape, int]]
    places: dict[str, Place] = field(default_factory=dict)
    """Where each of them lies."""


def read(data: bytes) -> Bundle:
    """Reads a whole index.

    Raises:
        Damaged: truncated, malformed, or compressed in a way this reader does not know.
    """
    from google.protobuf.message import DecodeError

    if len(data) < _FOOTER_BYTES or data[-8:] != MAGIC:
        raise Damaged("its last bytes are not those of a checkpoint index")
    view = memoryview(data)
    messages = tf_proto.messages()
    shards = 0
    entries: dict[str, tuple[str, Shape, int]] = {}
    places: dict[str, Place] = {}
    try:
        position = len(data) - _FOOTER_BYTES
        for _ in range(2):
            _, position = wire.varint(view, position, len(data))
        offset, position = wire.varint(view, position, len(data))
        size, _ = wire.varint(view, position, len(data))
        for _, handle in _block(view, offset, size):
            start, after = wire.varint(handle, 0, len(handle))
            length, _ = wire.varint(handle, after, len(handle))
            for key, value in _block(view, start, length):
                if not key:
                    shards = int(messages.BundleHeaderProto.FromString(bytes(value)).num_shards)
                    continue
                entry = messages.BundleEntryProto.FromString(bytes(value))
                shape = tuple(int(dim.size) for dim in entry.shape.dim)
                name, dtype = key.decode("utf-8", "replace"), tf_proto.dtype_name(entry.dtype)
                entries[name] = (dtype, shape, int(entry.size))
                places[name] = Place(
                    dtype,
                    shape,
                    int(entry.shard_id),
                    max(0, int(entry.offset)),
                    max(0, int(entry.size)),
                    bool(entry.slices),
                )
                if len(entries) > damage.MAX_LAYERS:
                    raise Damaged("it lists more than a million variables")
    except (wire.Malformed, DecodeError) as error:
        raise Damaged(str(error)) from error
    return Bundle(shards, entries, places)


def _block(view: memoryview, offset: int, size: int) -> Iterator[tuple[bytes, memoryview]]:
    """Yields (key, value) of one table block; keys share prefixes with their predecessor."""
    end = offset + size
    if end + _TRAILER_BYTES > len(view):
        raise Damaged("a block lies beyond its end")
    if view[end] == 1:
        view = memoryview(_snappy(view[offset:end]))
        offset, size, end = 0, len(view), len(view)
    elif view[end] != 0:
        raise Damaged("its blocks are compressed in an unknown way")
    if size < 4:
        raise Damaged("a block is too short")
    restarts = int.from_bytes(view[end - 4 : end], "little")
    stop = end - 4 - 4 * restarts
    if stop < offset:
        raise Damaged("a block's restart table is larger than the block")
    key, position = b"", offset
    while position < stop:
        shared, position = wire.varint(view, position, stop)
        unshared, position = wire.varint(view, position, stop)
        length, position = wire.varint(view, position, stop)
        if shared > len(key) or position + unshared + length > stop:
            raise Damaged("an entry runs past its block")
        key = key[:shared] + bytes(view[position : position + unshared])
        position += unshared
        yield key, view[position : position + length]
        position += length


def _snappy(view: memoryview) -> bytes:
    """Decompresses one snappy block.

    Source: https://github.com/google/snappy/blob/main/format_description.txt
    """
    size, position = wire.varint(view, 0, len(view))
    if size > damage.MAX_CONFIG_BYTES:
        raise Damaged(f"a block declares {size:,} bytes")
    out = bytearray()
    while position < len(view):
        tag = view[position]
        kind, high = tag & 3, tag >> 2
        position += 1
        extra = max(0, high - 59) if kind == 0 else (0, 1, 2, 4)[kind]
        if position + extra > len(view):
            raise Damaged("a compressed block is cut short")
        number = int.from_bytes(view[position : position + extra], "little")
        position += extra
        if kind == 0:
            length = (number if extra else high) + 1
            if position + length > len(view):
                raise Damaged("a compressed block is cut short")
            out += view[position : position + length]
            position += length
        else:
            length = (high & 7) + 4 if kind == 1 else high + 1
            offset = number | (high >> 3) << 8 if kind == 1 else number
            if not 0 < offset <= len(out):
                raise Damaged("a compressed block refers to before its start")
            start = len(out) - offset
            pattern = out[start : start + length]
            out += (pattern * (length // len(pattern) + 1))[:length]
        if len(out) > size:
            break
    if len(out) != size:
        raise Damaged(f"a compressed block holds {len(out):,} of {size:,} bytes")
    return bytes(out)

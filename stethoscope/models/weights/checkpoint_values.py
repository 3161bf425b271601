"""Values of a TensorFlow checkpoint: in its data files, each mapped when it is first needed, and what its objects are called."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from stethoscope.models.containers import wire
from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.models.formats.tf_graph.checkpoint_index import IN_ROWS, Bundle, Place, in_rows
from stethoscope.models.formats.tf_graph.saved_model_files import Located
from stethoscope.models.model_format import Pieces, StoredWeight
from stethoscope.models.weights.weight_statistics import PLAIN, buffer_pieces, no_pieces

if TYPE_CHECKING:
    import numpy.typing as npt

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The entry in which TensorFlow 2 notes which Python object each value is of."""
_CRC_BYTES = 4


class Shards:
    """The data files of a checkpoint."""

    def __init__(self, located: Located, bundle: Bundle | None, prefix: str, stack: ExitStack) -> None:
        """Maps nothing yet.

        Args:
            located: where the files are.
            bundle: what the index says; None without one.
            prefix: what the names of its files begin with, below the root of `located`.
            stack: closes what was opened.
        """
        self.places: Mapping[str, Place] = bundle.places if bundle else {}
        self._located, self._prefix, self._stack = located, prefix, stack
        self._count = bundle.shards if bundle else 0
        self._mapped: dict[str, memoryview] = {}

    def holding(self, place: Place) -> memoryview | None:
        """The data file that holds these values; None where it is missing or short."""
        name = f"{self._prefix}.data-{place.shard:05d}-of-{self._count:05d}"
        if name not in self._located.sizes or place.offset + place.size > self._located.sizes[name]:
            return None
        if name not in self._mapped:
            self._mapped[name] = self._stack.enter_context(self._located.view(name))
        return self._mapped[name]

    def weight(self, name: str, place: Place, trainable: bool | None = None) -> StoredWeight:
        """One variable, and how its values are read."""
        pieces, why = self._pieces(place)
        return StoredWeight(name, place.shape, place.dtype, trainable, pieces, unreadable=why)

    def _pieces(self, place: Place) -> tuple[Pieces, str]:
        if place.dtype not in PLAIN:
            return no_pieces, f"values of type {place.dtype} are not read"
        if not place.sliced:
            held = self.holding(place)
            if held is None:
                return no_pieces, "its data file is missing or short"
            if 8 * place.size < math.prod(place.shape) * tf_proto.item_bits(place.dtype):
                return no_pieces, "it stores fewer bytes than its shape needs"
            return buffer_pieces(held, place.offset, place.dtype, math.prod(place.shape)), ""
        rows = in_rows(place.shape, place.parts)
        if rows is None:
            return no_pieces, IN_ROWS
        found = [self._pieces(part) for part in rows]
        why = next((reason for _, reason in found if reason), "")
        return functools.partial(joined, [pieces for pieces, _ in found]), why


def joined(parts: Sequence[Pieces]) -> Iterator[npt.NDArray[Any]]:
    """Pieces of several, one after the other."""
    for pieces in parts:
        yield from pieces()


def named(shards: Shards) -> dict[str, tuple[int, str]]:
    """By the key of each value: its object's place in the object graph, and the variable's own name ("" where it has none).

    Source: tensorflow/core/protobuf/trackable_object_graph.proto; tensor_bundle.cc (strings: length, checksum, bytes).
    """
    place = shards.places.get(OBJECT_GRAPH)
    held = shards.holding(place) if place else None
    if held is None or place is None:
        return {}
    found: dict[str, tuple[int, str]] = {}
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
                        found[texts[3]] = number, texts.get(2, "")
    except wire.Malformed:
        return {}
    return found

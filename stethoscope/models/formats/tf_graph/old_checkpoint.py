"""Checkpoints of TensorFlow before 0.12 (`Saver` with write_version V1): one table that holds names, shapes and values.

Source: tensorflow/core/util/saved_tensor_slice.proto, saved_tensor_slice_util.cc
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError

from stethoscope.errors import UnreadableFile
from stethoscope.models.containers import wire
from stethoscope.models.containers.sorted_table import Damaged, Table
from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.models.formats.tf_graph.checkpoint_index import IN_ROWS, Extent, extents_of, in_rows, key_of_slice
from stethoscope.models.formats.tf_graph.checkpoint_names import variables
from stethoscope.models.model_format import Pieces, StoredWeight
from stethoscope.models.weights_only import Holding
from stethoscope.types import ModelFile

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_OF_BLOCK = 1 << 30
"""Bytes of one compressed block: it holds a whole tensor."""


def is_one(file: ModelFile) -> bool:
    """Whether the first entry of a table describes slices; in an index it is a header. Never raises."""
    try:
        with wire.mapped(file) as view:
            return _describes_slices(view)
    except UnreadableFile:
        return False


def _describes_slices(view: memoryview) -> bool:
    try:
        first = next(Table(view).items(), None)
        parts = [] if first is None or first[0] else list(wire.fields(first[1]))
    except (Damaged, wire.Malformed):
        return False
    return bool(parts) and parts[0].number == 1 and parts[0].kind == wire.BYTES


def held(file: ModelFile, stack: ExitStack) -> Holding:
    """What it holds; values are read a tensor at a time.

    Raises:
        UnreadableFile: damaged.
    """
    view = stack.enter_context(wire.mapped(file))
    try:
        table = Table(view, _MOST_OF_BLOCK)
        found = {name: ("", weight) for name, weight in _weights(table)}
    except (Damaged, wire.Malformed) as error:
        raise UnreadableFile(
            f"{file.name}: expected a TensorFlow checkpoint, got damaged bytes ({error}). Copy it again."
        ) from error
    return Holding(variables(found), "TensorFlow 1 checkpoint (one file)", "TensorFlow before 0.12")


def _weights(table: Table) -> Iterator[tuple[str, StoredWeight]]:
    """Each tensor of the table's description: (name, shape, dtype, slices)."""
    described = table.get(b"")
    if described is None:
        raise Damaged("it describes nothing")
    for meta in wire.fields(described):
        for tensor in wire.fields(described, meta.start, meta.end) if meta.number == 1 else ():
            if tensor.number == 1 and tensor.kind == wire.BYTES:
                yield _weight(table, described, tensor)


def _weight(table: Table, described: memoryview, tensor: wire.Field) -> tuple[str, StoredWeight]:
    name, shape, number = b"", tf_proto.messages().TensorShapeProto(), 0
    slices: list[tuple[Extent, ...]] = []
    for part in wire.fields(described, tensor.start, tensor.end):
        if part.number == 1:
            name = bytes(described[part.start : part.end])
        elif part.number == 2:
            shape.MergeFromString(bytes(described[part.start : part.end]))
        elif part.number == 3:
            number = part.value
        elif part.number == 4:
            slices.append(extents_of(described[part.start : part.end]))
    sizes = tuple(max(0, int(dim.size)) for dim in shape.dim)
    dtype, text = tf_proto.dtype_name(number), name.decode("utf-8", "replace")
    rows = in_rows(sizes, [(extents, key_of_slice(name, extents)) for extents in slices])
    why = IN_ROWS if rows is None else "" if dtype in _FIELDS else f"values of type {dtype} are not read"
    return text, StoredWeight(text, sizes, dtype, None, _pieces(table, rows or [], dtype), unreadable=why)


def _pieces(table: Table, keys: list[bytes], dtype: str) -> Pieces:
    def read() -> Iterator[npt.NDArray[Any]]:
        for key in keys:
            try:
                stored = table.get(key)
                yield _values(stored, dtype) if stored is not None else _none(key)
            except (Damaged, wire.Malformed, DecodeError) as error:
                raise UnreadableFile(
                    f"The values of a tensor are damaged ({error}). Copy the checkpoint again."
                ) from error

    return read


def _none(key: bytes) -> Any:
    raise Damaged(f"nothing is stored under {key[1:60]!r}")


def _values(stored: memoryview, dtype: str) -> npt.NDArray[Any]:
    """The values of a SavedTensorSlices {data = 2 {data = 3 TensorProto}}."""
    import numpy as np

    field = _FIELDS[dtype]
    for data in wire.fields(stored):
        for tensor in wire.fields(stored, data.start, data.end) if data.number == 2 else ():
            if tensor.number != 3:
                continue
            if dtype in _PACKED:  # as they lie, in place: a list of them takes many times the memory
                for part in wire.fields(stored, tensor.start, tensor.end):
                    if part.number == _PACKED[dtype] and part.kind == wire.BYTES:
                        return np.frombuffer(bytes(stored[part.start : part.end]), dtype)
            message = tf_proto.messages().TensorProto.FromString(bytes(stored[tensor.start : tensor.end]))
            found = np.asarray(list(getattr(message, field)))
            if dtype == "float16":
                return found.astype(np.uint16).view(np.float16)
            if dtype == "bfloat16":
                return (found.astype(np.uint32) << 16).view(np.float32)
            return found
    raise Damaged("a slice has no values")


_PACKED = {"float32": 5, "float64": 6}
_FIELDS = {
    **{"float32": "float_val", "float64": "double_val", "int64": "int64_val", "bool": "bool_val"},
    **dict.fromkeys(("int32", "uint8", "int16", "int8", "uint16", "qint8", "quint8", "qint32"), "int_val"),
    **dict.fromkeys(("float16", "bfloat16"), "half_val"),
}

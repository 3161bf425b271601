"""Leaves the weights out of a TensorFlow graph, on the wire: dtype and shape stay, long tensor contents go.

A gigabyte of constants is walked in place (mapped, not read); only the graph's own bytes are copied. What is left is small
enough to parse, and is what Netron draws.
"""

from __future__ import annotations

from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers import damage, wire
from stethoscope.types import ModelFile

KEPT_TENSOR_BYTES = 1024
"""Tensors up to this size keep their values: shapes, axes, file names and other small constants that explain a graph."""
_KEPT_STRINGS_BYTES = 64 << 10

_Schema = dict[int, "_Schema"]
_TENSOR: _Schema = {}
_ATTR: _Schema = {8: _TENSOR}
_ATTR[1] = {8: _TENSOR, 9: {2: {2: _ATTR}}}
_ATTR[10] = {2: {2: _ATTR}}
_NODE: _Schema = {5: {2: _ATTR}}
_FUNCTION: _Schema = {3: _NODE, 5: {2: _ATTR}}
GRAPH_DEF: _Schema = {1: _NODE, 2: {1: _FUNCTION}}
META_GRAPH: _Schema = {2: GRAPH_DEF}
SAVED_MODEL: _Schema = {2: META_GRAPH}
_SHAPE_FIELDS = (1, 2, 3)
_STRING_FIELD = 8


def without_weights(file: ModelFile, view: memoryview, schema: _Schema) -> bytes:
    """Returns the message in `view` with the values of long tensors removed.

    Args:
        file: for error texts.
        view: a whole serialized message.
        schema: `GRAPH_DEF`, `META_GRAPH` or `SAVED_MODEL`: where tensors are.

    Raises:
        UnreadableFile: the bytes are not such a message.
        TooLarge: without its weights it is still larger than a graph may be.
    """
    try:
        stripped = _strip(view, 0, len(view), schema, 0)
    except wire.Malformed as error:
        raise UnreadableFile(
            f"{file.name}: the TensorFlow graph is damaged or cut short ({error}). Save it again or repeat the upload."
        ) from error
    if len(stripped) > damage.MAX_GRAPH_BYTES:
        raise TooLarge(
            f"{file.name}: the graph without its weights has {len(stripped):,} bytes, expected at most {damage.MAX_GRAPH_BYTES:,}."
        )
    return stripped


def _strip(view: memoryview, start: int, end: int, schema: _Schema, depth: int) -> bytes:
    if end - start <= KEPT_TENSOR_BYTES:
        return bytes(view[start:end])
    if depth > damage.MAX_DEPTH:
        raise wire.Malformed("messages nested too deeply")
    if schema is _TENSOR:
        return _strip_tensor(view, start, end)
    out: list[bytes] = []
    for field in wire.fields(view, start, end):
        inner = schema.get(field.number) if field.kind == wire.BYTES else None
        if inner is None or field.end - field.start <= KEPT_TENSOR_BYTES:
            out.append(bytes(view[field.begin : field.end]))
        else:
            out.append(wire.encode_bytes(field.number, _strip(view, field.start, field.end, inner, depth + 1)))
    return b"".join(out)


def _strip_tensor(view: memoryview, start: int, end: int) -> bytes:
    """Keeps dtype, shape, and string values that are few: a file name may hide behind a long neighbour."""
    kept: list[bytes] = []
    strings = 0
    for field in wire.fields(view, start, end):
        size = field.end - field.begin
        if field.number == _STRING_FIELD and field.kind == wire.BYTES:
            strings += size
            if strings > _KEPT_STRINGS_BYTES:
                continue
        elif field.number not in _SHAPE_FIELDS:
            continue
        elif size > KEPT_TENSOR_BYTES:
            raise wire.Malformed("a tensor shape with hundreds of dimensions")
        kept.append(bytes(view[field.begin : field.end]))
    return b"".join(kept)

"""Where the values of a TensorFlow graph's constants lie in its file, found on the wire without copying any."""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.models.containers import wire
from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.models.model_format import Pieces
from stethoscope.models.weights.stored import PLAIN, array_pieces, buffer_pieces, no_pieces

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


def pieces(view: memoryview, span: Span) -> tuple[Pieces, str]:
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

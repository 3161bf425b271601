"""The same TFLite graph without its weights: small enough to draw at once."""

from __future__ import annotations

import mmap
import struct
from typing import Any

from stethoscope.errors import UnreadableFile
from stethoscope.models.formats.tflite_model.tflite_reader import IDENTIFIER, Model
from stethoscope.models.formats.tflite_model.tflite_schema import schema
from stethoscope.types import ModelFile

_KEPT_BYTES = 256
"""Shapes, axes and paddings stay readable in the drawing; weights are larger."""
_KEPT_METADATA_BYTES = 1 << 20
_KEPT_OPTIONS_BYTES = 4096
"""Options of a custom operator; compiled programs and vocabularies hide there."""
_KEPT_RANGES = 64
"""Per-channel minima and maxima: what the converter saw, not what the model computes with."""


def without_weights(file: ModelFile, model: Model) -> bytes:
    """Returns a flatbuffer with the payload of each large buffer cut to one byte, so that it still counts as a constant.

    The file is mapped copy-on-write and the lengths of large payloads are patched there, so payloads are never read.

    Raises:
        UnreadableFile: a part that the drawing needs is malformed.
    """
    generated = schema()
    metadata = set(model.metadata.values())
    with file.path.open("rb") as stream:
        private = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY)
    for index, stored in enumerate(model.buffers):
        kept = _KEPT_METADATA_BYTES if index in metadata else _KEPT_BYTES
        inside = stored.size_bytes and struct.unpack_from("<I", private, stored.start - 4)[0] == stored.size_bytes
        if inside and stored.size_bytes > kept:
            struct.pack_into("<I", private, stored.start - 4, 1)
    try:
        graph = generated.ModelT.InitFromPackedBuf(private)
        for buffer in graph.buffers or ():
            _drop_outside(buffer)
        for subgraph in graph.subgraphs or ():
            _drop_details(subgraph)
        import flatbuffers

        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(graph.Pack(builder), file_identifier=IDENTIFIER)
    except (struct.error, ValueError, TypeError, IndexError, OverflowError, AttributeError) as error:
        raise UnreadableFile(f"{file.name}: its graph cannot be drawn ({error}). Export the model again.") from error
    return bytes(builder.Output())


def _drop_outside(buffer: Any) -> None:
    """Buffers behind the flatbuffer (files above 2 GB) become one byte inside it."""
    if buffer is not None and buffer.offset > 1 and buffer.size:
        buffer.data, buffer.offset, buffer.size = [0], 0, 0


def _drop_details(subgraph: Any) -> None:
    for operator in subgraph.operators or ():
        if operator.customOptions is not None and len(operator.customOptions) > _KEPT_OPTIONS_BYTES:
            operator.customOptions = None
        operator.largeCustomOptionsOffset = operator.largeCustomOptionsSize = 0
    for tensor in subgraph.tensors or ():
        ranges = tensor.quantization
        if ranges is not None and ranges.max is not None and len(ranges.max) > _KEPT_RANGES:
            ranges.min = ranges.max = None

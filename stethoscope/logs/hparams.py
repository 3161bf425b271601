"""Hyper-parameters as TensorBoard's hparams plugin keeps them in the metadata of a summary.

Source: tensorboard/plugins/hparams/plugin_data.proto (HParamsPluginData, SessionStartInfo), google/protobuf/struct.proto.
"""

from __future__ import annotations

import struct
from typing import Any

from stethoscope.models.containers.wire import BYTES, FIXED64, VARINT, Malformed, fields

_MAX_PARAMETERS = 1_000
_MAX_TEXT_BYTES = 2_000


def session_parameters(content: bytes) -> dict[str, Any]:
    """Numbers, texts and truth values by name; empty where the content is something else of the plugin."""
    view = memoryview(content)
    found: dict[str, Any] = {}
    try:
        for item in fields(view):
            if item.number == 3 and item.kind == BYTES:
                for entry in fields(view, item.start, item.end):
                    if entry.number == 1 and entry.kind == BYTES and len(found) < _MAX_PARAMETERS:
                        name, value = _entry(view, entry.start, entry.end)
                        if name and value is not None:
                            found[name] = value
    except Malformed:
        return {}
    return found


def _entry(view: memoryview, start: int, end: int) -> tuple[str, Any]:
    name, value = "", None
    for item in fields(view, start, end):
        if item.number == 1 and item.kind == BYTES:
            name = _text(view, item.start, item.end)
        elif item.number == 2 and item.kind == BYTES:
            for inner in fields(view, item.start, item.end):
                if inner.number == 2 and inner.kind == FIXED64:
                    (value,) = struct.unpack_from("<d", view, inner.start)
                elif inner.number == 3 and inner.kind == BYTES:
                    value = _text(view, inner.start, inner.end)
                elif inner.number == 4 and inner.kind == VARINT:
                    value = bool(inner.value)
    return name, value


def _text(view: memoryview, start: int, end: int) -> str:
    return bytes(view[start : min(end, start + _MAX_TEXT_BYTES)]).decode("utf-8", "replace")

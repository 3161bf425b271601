"""What one record of an event file holds, as a layout that many records share: which bytes differ and what they mean.

Records of one tag differ only in wall time, step and value. A layout names those bytes, so that the others can be compared
and these be read as columns.
Source: tensorboard/compat/proto/event.proto, summary.proto, tensor.proto, types.proto.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from stethoscope.models.containers.record_framing import Bytes, crc32c
from stethoscope.models.containers.wire import BYTES, FIXED32, FIXED64, VARINT, Field, Malformed, fields

FIXED_WIDTHS = {1: ("<f4", 4), 2: ("<f8", 8), 3: ("<i4", 4), 4: ("u1", 1), 5: ("<i2", 2), 6: ("i1", 1), 9: ("<i8", 8)}
FIXED_WIDTHS |= {10: ("u1", 1), 14: ("bfloat16", 2), 17: ("<u2", 2), 19: ("<f2", 2), 22: ("<u4", 4), 23: ("<u8", 8)}
"""How one element of a TensorProto's data type is stored, and its bytes."""
_VARINTS = {3: "signed", 4: "signed", 5: "signed", 6: "signed", 9: "signed", 10: "signed", 17: "signed"}
_VARINTS |= {14: "bfloat16", 19: "<f2", 22: "unsigned", 23: "unsigned"}
_REPEATED = {5: (1,), 6: (2,), 7: (3, 4, 5, 6, 17), 10: (9,), 11: (10,), 13: (14, 19), 16: (22,), 17: (23,)}
"""TensorProto's fields of repeated values, and the data types each holds."""
_KINDS = {"histograms": "histogram", "images": "image", "pr_curves": "pr_curve", "graphs": "graph"}
_KINDS |= {"graph_keras_model": "graph", "graph_run_metadata": "run_metadata", "scalars": "tensor", "": "tensor"}
SCALAR_PLUGINS = ("scalars", "")
_MAX_TAG_BYTES = 2_000
WORD_BYTES = 8


class Number(NamedTuple):
    """Where a scalar is: `width` bytes at `at`, read as `kind`."""

    tag: str
    at: int
    width: int
    kind: str
    """A numpy dtype, "bfloat16", "zero" (not stored) or, for a varint, "varint " and what its number means."""
    plugin_unknown: bool
    """Whether the record itself does not say that the tensor is a scalar."""


class Medium(NamedTuple):
    """Something that is no scalar."""

    tag: str
    kind: str


@dataclass
class Layout:
    """What a record holds and where."""

    size: int = 0
    """Bytes of the record."""
    wall: int = -1
    step: int = -1
    step_width: int = 0
    step_value: int = 0
    numbers: list[Number] = field(default_factory=list)
    media: list[Medium] = field(default_factory=list)
    plugins: list[tuple[str, str]] = field(default_factory=list)
    sessions: list[bytes] = field(default_factory=list)
    """Contents of the hparams plugin."""
    left_out: int = 0
    """Values whose tag is too long to be kept."""
    free: list[tuple[int, int]] = field(default_factory=list)
    """Spans whose bytes differ between records alike."""
    varints: list[tuple[int, int]] = field(default_factory=list)
    """Spans whose bytes differ in all but the highest bit, which says how long the number is."""
    checksum: int = 0
    """Of the record with zeros where records alike differ."""

    @functools.cached_property
    def keep(self) -> Bytes:
        """The bits that are the same in records alike: shape (size,)."""
        keep = np.full(self.size, 0xFF, np.uint8)
        for begin, end in self.free:
            keep[begin:end] = 0
        for begin, end in self.varints:
            keep[begin:end] = 0x80
        return keep

    @functools.cached_property
    def words(self) -> tuple[tuple[int, int], ...]:
        """Words of eight bytes that cover the record: (first byte, the bits that are the same in records alike)."""
        places = [*range(0, self.size - WORD_BYTES, WORD_BYTES), self.size - WORD_BYTES]
        return tuple((at, int.from_bytes(self.keep[at : at + WORD_BYTES].tobytes(), "little")) for at in places)

    @functools.cached_property
    def changing(self) -> tuple[int, ...]:
        """Places of the bytes that differ between records alike."""
        return tuple(at for begin, end in (*self.free, *self.varints) for at in range(begin, end))

    @functools.cached_property
    def places(self) -> tuple[object, ...]:
        """Equal for layouts whose bytes mean the same but for the tags."""
        numbers = tuple((one.at, one.width, one.kind, one.plugin_unknown) for one in self.numbers)
        return self.wall, self.step, numbers, tuple(self.free), tuple(self.varints)


def layout(content: bytes) -> Layout:
    """The layout of a record.

    Raises:
        Malformed: the content is no message.
    """
    found = Layout(len(content))
    view = memoryview(content)
    for item in fields(view):
        if item.number == 1 and item.kind == FIXED64:
            found.wall = item.start
        elif item.number == 2 and item.kind == VARINT:
            found.step, found.step_width = item.start, item.end - item.start
            whole = item.value & 0xFFFF_FFFF_FFFF_FFFF
            found.step_value = whole - (1 << 64) if whole >> 63 else whole
        elif item.number == 5 and item.kind == BYTES:
            for value in fields(view, item.start, item.end):
                if value.number == 1 and value.kind == BYTES:
                    read_value(view, value, found)
        elif item.number in (4, 9) and item.kind == BYTES:
            found.media.append(Medium("graph" if item.number == 4 else "meta graph", "graph"))
            found.free.append((item.start, item.end))
        elif item.number == 8 and item.kind == BYTES:
            found.media.append(Medium("run metadata", "run_metadata"))
            found.free.append((item.start, item.end))
    if found.wall >= 0:
        found.free.append((found.wall, found.wall + 8))
    if found.step >= 0:
        found.varints.append((found.step, found.step + found.step_width))
    return found


@functools.lru_cache(8_192)
def shared_layout(content: bytes) -> Layout | None:
    """The layout of records that are `content` but for the bytes that differ, those being zero; None when it is no message."""
    try:
        found = layout(content)
    except Malformed:
        return None
    zeroed = bytearray(content)
    for begin, end in (*found.free, *found.varints):
        zeroed[begin:end] = bytes(end - begin)
    found.checksum = crc32c(bytes(zeroed))
    return found


def media_kind(plugin: str) -> str:
    """What `Media.kind` calls the values of a plugin."""
    return _KINDS.get(plugin, plugin)


def read_value(view: memoryview, value: Field, found: Layout) -> None:
    """Notes in `found` what one value of a summary is.

    Raises:
        Malformed: the value is no message.
    """
    tag, number, tensor, medium, plugin, content = "", None, None, "", None, b""
    payload: Field | None = None
    for item in fields(view, value.start, value.end):
        if item.number == 1 and item.kind == BYTES:
            tag = bytes(view[item.start : min(item.end, item.start + _MAX_TAG_BYTES + 1)]).decode("utf-8", "replace")
            too_long = item.end - item.start > _MAX_TAG_BYTES
            if too_long:
                found.left_out += 1
                return
        elif item.number == 2 and item.kind == FIXED32:
            number = item
        elif item.number in (4, 5, 6) and item.kind == BYTES:
            medium, payload = {4: "image", 5: "histogram", 6: "audio"}[item.number], item
        elif item.number == 8 and item.kind == BYTES:
            tensor = item
        elif item.number == 9 and item.kind == BYTES:
            plugin, content = _plugin(view, item)
    if plugin is not None:
        found.plugins.append((tag, plugin))
        if plugin == "hparams" and content:
            found.sessions.append(content)
    if number is not None:
        found.numbers.append(Number(tag, number.start, 4, "<f4", False))
        found.free.append((number.start, number.end))
    elif payload is not None:
        found.media.append(Medium(tag, medium))
        found.free.append((payload.start, payload.end))
    elif tensor is not None:
        _tensor(view, tensor, tag, plugin, found)
    elif plugin is not None and plugin not in SCALAR_PLUGINS:
        found.media.append(Medium(tag, media_kind(plugin)))


def _tensor(view: memoryview, tensor: Field, tag: str, plugin: str | None, found: Layout) -> None:
    if plugin is not None and plugin not in SCALAR_PLUGINS:
        found.media.append(Medium(tag, media_kind(plugin)))
        found.free.append((tensor.start, tensor.end))
        return
    number = _number(view, tensor, tag, plugin is None)
    if number is None:
        found.media.append(Medium(tag, "tensor"))
        return
    found.numbers.append(number)
    if number.kind.startswith("varint "):
        found.varints.append((number.at, number.at + number.width))
    elif number.width:
        found.free.append((number.at, number.at + number.width))


def _number(view: memoryview, tensor: Field, tag: str, plugin_unknown: bool) -> Number | None:
    """Where the value of a tensor with one element is; None for any other tensor."""
    dtype, elements, stored = 0, 1, None
    for item in fields(view, tensor.start, tensor.end):
        if item.number == 1 and item.kind == VARINT:
            dtype = item.value
        elif item.number == 2 and item.kind == BYTES:
            elements = _elements(view, item)
        elif item.number == 4 or item.number in _REPEATED:
            if stored is not None:
                return None
            stored = item
    if dtype not in FIXED_WIDTHS or elements != 1:
        return None
    if stored is None:
        return Number(tag, 0, 0, "zero", plugin_unknown)
    kind, width = FIXED_WIDTHS[dtype]
    if stored.number == 4 or (stored.number in (5, 6) and dtype in _REPEATED[stored.number]):
        fits = stored.end - stored.start == width
        return Number(tag, stored.start, width, kind, plugin_unknown) if fits else None
    if dtype not in _REPEATED[stored.number]:
        return None
    if not _one_varint(view[stored.start : stored.end]):
        return None
    return Number(tag, stored.start, stored.end - stored.start, f"varint {_VARINTS[dtype]}", plugin_unknown)


def _one_varint(content: memoryview) -> bool:
    return 0 < len(content) <= 10 and content[-1] < 0x80 and all(byte >= 0x80 for byte in content[:-1])


def _elements(view: memoryview, shape: Field) -> int:
    total = 1
    for dimension in fields(view, shape.start, shape.end):
        if dimension.number == 2 and dimension.kind == BYTES:
            sizes = [one.value for one in fields(view, dimension.start, dimension.end) if one.number == 1]
            total *= sizes[-1] if sizes else 0
    return total


def _plugin(view: memoryview, metadata: Field) -> tuple[str, bytes]:
    """(name, content) of the plugin a value is for."""
    name, content = "", b""
    for item in fields(view, metadata.start, metadata.end):
        if item.number == 1 and item.kind == BYTES:
            for inner in fields(view, item.start, item.end):
                if inner.number == 1 and inner.kind == BYTES:
                    name = bytes(view[inner.start : inner.end][:100]).decode("utf-8", "replace")
                elif inner.number == 2 and inner.kind == BYTES:
                    content = bytes(view[inner.start : inner.end])
    return name, content

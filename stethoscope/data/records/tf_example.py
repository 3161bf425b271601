"""tf.train.Example and tf.train.SequenceExample, read off their bytes: features by name.

Source: tensorflow/core/example/example.proto and feature.proto.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from stethoscope.models.containers.wire import BYTES, FIXED32, VARINT, Malformed, fields

Feature: TypeAlias = "list[bytes] | npt.NDArray[Any]"
"""What one feature of one record holds: byte strings, float32 or int64; steps of a feature list as one array or list."""
_MAX_FEATURES = 2_000
_MAX_NAME_BYTES = 1_000


def read_example(payload: bytes) -> dict[str, Feature] | None:
    """The features of one record; None where it is neither an Example nor a SequenceExample."""
    view = memoryview(payload)
    try:
        parts = [(one.number, one.kind, one.start, one.end) for one in fields(view)]
        if not parts or any(kind != BYTES or number not in (1, 2) for number, kind, _, _ in parts):
            return None
        found: dict[str, Feature] = {}
        for number, _, start, end in parts:
            found |= _features(view, start, end) if number == 1 else _feature_lists(view, start, end)
    except (Malformed, UnicodeDecodeError, ValueError):
        return None
    return found


def _features(view: memoryview, start: int, end: int) -> dict[str, Feature]:
    found: dict[str, Feature] = {}
    for name, (first, last) in _entries(view, start, end).items():
        found[name] = _feature(view, first, last)
    return found


def _feature_lists(view: memoryview, start: int, end: int) -> dict[str, Feature]:
    found: dict[str, Feature] = {}
    for name, (first, last) in _entries(view, start, end).items():
        steps = [
            _feature(view, one.start, one.end)
            for one in fields(view, first, last)
            if one.number == 1 and one.kind == BYTES
        ]
        found[name] = _joined(steps)
    return found


def _joined(steps: list[Feature]) -> Feature:
    if any(isinstance(step, list) for step in steps) or not steps:
        return [value for step in steps if isinstance(step, list) for value in step]
    arrays = [np.asarray(step) for step in steps]
    sizes = {len(array) for array in arrays}
    joined = np.concatenate(arrays)
    return joined.reshape(len(arrays), -1) if len(sizes) == 1 and sizes != {1} else joined


def _entries(view: memoryview, start: int, end: int) -> dict[str, tuple[int, int]]:
    """Of a map<string, message>: where each value lies."""
    found: dict[str, tuple[int, int]] = {}
    for entry in fields(view, start, end):
        if entry.number != 1 or entry.kind != BYTES:
            raise Malformed("no map of features")
        name, value = "", (0, 0)
        for part in fields(view, entry.start, entry.end):
            if part.kind != BYTES or part.number not in (1, 2):
                raise Malformed("no feature")
            if part.number == 1:
                if part.end - part.start > _MAX_NAME_BYTES:
                    raise Malformed("a name is too long")
                name = bytes(view[part.start : part.end]).decode("utf-8")
            else:
                value = part.start, part.end
        found[name] = value
        if len(found) > _MAX_FEATURES:
            raise Malformed("too many features")
    return found


def _feature(view: memoryview, start: int, end: int) -> Feature:
    for kind in fields(view, start, end):
        if kind.kind != BYTES or kind.number not in (1, 2, 3):
            raise Malformed("no list of values")
        if kind.number == 1:
            return [bytes(view[one.start : one.end]) for one in fields(view, kind.start, kind.end) if one.kind == BYTES]
        if kind.number == 2:
            return _floats(view, kind.start, kind.end)
        return _integers(view, kind.start, kind.end)
    return np.zeros(0, np.float32)


def _floats(view: memoryview, start: int, end: int) -> npt.NDArray[np.float32]:
    pieces = []
    for one in fields(view, start, end):
        if one.kind not in (BYTES, FIXED32) or (one.end - one.start) % 4:
            raise Malformed("no floats")
        pieces.append(bytes(view[one.start : one.end]))
    return np.frombuffer(b"".join(pieces), "<f4").astype(np.float32)


def _integers(view: memoryview, start: int, end: int) -> npt.NDArray[np.int64]:
    pieces: list[npt.NDArray[np.int64]] = []
    for one in fields(view, start, end):
        if one.kind == VARINT:
            pieces.append(_signed(np.array([one.value & 0xFFFFFFFFFFFFFFFF], np.uint64)))
        elif one.kind == BYTES:
            pieces.append(_varints(bytes(view[one.start : one.end])))
        else:
            raise Malformed("no integers")
    return np.concatenate(pieces) if pieces else np.zeros(0, np.int64)


def _varints(payload: bytes) -> npt.NDArray[np.int64]:
    """Packed varints, all at once: shape (values,)."""
    content = np.frombuffer(payload, np.uint8)
    if not len(content):
        return np.zeros(0, np.int64)
    ends = np.flatnonzero(content < 0x80)
    if not len(ends) or ends[-1] != len(content) - 1:
        raise Malformed("truncated numbers")
    starts = np.concatenate([[0], ends[:-1] + 1])
    widths = ends - starts + 1
    if int(widths.max()) > 10:
        raise Malformed("a number is too long")
    values = np.zeros(len(ends), np.uint64)
    for byte in range(int(widths.max())):
        has = widths > byte
        bits = (content[starts[has] + byte] & 0x7F).astype(np.uint64)
        values[has] |= bits << np.uint64(7 * byte)
    return _signed(values)


def _signed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    return values.view(np.int64)


def names_of(rows: list[Mapping[str, Feature]]) -> list[str]:
    """Every feature's name, in the order in which they come up (a record lists its own in any order), sorted."""
    return sorted({name for row in rows for name in row})

"""What rows of bytes with one layout hold: scalars as columns, the places of media, and what is told about them."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stethoscope.logs.event_layout import Layout, Medium, Number
from stethoscope.models.containers.record_framing import Bytes, Positions


class Scalars(NamedTuple):
    """Points of one or more tags; all arrays have the shape (points,)."""

    tags: list[tuple[str, bool]]
    """Tags, and whether their plugin still has to say that they are scalars."""
    tag: npt.NDArray[np.intp]
    """Index into `tags`."""
    record: Positions
    """Which record of those given."""
    step: npt.NDArray[np.int64]
    wall_time: npt.NDArray[np.float64]
    value: npt.NDArray[np.float64]


class Places(NamedTuple):
    """Media of one or more tags; all arrays have the shape (points,)."""

    media: list[Medium]
    medium: npt.NDArray[np.intp]
    record: Positions
    step: npt.NDArray[np.int64]
    wall_time: npt.NDArray[np.float64]


@dataclasses.dataclass
class Decoded:
    """What a number of records hold, in no order."""

    scalars: list[Scalars] = dataclasses.field(default_factory=list)
    places: list[Places] = dataclasses.field(default_factory=list)
    plugins: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    sessions: list[bytes] = dataclasses.field(default_factory=list)
    left_out: int = 0
    bad: list[int] = dataclasses.field(default_factory=list)
    """Records that are damaged."""


def take_rows(
    rows: Bytes, records: Positions, which: npt.NDArray[np.intp], example: Layout, layouts: list[Layout], found: Decoded
) -> None:
    """Reads rows that were checked, shape (rows, bytes); `which` says which of `layouts` each has."""
    step, wall, *values = _columns(rows, example)
    for at, number in enumerate(example.numbers):
        tags = [(one.numbers[at].tag, number.plugin_unknown) for one in layouts]
        found.scalars.append(Scalars(tags, which, records, step, wall, values[at]))
    used = [layouts[at] for at in np.flatnonzero(np.bincount(which, minlength=len(layouts)))]
    for one in used:
        note(one, found)
    for at in range(max(len(one.media) for one in used)):
        media = [one.media[at] if at < len(one.media) else Medium("", "") for one in layouts]
        has = np.array([at < len(one.media) for one in layouts])[which]
        found.places.append(Places(media, which[has], records[has], step[has], wall[has]))


def take_cycles(rows: Bytes, records: Positions, example: Layout, layouts: list[Layout], found: Decoded) -> None:
    """Reads rows that were checked, shape (layouts, rows, bytes)."""
    columns, which = _columns(rows, example), np.zeros(records.shape[1], np.intp)
    for at, one in enumerate(layouts):
        # Copies where there are several, so that one tag does not keep the columns of all.
        own = (column[at].copy() if len(layouts) > 1 else column[at] for column in columns)
        record, (step, wall, *values) = records[at], own
        for number, value in zip(one.numbers, values, strict=True):
            found.scalars.append(Scalars([(number.tag, number.plugin_unknown)], which, record, step, wall, value))
        for medium in one.media:
            found.places.append(Places([medium], which, record, step, wall))
        note(one, found)


def _columns(rows: Bytes, example: Layout) -> list[npt.NDArray[Any]]:
    """Steps, wall times and the values of each number of rows, shape (…, bytes); each has the shape (…)."""
    # Copied, as all columns are: a view would keep what was read of the file.
    wall = _fixed(rows, example.wall, 8, "<f8").copy() if example.wall >= 0 else np.zeros(rows.shape[:-1])
    step = _varint(rows, example.step, example.step_width).view(np.int64)
    return [step, wall, *(_values(rows, number) for number in example.numbers)]


def _values(rows: Bytes, number: Number) -> npt.NDArray[np.float64]:
    if number.kind == "zero":
        return np.zeros(rows.shape[:-1])
    if number.kind.startswith("varint "):
        raw, kind = _varint(rows, number.at, number.width), number.kind.removeprefix("varint ")
        if kind == "signed":
            return raw.view(np.int64).astype(np.float64)
        if kind == "unsigned":
            return raw.astype(np.float64)
        short = raw.astype(np.uint16)
        return _brain(short) if kind == "bfloat16" else short.view(np.float16).astype(np.float64)
    if number.kind == "bfloat16":
        return _brain(_fixed(rows, number.at, 2, "<u2"))
    return _fixed(rows, number.at, number.width, number.kind).astype(np.float64)


def _brain(short: npt.NDArray[np.uint16]) -> npt.NDArray[np.float64]:
    """bfloat16 is the upper half of a float32."""
    return (short.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def _fixed(rows: Bytes, at: int, width: int, kind: str) -> npt.NDArray[Any]:
    return rows[..., at : at + width].view(kind)[..., 0]


def _varint(rows: Bytes, at: int, width: int) -> npt.NDArray[np.uint64]:
    if width < 1:
        return np.zeros(rows.shape[:-1], np.uint64)
    number = (rows[..., at] & np.uint8(0x7F)).astype(np.uint64)
    for byte in range(1, width):
        number |= (rows[..., at + byte] & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * byte)
    return number


def note(one: Layout, found: Decoded) -> None:
    """Keeps what a record says about tags and the run."""
    found.plugins.extend(one.plugins)
    found.sessions.extend(one.sessions)
    found.left_out += one.left_out

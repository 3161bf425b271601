"""Scalars and the places of media out of many records at once: records alike are read as columns.

Records of one size are compared with the layout of the first; those that agree are checked and read together, the others
go round again with a layout of their own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from stethoscope.containers.wire import Malformed
from stethoscope.logs.crc32c import Bytes, Checksums, checksums, mask, masked, share_of
from stethoscope.logs.event_layout import FIXED_WIDTHS, Layout, layout, shared_layout
from stethoscope.logs.event_media import media_records
from stethoscope.logs.event_rows import Decoded, Places, Scalars, note, take_rows
from stethoscope.logs.record_framing import FOOTER, Positions, Region

_ROW_BYTES = 512
"""Records above this are looked at one by one."""
_FEW = 6
"""Records of one size below which comparing them costs more than it saves."""
_LONG = 256
"""Cycles from which on records are read where they are, one of the cycle after the other."""
_BLOCK_BYTES = 768 << 10
"""Of records compared at once: as much as a processor keeps near."""
_recent: dict[int, Layout] = {}
"""The last layout of each size: the next records of that size are mostly like it."""
_FREE_BYTES = 96
"""Differing bytes up to which checksums are corrected instead of computed."""
_ROUNDS = 64
_DOUBLE = struct.Struct("<d")
_PLAIN = frozenset(kind for kind, _ in FIXED_WIDTHS.values()) - {"bfloat16"}
"""Kinds of numbers numpy reads as they are stored."""
_FACTORS = np.random.default_rng(1).integers(1 << 63, size=_ROW_BYTES // 8, dtype=np.uint64) * 2 + np.uint64(1)


def decode(content: bytes, starts: Positions, sizes: Positions, regions: Sequence[Region] = ()) -> Decoded:
    """Reads the records whose contents are at `starts`."""
    found = Decoded()
    data = np.frombuffer(content, np.uint8)
    left = np.ones(len(starts), bool)
    for region in regions:
        if region.cycles >= _LONG:
            left[region.first : region.first + region.cycle * region.cycles] = False
            for at in range(region.first, region.first + region.cycle):
                _in_steps(content, starts, at, int(sizes[at]), region, found)
    rest = np.flatnonzero(left)
    kinds = np.minimum(sizes[rest], _ROW_BYTES + 1).astype(np.uint16)
    order = np.argsort(kinds, kind="stable")
    edges = np.flatnonzero(np.diff(kinds[order])) + 1
    few: list[Positions] = []
    for chosen in np.split(order, edges) if len(rest) else ():
        if len(chosen) < _FEW or kinds[chosen[0]] > _ROW_BYTES:
            few.append(rest[chosen])
            continue
        size = int(sizes[rest[chosen[0]]])
        at_once = max(1, _BLOCK_BYTES // (size + FOOTER))
        windows = np.lib.stride_tricks.as_strided(
            data, (len(data) - size - FOOTER + 1, size + FOOTER), (1, 1), writeable=False
        )
        for begin in range(0, len(chosen), at_once):
            records = rest[chosen[begin : begin + at_once]]
            _alike(content, starts, windows[starts[records]], records, size, found)
    if few:
        _one_by_one(content, data, starts, sizes, np.sort(np.concatenate(few)), found)
    return found


def _in_steps(content: bytes, starts: Positions, first: int, size: int, region: Region, found: Decoded) -> None:
    """Reads one record of each cycle where it is, `first` the one of the first cycle."""
    width = size + FOOTER
    if size > _ROW_BYTES:
        records = first + region.cycle * np.arange(region.cycles)
        _one_by_one(content, np.frombuffer(content, np.uint8), starts, np.full(len(starts), size), records, found)
        return
    at_once = max(1, _BLOCK_BYTES // width)
    for begin in range(0, region.cycles, at_once):
        count = min(at_once, region.cycles - begin)
        records = first + region.cycle * np.arange(begin, begin + count)
        rows = np.ndarray((count, width), np.uint8, content, int(starts[records[0]]), (region.step, 1))
        _alike(content, starts, rows, records, size, found)


def _alike(content: bytes, starts: Positions, rows: Bytes, records: Positions, size: int, found: Decoded) -> None:
    """Reads records of one size, given with their checksums as rows."""
    for _ in range(_ROUNDS):
        example, begin = _recent.get(size), 0
        if example is None or _like(example, rows[0]) is None:
            example, begin = _first_readable(rows, records, size, found)
        if example is None:
            return
        _recent[size] = example
        rows, records = rows[begin:], records[begin:]
        rest = _with_layout(content, starts, rows, records, size, example, found)
        if not len(rest):
            return
        rows, records = rows[rest], records[rest]
    for at in range(len(rows)):
        example, begin = _first_readable(rows[at : at + 1], records[at : at + 1], size, found)
        if example is not None:
            rest = _with_layout(content, starts, rows[at : at + 1], records[at : at + 1], size, example, found)
            found.bad.extend(records[at : at + 1][rest].tolist())


def _first_readable(rows: Bytes, records: Positions, size: int, found: Decoded) -> tuple[Layout | None, int]:
    """The layout of the first row that is whole, and its place; damaged ones before it are noted."""
    for at, row in enumerate(rows):
        content = row[:size].tobytes()
        if masked(content) == int.from_bytes(row[size:].tobytes(), "little"):
            try:
                return layout(content), at
            except Malformed:
                pass
        found.bad.append(int(records[at]))
    return None, len(rows)


def _with_layout(
    content: bytes, starts: Positions, rows: Bytes, records: Positions, size: int, example: Layout, found: Decoded
) -> Positions:
    """Reads the rows that have this layout; returns the places of the others."""
    keep = example.keep
    one = _like(example, rows[0])
    if one is not None and _all_same(rows, example):
        which, rest, layouts = np.zeros(len(rows), np.intp), np.empty(0, np.intp), [one]
    else:
        fixed = rows[:, :size] & keep
        which, first = _distinct(fixed)
        known = [shared_layout(fixed[place].tobytes()) for place in first]
        exact = np.array([one is not None and one.places == example.places for one in known])
        layouts = [one for one, fits in zip(known, exact, strict=True) if one is not None and fits]
        fits = exact[which] & (fixed == fixed[first[which]]).all(1)
        rest = np.flatnonzero(~fits)
        which = (np.cumsum(exact) - 1)[which]
        if len(rest):
            rows, records, which = rows[fits], records[fits], which[fits]
        del fixed
    if not layouts:
        return rest
    crc = _checksums(content, starts, rows, records, which, size, example, layouts)
    good = mask(crc) == rows[:, size:].view("<u4")[:, 0]
    if not good.all():
        found.bad.extend(records[~good].tolist())
        rows, records, which = rows[good], records[good], which[good]
    if len(rows):
        take_rows(rows, records, which, example, layouts, found)
    return rest


def _like(example: Layout, row: Bytes) -> Layout | None:
    """The layout of a row that may be like the example; None when it is not."""
    one = shared_layout((row[: example.size] & example.keep).tobytes())
    return one if one is not None and one.places == example.places else None


def _all_same(rows: Bytes, example: Layout) -> bool:
    """Whether all rows are like the first where records alike are."""
    for begin, end, kind in example.fixed:
        part = rows[:, begin:end].view(kind)
        if not (part == part[0]).all():
            return False
    varints = ((rows[:, begin:end] ^ rows[0, begin:end]) < 0x80 for begin, end in example.varints)
    return all(bool(part.all()) for part in varints)


def _distinct(fixed: Bytes) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """(index of the distinct row each row is probably equal to, place of the first of each)."""
    count, size = fixed.shape
    words = np.zeros((count, -(-size // 8) * 8), np.uint8)
    words[:, :size] = fixed
    mixed = np.zeros(count, np.uint64)
    for at, column in enumerate(words.view(np.uint64).T):
        mixed = (mixed ^ column) * _FACTORS[at]
        mixed ^= mixed >> np.uint64(29)
    _, first, which = np.unique(mixed, return_index=True, return_inverse=True)
    return which, first


def _checksums(
    content: bytes,
    starts: Positions,
    rows: Bytes,
    records: Positions,
    which: npt.NDArray[np.intp],
    size: int,
    example: Layout,
    layouts: list[Layout],
) -> Checksums:
    if len(example.changing) > _FREE_BYTES:
        return checksums(content, starts[records], np.full(len(records), size, np.int64))
    crc: Checksums = np.array([one.checksum for one in layouts], np.uint32)[which]
    for at in example.changing:
        crc ^= share_of(size - 1 - at)[rows[:, at]]
    return crc


def _one_by_one(
    content: bytes, data: Bytes, starts: Positions, sizes: Positions, records: Positions, found: Decoded
) -> None:
    """Reads long records, most of them media, and those like few others."""
    begins, ends = starts[records], starts[records] + sizes[records]
    crc = mask(checksums(content, begins, sizes[records]))
    tails = np.lib.stride_tricks.as_strided(data, (len(data) - FOOTER + 1, FOOTER), (1, 1), writeable=False)[ends]
    good = tails.view("<u4")[:, 0] == crc
    found.bad.extend(records[~good].tolist())
    records, begins, ends = records[good], begins[good], ends[good]
    if len(records) < _FEW:
        _in_full(content, data, zip(records.tolist(), begins.tolist(), ends.tolist(), strict=True), found)
        return
    quick = media_records(content, begins, ends)
    many = quick.which >= 0
    if many.any():
        media = [one.media[0] for one in quick.described]
        found.places.append(Places(media, quick.which[many], records[many], quick.step[many], quick.wall_time[many]))
        for one in quick.described:
            note(one, found)
    rest = (part[~many].tolist() for part in (records, begins, ends))
    _in_full(content, data, zip(*rest, strict=True), found)


def _in_full(content: bytes, data: Bytes, records: Iterable[tuple[int, int, int]], found: Decoded) -> None:
    """Reads records one after the other, each given with its first byte and its end."""
    tags: dict[tuple[str, bool], int] = {}
    points: list[tuple[int, int, int, float, float]] = []
    for record, begin, end in records:
        one = _layout_or_none(content[begin:end])
        if one is None:
            found.bad.append(record)
        elif one.wall >= 0 and not one.media and all(number.kind in _PLAIN for number in one.numbers):
            (wall,) = _DOUBLE.unpack_from(content, begin + one.wall)
            for number in one.numbers:
                tag = tags.setdefault((number.tag, number.plugin_unknown), len(tags))
                value = float(np.frombuffer(content, number.kind, 1, begin + number.at)[0])
                points.append((tag, record, one.step_value, wall, value))
            note(one, found)
        else:
            take_rows(data[None, begin:end], np.array([record]), np.zeros(1, np.intp), one, [one], found)
    if points:
        which, record_of, steps, walls, values = zip(*points, strict=True)
        columns = np.array(record_of, np.int64), np.array(steps, np.int64), np.array(walls, np.float64)
        found.scalars.append(Scalars(list(tags), np.array(which, np.intp), *columns, np.array(values, np.float64)))


def _layout_or_none(content: bytes) -> Layout | None:
    try:
        return layout(content)
    except Malformed:
        return None

"""Scalars and the places of media out of many records at once: records alike are read as columns.

Records of one size are compared with the layout of the first; those that agree are checked and read together, the others
go round again with a layout of their own.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from stethoscope.logs.event_layout import FIXED_WIDTHS, WORD_BYTES, Layout, layout, shared_layout
from stethoscope.logs.event_rows import Decoded, Places, Scalars, media_records, note, take_cycles, take_rows
from stethoscope.models.containers.record_framing import (
    FOOTER,
    Bytes,
    Checksums,
    Positions,
    Region,
    checksums,
    crc32c,
    mask,
    masked,
    share_of,
)
from stethoscope.models.containers.wire import Malformed

_ROW_BYTES = 512
"""Records above this are looked at one by one."""
_FEW = 6
"""Records of one size below which comparing them costs more than it saves."""
_LONG = 64
"""Cycles from which on records are read in the order of the cycle, not each length with all of its length."""
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
    left = np.ones(len(starts), bool)
    for region in regions:
        if region.cycles >= _LONG:
            left[region.first : region.first + region.cycle * region.cycles] = False
            _in_cycles(content, starts, sizes, region, found)
    few: list[Positions] = []
    for chosen in _by_size(sizes, np.flatnonzero(left)):
        size = int(sizes[chosen[0]])
        if len(chosen) < _FEW or size > _ROW_BYTES:
            few.append(chosen)
            continue
        at_once = max(1, _BLOCK_BYTES // (size + FOOTER))
        windows = np.ndarray((len(content) - size - FOOTER + 1, size + FOOTER), np.uint8, content, 0, (1, 1))
        for begin in range(0, len(chosen), at_once):
            records = chosen[begin : begin + at_once]
            _alike(content, starts, windows[starts[records]], records, size, found)
    if few:
        _one_by_one(content, starts, sizes, np.sort(np.concatenate(few)), found)
    return found


def _by_size(sizes: Positions, records: Positions) -> list[Positions]:
    """Records of one size each, all the long ones together; where there are few at all, those together."""
    if len(records) < _FEW:
        return [records] if len(records) else []
    kinds = np.minimum(sizes[records], _ROW_BYTES + 1).astype(np.uint16)
    order = np.argsort(kinds, kind="stable")
    return np.split(records[order], np.flatnonzero(np.diff(kinds[order])) + 1)


def _in_cycles(content: bytes, starts: Positions, sizes: Positions, region: Region, found: Decoded) -> None:
    """Reads records whose lengths repeat: those of one length at several places of a cycle together, if all are in order."""
    places: dict[int, list[int]] = {}
    for at, size in enumerate(sizes[region.first : region.first + region.cycle].tolist()):
        places.setdefault(size, []).append(region.first + at)
    for size, firsts in places.items():
        if size > _ROW_BYTES:
            records = np.add.outer(firsts, region.cycle * np.arange(region.cycles)).ravel()
            _one_by_one(content, starts, sizes, np.sort(records), found)
            continue
        row_bytes = size + FOOTER
        at_once = max(1, _BLOCK_BYTES // row_bytes)
        together = max(1, at_once // region.cycles)
        for first in range(0, len(firsts), together):
            chosen = np.array(firsts[first : first + together])
            for begin in range(0, region.cycles, at_once):
                count = min(at_once, region.cycles - begin)
                records = chosen[:, None] + region.cycle * np.arange(begin, begin + count)
                rows = _rows(content, starts[records[:, 0]].tolist(), region.step, count, row_bytes)
                example = _recent.get(size)
                if example is None or not _in_order(content, starts, rows, records, example, found):
                    for tag in range(len(chosen)):
                        _alike(content, starts, rows[tag], records[tag], size, found)


def _rows(content: bytes, firsts: list[int], step: int, count: int, width: int) -> Bytes:
    """The bytes from each of `firsts` on and `count` times every `step` after it: shape (firsts, count, width)."""
    if len(firsts) == 1:
        return np.ndarray((1, count, width), np.uint8, content, firsts[0], (0, step, 1))
    rows = np.stack([np.ndarray(count, f"V{width}", content, first, (step,)) for first in firsts])
    return rows.view(np.uint8).reshape(len(firsts), count, width)


def _in_order(
    content: bytes, starts: Positions, rows: Bytes, records: Positions, example: Layout, found: Decoded
) -> bool:
    """Reads rows of one or more tags, shape (tags, rows, bytes), if all are like the example and whole; else reads none."""
    layouts = [one for one in (_like(example, row) for row in rows[:, 0]) if one is not None]
    changing = _changing(rows, example) if len(layouts) == len(rows) else None
    if changing is None:
        return False
    firsts = rows[:, 0, : example.size].copy()
    firsts[:, changing] = 0
    zeroed = np.array([[crc32c(one.tobytes())] for one in firsts], np.uint32)
    if not _whole(content, starts, rows, records, changing, zeroed).all():
        return False
    take_cycles(rows, records, example, layouts, found)
    return True


def _changing(rows: Bytes, example: Layout) -> Sequence[int] | None:
    """Which bytes differ from the first row of their tag; None when some do that are the same in records alike."""
    if len(example.changing) > _FREE_BYTES or example.size < WORD_BYTES:
        fixed = rows[:, :, : example.size] & example.keep
        return example.changing if (fixed == fixed[:, :1]).all() else None
    differ = 0
    for at, kept in example.words:
        words = rows[:, :, at : at + WORD_BYTES].view("<u8")
        bits = int(np.bitwise_or.reduce(words ^ words[:, :1], axis=None))
        if bits & kept:
            return None
        differ |= bits << 8 * at
    return [at for at, bits in enumerate(differ.to_bytes(example.size, "little")) if bits]


def _alike(content: bytes, starts: Positions, rows: Bytes, records: Positions, size: int, found: Decoded) -> None:
    """Reads records of one size, given with their checksums as rows."""
    for _ in range(_ROUNDS):
        if not len(rows):
            return
        example, begin = _recent.get(size), 0
        if example is None or _like(example, rows[0]) is None:
            example, begin = _first_readable(rows, records, size, found)
        if example is None:
            return
        _recent[size] = example
        rows, records = rows[begin:], records[begin:]
        if _in_order(content, starts, rows[None], records[None], example, found):
            return
        rest = _with_layout(content, starts, rows, records, size, example, found)
        rows, records = rows[rest], records[rest]
    for at in range(len(rows)):
        example, begin = _first_readable(rows[at : at + 1], records[at : at + 1], size, found)
        if example is not None:
            rest = _with_layout(content, starts, rows[at : at + 1], records[at : at + 1], size, example, found)
            found.bad.extend(records[at : at + 1][rest].tolist())


def _first_readable(rows: Bytes, records: Positions, size: int, found: Decoded) -> tuple[Layout | None, int]:
    """The layout of the first row that is whole, and its place; damaged ones before it are noted."""
    for at, row in enumerate(rows):
        one = _checked_layout(row[:size].tobytes(), row[size:].tobytes())
        if one is not None:
            return one, at
        found.bad.append(int(records[at]))
    return None, len(rows)


def _with_layout(
    content: bytes, starts: Positions, rows: Bytes, records: Positions, size: int, example: Layout, found: Decoded
) -> Positions:
    """Reads the rows that have this layout; returns the places of the others."""
    fixed = rows[:, :size] & example.keep
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
    zeroed = np.array([one.checksum for one in layouts], np.uint32).take(which)
    good = _whole(content, starts, rows, records, example.changing, zeroed)
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


def _whole(
    content: bytes, starts: Positions, rows: Bytes, records: Positions, changing: Sequence[int], zeroed: Checksums
) -> npt.NDArray[np.bool_]:
    """Which rows have the checksum they should; `zeroed` is that of each with zeros for the bytes that differ."""
    size = rows.shape[-1] - FOOTER
    if len(changing) > _FREE_BYTES:
        begins = starts[records.ravel()]
        crc = checksums(content, begins, np.full(len(begins), size, np.int64)).reshape(records.shape)
    else:
        crc = np.empty(records.shape, np.uint32)
        crc[...] = zeroed
        for at in changing:
            crc ^= share_of(size - 1 - at).take(rows[..., at])
    whole: npt.NDArray[np.bool_] = mask(crc) == rows[..., size:].view("<u4")[..., 0]
    return whole


def _one_by_one(content: bytes, starts: Positions, sizes: Positions, records: Positions, found: Decoded) -> None:
    """Reads long records, most of them media, and those like few others."""
    begins, ends = starts[records], starts[records] + sizes[records]
    if len(records) < _FEW:
        _in_full(content, records, begins, ends, found)
        return
    crc = mask(checksums(content, begins, sizes[records]))
    good = np.ndarray(len(content) - FOOTER + 1, "<u4", content, 0, (1,))[ends] == crc
    found.bad.extend(records[~good].tolist())
    records, begins, ends = records[good], begins[good], ends[good]
    quick = media_records(content, begins, ends)
    many = quick.which >= 0
    if many.any():
        media = [one.media[0] for one in quick.described]
        found.places.append(Places(media, quick.which[many], records[many], quick.step[many], quick.wall_time[many]))
        for one in quick.described:
            note(one, found)
    _in_full(content, records[~many], begins[~many], ends[~many], found)


def _in_full(content: bytes, records: Positions, begins: Positions, ends: Positions, found: Decoded) -> None:
    """Reads records one after the other."""
    tags: dict[tuple[str, bool], int] = {}
    points: list[tuple[int, int, int, float, float]] = []
    for record, begin, end in zip(records.tolist(), begins.tolist(), ends.tolist(), strict=True):
        one = _checked_layout(content[begin:end], content[end : end + FOOTER])
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
            rows = np.frombuffer(content, np.uint8, end - begin, begin)[None]
            take_rows(rows, np.array([record]), np.zeros(1, np.intp), one, [one], found)
    if points:
        which, record_of, steps, walls, values = zip(*points, strict=True)
        columns = np.array(record_of, np.int64), np.array(steps, np.int64), np.array(walls, np.float64)
        found.scalars.append(Scalars(list(tags), np.array(which, np.intp), *columns, np.array(values, np.float64)))


def _checked_layout(content: bytes, checksum: bytes) -> Layout | None:
    """None where the record is damaged or no message."""
    try:
        return layout(content) if masked(content) == int.from_bytes(checksum, "little") else None
    except Malformed:
        return None

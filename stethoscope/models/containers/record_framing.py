"""Where the records of an event file begin and end, and where they go on after damage.

A record is length (8 bytes), checksum of the length, content, checksum of the content.
Source: tensorflow/core/lib/io/record_writer.h.

CRC-32C as TensorBoard's record format stores it (masked), of one content or of many records alike at once.

Source: RFC 3720 appendix B.4 (polynomial 0x1EDC6F41, reflected 0x82F63B78); tensorflow/core/lib/hash/crc32c.h (mask). Many at
once by linearity: the checksum of a content is that of as many zeros, changed by the share of each byte.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import google_crc32c
import numpy as np
import numpy.typing as npt

HEADER, FOOTER = 12, 4
Positions = npt.NDArray[np.int64]

_MAX_KNOWN = 50_000
_AROUND = HEADER + FOOTER
_PATIENCE = 32
"""Records followed one by one before it is tried whether their lengths repeat."""
_HISTORY = 4_096
_CANDIDATES = 64
_FEW = 32
"""Records of a cycle up to which each is compared with its next ones, not all with all of the next cycle."""
_FASTER = 128
"""Times as many cycles compared at once after those before were alike."""
_SEARCHED = 256, 1 << 20
"""Bytes searched at once for the next record, at first and at most: it is mostly near."""


class Region(NamedTuple):
    """Records whose lengths repeat in cycles."""

    first: int
    """Index of its first record."""
    cycle: int
    """Records of one cycle."""
    cycles: int
    step: int
    """Bytes from a record to the same one of the next cycle."""


class Frames(NamedTuple):
    """Whole records found; shapes (records,)."""

    start: Positions
    """First byte of the content."""
    size: Positions
    """Bytes of the content."""
    end: int
    """Where the first record begins that is not whole."""
    damaged: bool
    """Whether that one's length fails its checksum; else it is only not all there."""
    regions: list[Region]
    """Ascending, and apart from each other."""


def length(head: bytes) -> int | None:
    """The length a header of 12 bytes carries; None where its checksum does not fit."""
    return int.from_bytes(head[:8], "little") if masked(head[:8]) == int.from_bytes(head[8:], "little") else None


def frame(content: bytes, known: dict[bytes, int]) -> Frames:
    """Follows the records from the first byte on. `known` remembers headers that were checked."""
    pieces: list[Positions] = []
    regions: list[Region] = []
    sizes: list[int] = []
    position = tried = before = 0
    patience, limit, damaged = _PATIENCE, len(content), False
    while True:
        head = content[position : position + HEADER]
        size = known.get(head)
        if size is None:
            if len(head) < HEADER:
                break
            size = length(head)
            if size is None:
                damaged = True
                break
            if len(known) >= _MAX_KNOWN:
                known.clear()
            known[head] = size
        following = position + size + _AROUND
        if following > limit:
            break
        sizes.append(size)
        position = following
        if len(sizes) - tried < patience:
            continue
        first, cycles, period = _cycles(sizes)
        end = first + cycles * period
        cycle, rest = np.array(sizes[first : first + period], np.int64), sizes[end:]
        begin = position - sum(rest) - _AROUND * len(rest)
        more = _repeated(content, begin, cycle) if cycles > 1 else 0
        if more * period - len(rest) < patience:
            tried, patience = len(sizes), min(2 * patience, _HISTORY)
            continue
        step = int((cycle + _AROUND).sum())
        pieces.extend((np.array(sizes[:end], np.int64), np.tile(cycle, more)))
        regions.append(Region(before + first, period, cycles + more, step))
        before, position = before + end + more * period, begin + more * step
        sizes, tried, patience = [], 0, _PATIENCE
    size_of = np.concatenate([*pieces, np.array(sizes, np.int64)])
    start = np.cumsum(size_of + _AROUND)
    start -= size_of + FOOTER
    return Frames(start, size_of, position, damaged, regions)


def _cycles(sizes: list[int]) -> tuple[int, int, int]:
    """(first record, cycles, records of one) of the whole cycles in which the last lengths repeat, from the earliest on."""
    period = _period(sizes)
    first = len(sizes) - period
    while first and sizes[first - 1] == sizes[first - 1 + period]:
        first -= 1
    return first, (len(sizes) - first) // period, period


def _period(sizes: list[int]) -> int:
    """After how many records the last lengths came before, as they do when every step writes the same tags; 1 if never."""
    last = np.array(sizes[-_HISTORY:], np.int64)
    same = last[:-1] == last[-1]
    for before in (1, 2):
        # Sizes that come often are no candidates each time: those before have to be the same too.
        same[before:] &= last[: -1 - before] == last[-1 - before]
    for at in np.flatnonzero(same)[::-1][:_CANDIDATES]:
        period = len(last) - 1 - int(at)
        if 2 * period > len(last):
            break
        if bool((last[-period:] == last[-2 * period : -period]).all()):
            return period
    return 1


def _repeated(content: bytes, position: int, cycle: Positions) -> int:
    """How many whole cycles of these lengths follow from `position` on."""
    step = int(cycle.sum()) + _AROUND * len(cycle)
    count = (len(content) - position) // step
    within = np.cumsum(cycle + _AROUND) - cycle - _AROUND
    good, at_once = 0, max(1, 2 * _PATIENCE // len(cycle))
    while good < count:
        more = min(at_once, count - good)
        alike = _cycles_alike(content, position + good * step, step, more, within)
        good += alike
        if alike < more:
            break
        at_once *= _FASTER
    return good


def _cycles_alike(content: bytes, position: int, step: int, count: int, within: Positions) -> int:
    """How many cycles have the headers of the one before `position`; `within` says where in a cycle they are."""
    if len(within) <= _FEW:
        return min(_alike(content, position + begin, step, count) for begin in within.tolist())
    heads = np.ndarray((len(content) - HEADER + 1, HEADER), np.uint8, content, 0, (1, 1))
    places = position + np.arange(count)[:, None] * step + within
    same = (heads[places] == heads[position - step + within]).all((1, 2))
    return count if same.all() else int(np.argmin(same))


def _alike(content: bytes, position: int, step: int, count: int) -> int:
    """How many headers, `step` bytes apart, are the same as the one that is `step` bytes before `position`."""
    heads = np.ndarray(count + 1, f"V{HEADER}", content, position - step, (step,))
    joined = heads.tobytes()
    if joined == joined[:HEADER] * (count + 1):
        return count
    return int(np.argmin(heads[1:] == heads[0]))


def next_header(content: bytes, position: int) -> int | None:
    """The first place from `position` on where a length below 4 GiB carries its right checksum; None where none is."""
    whole = np.frombuffer(content, np.uint8)
    last, at_once = len(content) - HEADER, _SEARCHED[0]
    while position <= last:
        count = min(last - position + 1, at_once)
        part = whole[position : position + count + HEADER]
        zero = part == 0
        at = np.flatnonzero(zero[4 : 4 + count] & zero[5 : 5 + count] & zero[6 : 6 + count] & zero[7 : 7 + count])
        if len(at):
            crc = np.full(len(at), crc32c(bytes(8)), np.uint32)
            stored = np.zeros(len(at), np.uint32)
            for byte in range(4):
                crc ^= share_of(7 - byte)[part[at + byte]]
                stored |= part[at + 8 + byte].astype(np.uint32) << np.uint32(8 * byte)
            fits = np.flatnonzero(mask(crc) == stored)
            if len(fits):
                return position + int(at[fits[0]])
        position, at_once = position + count, min(4 * at_once, _SEARCHED[1])
    return None


Bytes = npt.NDArray[np.uint8]
Checksums = npt.NDArray[np.uint32]

_MASK = 0xA282EAD8
_ZERO_BYTE = google_crc32c.value(b"\x00")
_ENTRIES: Checksums = np.array([google_crc32c.value(bytes([byte])) ^ _ZERO_BYTE for byte in range(256)], np.uint32)
"""What each value of a byte does to the checksum it ends."""


def crc32c(content: bytes) -> int:
    """The checksum of `content`."""
    return int(google_crc32c.value(content))


def masked(content: bytes) -> int:
    """The checksum as it is stored beside the content."""
    crc: int = google_crc32c.value(content)
    return (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFFFFFF


def mask(crc: Checksums) -> Checksums:
    """Checksums as they are stored."""
    return ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(_MASK)


def share_of(following: int) -> Checksums:
    """What each of the 256 values of a byte adds to a checksum when `following` bytes come after it (shape (256,))."""
    known = _shares()
    while len(known) <= following:
        known.append(_after_one(known[-1]))
    return known[following]


@functools.cache
def _shares() -> list[Checksums]:
    return [_ENTRIES]


def _after_one(crc: Checksums) -> Checksums:
    return np.asarray((crc >> np.uint32(8)) ^ _ENTRIES[crc & np.uint32(0xFF)], np.uint32)


def checksums(content: bytes, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> Checksums:
    """The checksums of many parts of `content`; shapes (parts,)."""
    of, ends = google_crc32c.value, (starts + sizes).tolist()
    found = [of(content[begin:end]) for begin, end in zip(starts.tolist(), ends, strict=True)]
    return np.array(found, np.uint32)

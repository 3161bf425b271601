"""One TensorBoard event file, read as far as it goes and again where it goes on: fast, with bounds, without TensorBoard.

A record whose content is damaged loses itself; after a damaged length the next one whose checksum fits is looked for, inside
the record before it too when that one is damaged (a writer that died within a record and one that went on after it).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from typing import Any, Self

from stethoscope.logs.event_columns import decode
from stethoscope.logs.event_points import EventPoints
from stethoscope.logs.series import Health, Place
from stethoscope.models.containers.record_framing import FOOTER, HEADER, frame, length, next_header

MAX_POINTS = 8_000_000
"""Scalars kept of one file: 192 MB."""
MAX_RECORD_BYTES = 256 << 20
"""A longer record is passed over unread."""
_CHUNK_BYTES = 4 << 20
_CAREFUL_BYTES = 64 << 10
"""Read at once after damage, so that a file damaged everywhere is not read again and again."""
_MAX_PLACES = 100
_TAIL_BYTES = 32
"""Of what was read, held against the file the next time: the checksums in it tell one file from another."""


def _before(stream: FileIO, position: int) -> bytes:
    """The last bytes before a position."""
    begin = max(position - _TAIL_BYTES, 0)
    stream.seek(begin)
    return stream.read(position - begin) or b""


def is_event_file(path: Path) -> bool:
    """Whether the file begins with a record whose length carries its right checksum."""
    with path.open("rb", buffering=0) as stream:
        head = stream.read(HEADER)
    return len(head) == HEADER and length(head) is not None


class EventReader:
    """Reads one event file; `poll` takes in what was appended since.

    Damage is counted, never raised. Bytes are read, not mapped: a file cut short under a mapping kills the process.
    """

    def __init__(self, path: Path, limit: int = MAX_POINTS) -> None:
        self.path = path
        self.limit = limit
        self._known: dict[bytes, int] = {}
        self._begin_anew()
        self._started_over = 0
        self.modified_s = 0.0
        """When the file had last been written, as of the last `poll`: seconds since 1970."""

    @classmethod
    def resumed(cls, path: Path, state: Mapping[str, Any]) -> Self:
        """A reader that goes on where another one stopped, in another process perhaps; it has none of that one's points."""
        reader = cls(path)
        reader._position, reader._identity, reader._bad = state["position"], state["identity"], state["bad"]
        reader._tail = bytes.fromhex(state["tail"])
        reader._resynchronised, reader._truncated = list(state["resynchronised"]), state["truncated"]
        reader._searching, reader._suspect, reader._went_back = state["searching"], state["suspect"], state["went_back"]
        reader._started_over, reader.modified_s = state["started_over"], state["modified_s"]
        points = reader.points
        points.count, points.media_count = state["count"], state["media_count"]
        points.plugins, points.parameters = dict(state["plugins"]), dict(state["parameters"])
        points.refused = set(state["refused"])
        return reader

    def state(self) -> dict[str, Any]:
        """What `resumed` needs, as JSON values."""
        return {
            "position": self._position,
            "tail": self._tail.hex(),
            "identity": self._identity,
            "bad": self._bad,
            "resynchronised": list(self._resynchronised),
            "truncated": self._truncated,
            "searching": self._searching,
            "suspect": self._suspect,
            "went_back": self._went_back,
            "started_over": self._started_over,
            "modified_s": self.modified_s,
            "count": self.points.count,
            "media_count": self.points.media_count,
            "plugins": dict(self.points.plugins),
            "parameters": dict(self.points.parameters),
            "refused": sorted(self.points.refused),
        }

    def _begin_anew(self) -> None:
        self.points = EventPoints()
        self._position = 0
        self._tail = b""
        """The last bytes before `_position`."""
        self._identity = 0
        self._bad = 0
        self._resynchronised: list[int] = []
        self._truncated = 0
        self._searching = False
        self._suspect: int | None = None
        """Where the record before `_position` begins, when that one is damaged."""
        self._went_back = 0
        self._wanted = _CHUNK_BYTES

    @property
    def started_over(self) -> int:
        """How often the file was written anew, so that what had been read of it is void."""
        return self._started_over

    def poll(self) -> bool:
        """Takes in whole records written since the last time; returns whether anything changed.

        Raises:
            OSError: the file cannot be opened or read.
        """
        with self.path.open("rb", buffering=0) as stream:
            status = os.fstat(stream.fileno())
            before = (self._started_over, self._position, self._truncated, self._bad)
            if self._is_another(stream, status):
                self._begin_anew()
                self._started_over += 1
            self._identity, self.modified_s = status.st_ino, status.st_mtime
            self._truncated = 0
            while self._position < status.st_size and self.points.count < self.limit:
                stream.seek(self._position)
                content = stream.read(min(self._wanted, status.st_size - self._position))
                going_on = bool(content) and self._take(content, status.st_size)
                # Its memory is where the next is read to: fresh memory costs more than reading.
                del content
                if not going_on:
                    break
            self._tail = _before(stream, self._position)
        return before != (self._started_over, self._position, self._truncated, self._bad)

    def _is_another(self, stream: FileIO, status: os.stat_result) -> bool:
        """Whether the file is no longer the one that was read so far: replaced, or cut and written over."""
        if status.st_size < self._position or (self._identity and status.st_ino != self._identity):
            return True
        return status.st_mtime != self.modified_s and _before(stream, self._position) != self._tail

    def health(self, name: str) -> Health:
        """How whole the file is; `name` is what it is called."""
        said = sorted(self.points.refused)
        if self.points.count >= self.limit:
            said.append(f"only the first {self.points.count:,} points of {name} were read")
        if self._started_over:
            said.append(f"{name} was written anew while it was read")
        places = tuple(Place(name, at) for at in self._resynchronised)
        return Health(self._bad, places, self._truncated, (), tuple(said))

    def _take(self, content: bytes, size: int) -> bool:
        """Takes in what was read at the position; False when the rest has to be written first."""
        at_end = self._position + len(content) >= size
        if self._searching:
            return self._search(content, at_end)
        found = frame(content, self._known)
        if len(found.start):
            decoded = decode(content, found.start, found.size, found.regions)
            offset = self._position
            self.points.add(decoded, found.start + offset, found.size)
            self._bad += len(decoded.bad)
            last = len(found.start) - 1
            self._suspect = int(found.start[last]) + offset - HEADER if last in decoded.bad else None
            self._position += found.end
            self._wanted = min(2 * self._wanted, _CHUNK_BYTES) if self._wanted <= _CHUNK_BYTES else _CHUNK_BYTES
        if found.damaged:
            return self._damaged(content[found.end :], at_end)
        return bool(len(found.start)) or self._incomplete(content, size)

    def _incomplete(self, content: bytes, size: int) -> bool:
        """The first record is not all in what was read: reads more, passes over it, or waits for it."""
        rest = size - self._position
        needed = HEADER if len(content) < HEADER else HEADER + int.from_bytes(content[:8], "little") + FOOTER
        if needed > rest:
            self._truncated = rest
            return False
        if needed - HEADER - FOOTER > MAX_RECORD_BYTES:
            self.points.refused.add(f"a record of {needed:,} bytes was left out")
            self._position += needed
            self._suspect = None
        else:
            self._wanted = needed
        return True

    def _damaged(self, rest: bytes, at_end: bool) -> bool:
        """The length of the record at the position is damaged; `rest` was read from there on."""
        if at_end and not any(rest):
            # A file system may lengthen a file before it has its bytes: zeros at the end are still to be written.
            self._truncated = len(rest)
            return False
        if self._suspect is None:
            self._bad += 1
            self._position += 1
        elif self._went_back < _MAX_PLACES:
            self._position = self._suspect + 1
            self._went_back += 1
        self._wanted = _CAREFUL_BYTES
        self._suspect, self._searching = None, True
        return True

    def _search(self, content: bytes, at_end: bool) -> bool:
        found = next_header(content, 0)
        if found is not None:
            self._position += found
            self._searching = False
            if len(self._resynchronised) < _MAX_PLACES:
                self._resynchronised.append(self._position)
            return True
        self._position += max(len(content) - HEADER + 1, 0)
        self._wanted = min(2 * self._wanted, _CHUNK_BYTES)
        return not at_end

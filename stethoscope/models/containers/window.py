"""A part of a file as a file of its own: nothing is copied."""

from __future__ import annotations

import io
from typing import IO, Any


class Window(io.RawIOBase):
    """Read-only view of `length` bytes of `stream` from `start`."""

    def __init__(self, stream: IO[bytes], start: int, length: int) -> None:
        super().__init__()
        self._stream, self._start, self._length, self._position = stream, start, length, 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Position within the window."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves within the window; past its end is allowed and reads nothing."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._length}[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        """Reads into a writable buffer."""
        view = memoryview(buffer).cast("B")
        wanted = max(0, min(len(view), self._length - self._position))
        if not wanted:
            return 0
        self._stream.seek(self._start + self._position)
        data = self._stream.read(wanted)
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

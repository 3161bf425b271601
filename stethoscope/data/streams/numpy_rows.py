"""One .npy by its rows: what is asked for is read, wherever the array lies (a file, a stored or a deflated member).

The header of a .npy, checked before anything is allocated; pickles are refused by what the header says.
"""

from __future__ import annotations

import ast
import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.errors import OverBudget, TooLarge, UnreadableFile, UnsafeFile
from stethoscope.models.containers.damage import ARCHIVE

Array = npt.NDArray[Any]
_NEAR_ROWS = 64
"""Rows skipped by reading over them, when rows are asked for that are not next to each other."""


class ArrayRows:
    """An array of a file, read by rows."""

    def __init__(self, subject: str, stream: IO[bytes], size_bytes: int, budget_bytes: int) -> None:
        """Reads the header.

        Args:
            subject: what to call the array in error texts.
            stream: seekable, at the beginning of the .npy.
            size_bytes: bytes of the .npy.
            budget_bytes: of memory, for an array that can only be read whole.

        Raises:
            UnreadableFile, UnsafeFile: as `read_header`, or not one whole row is there.
            TooLarge: it declares more than `budget_bytes` without holding it.
        """
        self._subject, self._stream, self._budget = subject, stream, budget_bytes
        try:
            self.header = read_header(subject, stream.read(MAX_HEADER_BYTES))
        except ARCHIVE as error:
            raise UnreadableFile(f"{subject}: the array is damaged ({error}). Save it again.") from error
        held = size_bytes - self.header.begins
        self.rows = self.header.rows
        self.missing_rows = 0
        """Rows it declares beyond the end of the file."""
        if self.header.bytes > held:
            row = self.header.row_bytes
            whole = 0 if self.header.fortran or not self.header.shape or row == 0 else held // row
            if self.header.bytes > budget_bytes and whole < 1:
                raise TooLarge(
                    f"{subject}: declares {self.header.bytes:,} bytes, the limit is {budget_bytes:,}. Send fewer rows."
                )
            if whole < 1:
                raise UnreadableFile(
                    f"{subject}: declares {self.header.bytes:,} bytes, the file holds {max(0, held):,}. Save it again."
                )
            self.missing_rows, self.rows = self.rows - whole, whole
        self._whole: Array | None = None

    def between(self, start: int, stop: int) -> Array:
        """Rows `start` to `stop`, clipped to those that are there.

        Raises:
            UnreadableFile: the bytes are damaged.
            TooLarge: they take more than the budget.
        """
        start, stop = max(0, start), min(stop, self.rows)
        count = max(0, stop - start)
        if self.header.fortran and len(self.header.shape) > 1:
            return self.all()[start:stop].copy()
        size = count * self.header.row_bytes
        self._check(size)
        content = self._bytes(self.header.begins + start * self.header.row_bytes, size)
        rows = np.frombuffer(content, self.header.dtype).reshape((count, *self.header.shape[1:]))
        return rows.copy() if rows.dtype.isnative else rows.astype(rows.dtype.newbyteorder("="))

    def at(self, places: Sequence[int]) -> dict[int, Array]:
        """The rows at `places`, each once, read from the first to the last; those beyond the end are left out."""
        wanted = sorted({place for place in places if 0 <= place < self.rows})
        found: dict[int, Array] = {}
        first = 0
        while first < len(wanted):
            last = first
            while last + 1 < len(wanted) and wanted[last + 1] - wanted[last] <= _NEAR_ROWS // 16 + 1:
                last += 1
            part = self.between(wanted[first], wanted[last] + 1)
            for place in wanted[first : last + 1]:
                found[place] = part[place - wanted[first]]
            first = last + 1
        return found

    def all(self) -> Array:
        """The array whole.

        Raises:
            TooLarge: it takes more than the budget.
            UnreadableFile: it is damaged, or not all there.
        """
        if self._whole is not None:
            return self._whole
        self._check(self.header.bytes)
        if self.missing_rows:
            raise UnreadableFile(
                f"{self._subject}: declares {self.header.rows:,} rows, the file ends after {self.rows:,}. Save it again."
            )
        content = self._bytes(self.header.begins, self.header.bytes)
        order: Literal["F", "C"] = "F" if self.header.fortran else "C"
        self._whole = np.frombuffer(content, self.header.dtype).reshape(self.header.shape, order=order)
        if not self._whole.dtype.isnative:
            self._whole = self._whole.astype(self._whole.dtype.newbyteorder("="))
        return self._whole

    def _check(self, size: int) -> None:
        if size > self._budget:
            raise OverBudget(
                f"{self._subject}: takes {size:,} bytes, the limit is {self._budget:,}. Send fewer rows.", size
            )

    def _bytes(self, position: int, size: int) -> bytearray:
        content = bytearray(size)
        view = memoryview(content)
        done = 0
        try:
            self._stream.seek(position)
            while done < size:
                part = self._stream.read(min(size - done, 8 << 20))
                if not part:
                    raise EOFError("it ends early")
                view[done : done + len(part)] = part
                done += len(part)
        except ARCHIVE as error:
            raise UnreadableFile(f"{self._subject}: the array is damaged ({error}). Save it again.") from error
        finally:
            view.release()
        return content


def is_npy(path: Path) -> bool:
    """Whether the file begins like a .npy."""
    with path.open("rb") as stream:
        return stream.read(6) == b"\x93NUMPY"


MAGIC = b"\x93NUMPY"
MAX_HEADER_BYTES = 64 << 10
_DESCR = re.compile(r"[<>|=]?([?bBiufcSUO])(\d*)")


@dataclass(frozen=True)
class Header:
    """What a .npy says about itself."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    begins: int
    """Where the numbers begin, in bytes."""

    @property
    def bytes(self) -> int:
        """Bytes of all its numbers."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def rows(self) -> int:
        """Its first dimension; 1 for a single number."""
        return self.shape[0] if self.shape else 1

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return math.prod(self.shape[1:]) * self.dtype.itemsize


def read_header(subject: str, head: bytes) -> Header:
    """Reads a header from a file's first bytes (up to `MAX_HEADER_BYTES`).

    Raises:
        UnreadableFile: no valid header.
        UnsafeFile: an object array, which only pickle could read.
    """
    if head[:6] != MAGIC or len(head) < 12:
        raise UnreadableFile(f"{subject}: expected a NumPy array, got other content. Save it with numpy.save.")
    wide = head[6] >= 2
    size = struct.unpack("<I", head[8:12])[0] if wide else struct.unpack("<H", head[8:10])[0]
    start = 12 if wide else 10
    try:
        header = ast.literal_eval(head[start : start + size].decode("latin-1"))
        shape, descr = tuple(int(part) for part in header["shape"]), header["descr"]
        fortran = bool(header["fortran_order"])
        kind = _DESCR.fullmatch(descr) if isinstance(descr, str) else None
    except (ValueError, SyntaxError, KeyError, TypeError, RecursionError, MemoryError, OverflowError) as error:
        raise UnreadableFile(f"{subject}: the array's header is damaged. Save it again.") from error
    if kind is None or any(part < 0 for part in shape) or len(shape) > 32:
        raise UnreadableFile(
            f"{subject}: expected plain numbers or text, got dtype {str(descr)[:80]}. Convert it first."
        )
    if kind[1] == "O":
        raise UnsafeFile(
            f"{subject}: holds Python objects, which only pickle can read; they are not accepted. "
            "Convert to numbers or text."
        )
    try:
        dtype = np.dtype(descr)
    except (TypeError, ValueError, OverflowError) as error:
        raise UnreadableFile(f"{subject}: the array's dtype {descr[:80]!r} does not exist. Save it again.") from error
    return Header(shape, dtype, fortran, start + size)

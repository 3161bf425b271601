"""The header of a .npy, checked before anything is allocated; pickles are refused by what the header says."""

from __future__ import annotations

import ast
import math
import re
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from stethoscope.errors import UnreadableFile, UnsafeFile

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

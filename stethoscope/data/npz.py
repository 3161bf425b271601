"""NumPy archives: .npz and .npy, checked by their headers before anything is allocated; pickles are never read."""

from __future__ import annotations

import ast
import math
import re
import struct
from pathlib import Path

import numpy as np

from stethoscope.containers.archive import Archive, open_archive
from stethoscope.errors import TooLarge, UnreadableFile, UnsafeFile
from stethoscope.types import Feed, ModelFile

_MAGIC = b"\x93NUMPY"
_MAX_HEADER_BYTES = 64 << 10
_DESCR = re.compile(r"[<>|=]?([?bBiufcSUO])(\d*)")


class NumpyReader:
    """Reads arrays by name; a lone .npy is called "x"."""

    id = "numpy"
    extensions = (".npz", ".npy")

    def sniff(self, file: ModelFile) -> bool:
        """Whether the content is a .npy, or a zip that holds some."""
        with file.path.open("rb") as stream:
            head = stream.read(6)
        if head == _MAGIC:
            return True
        if not head.startswith(b"PK\x03\x04"):
            return False
        with open_archive(file) as archive:
            return any(name.endswith(".npy") for name in archive.names)

    def read(self, file: ModelFile, budget_bytes: int) -> Feed:
        """Returns every array, by name.

        Raises:
            UnreadableFile: not NumPy's format, or damaged.
            UnsafeFile: it holds Python objects (a pickle).
            TooLarge: its arrays declare more than `budget_bytes`.
        """
        with file.path.open("rb") as stream:
            head = stream.read(6)
        if head == _MAGIC:
            with file.path.open("rb") as stream:
                _check_header(file.name, stream.read(_MAX_HEADER_BYTES), budget_bytes)
            return {"x": _load(file, file.path)}
        if not head.startswith(b"PK\x03\x04"):
            raise UnreadableFile(
                f"{file.name}: expected a NumPy .npz or .npy, got other content. Save it with numpy.savez."
            )
        with open_archive(file) as archive:
            return _read_archive(file, archive, budget_bytes)


def _read_archive(file: ModelFile, archive: Archive, budget_bytes: int) -> Feed:
    names = [name for name in archive.names if name.endswith(".npy")]
    if not names:
        raise UnreadableFile(f"{file.name}: holds no .npy arrays. Save it with numpy.savez(path, x=…).")
    total = 0
    for name in names:
        with archive.open(name) as stream:
            total += _check_header(f"{file.name}: {name}", stream.read(_MAX_HEADER_BYTES), budget_bytes)
        if total > budget_bytes:
            raise TooLarge(
                f"{file.name}: its arrays declare {total:,} bytes, the limit is {budget_bytes:,}. Send fewer rows."
            )
    feed: Feed = {}
    for name in names:
        with archive.open(name) as stream:
            try:
                feed[name.removesuffix(".npy")] = np.lib.format.read_array(stream, allow_pickle=False)
            except (ValueError, EOFError, OSError) as error:
                raise UnreadableFile(f"{file.name}: array {name!r} is damaged ({error}). Save it again.") from error
    return feed


def _load(file: ModelFile, path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    try:
        array: np.ndarray[tuple[int, ...], np.dtype[np.generic]] = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise UnreadableFile(f"{file.name}: the array is damaged ({error}). Save it again.") from error
    return array


def _check_header(subject: str, head: bytes, budget_bytes: int) -> int:
    """Returns the bytes an array declares.

    Raises:
        UnreadableFile: no valid header.
        UnsafeFile: an object array.
        TooLarge: over the budget.
    """
    if head[:6] != _MAGIC or len(head) < 12:
        raise UnreadableFile(f"{subject}: expected a NumPy array, got other content. Save it with numpy.save.")
    wide = head[6] >= 2
    size = struct.unpack("<I", head[8:12])[0] if wide else struct.unpack("<H", head[8:10])[0]
    start = 12 if wide else 10
    try:
        header = ast.literal_eval(head[start : start + size].decode("latin-1"))
        shape, descr = tuple(int(part) for part in header["shape"]), header["descr"]
        kind = _DESCR.fullmatch(descr) if isinstance(descr, str) else None
    except (ValueError, SyntaxError, KeyError, TypeError, RecursionError, MemoryError) as error:
        raise UnreadableFile(f"{subject}: the array's header is damaged. Save it again.") from error
    if kind is None or any(part < 0 for part in shape):
        raise UnreadableFile(
            f"{subject}: expected plain numbers or text, got dtype {str(descr)[:80]}. Convert it first."
        )
    if kind[1] == "O":
        raise UnsafeFile(
            f"{subject}: holds Python objects, which only pickle can read; they are not accepted. Convert to numbers or text."
        )
    width = int(kind[2] or 1) * (4 if kind[1] == "U" else 1)
    declared = math.prod(shape) * width
    if declared > budget_bytes:
        raise TooLarge(f"{subject}: declares {declared:,} bytes, the limit is {budget_bytes:,}. Send fewer rows.")
    return declared


READER = NumpyReader()

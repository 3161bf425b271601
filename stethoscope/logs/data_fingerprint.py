"""A plain fingerprint of data, for those who use no tracker of versions: the same exactly when the values are.

It does not depend on how values are stored: a .npy, a lone array of an .npz and a .csv of the same numbers agree, and so
do float32 and float64 where every value is the same number. Tables with texts, gaps or numbers beyond 2^53 agree with
other tables only.
"""

from __future__ import annotations

import csv
import hashlib
import io
import struct
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.npz import READER
from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.logs.walk import MAX_FILES, listing
from stethoscope.types import ModelFile

MAX_ROWS_SORTED = 1_000_000
"""Rows up to which another order of the same rows is recognised."""
MAX_DATA_BYTES = 2 << 30
_CHUNK_BYTES = 8 << 20
_EXACT = 1 << 53
_TABLES = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True)
class ArrayFingerprint:
    """One array, table or file."""

    name: str
    sha256: str
    """Of shape and values in row-major order, numbers as doubles."""
    shape: tuple[int, ...]
    dtype: str
    """As stored; "text" for a table with texts, "bytes" for a file taken as it is. No part of `sha256`."""
    any_order: str = ""
    """The same for the same rows in any order; empty above `MAX_ROWS_SORTED` rows and for files taken as they are."""

    @property
    def rows(self) -> int:
        """Length of the first axis; 1 for a single number."""
        return self.shape[0] if self.shape else 1


@dataclass(frozen=True)
class DataFingerprint:
    """A file or a folder of them."""

    sha256: str
    """Of all parts; of a lone part its own, whatever its name."""
    parts: tuple[ArrayFingerprint, ...]
    """By name."""


def fingerprint(arrays: Mapping[str, npt.NDArray[Any]]) -> DataFingerprint:
    """The fingerprint of arrays by name. Memory stays at some chunks of 8 MB, and 16 bytes per row."""
    return _together([_array(name, array) for name, array in arrays.items()])


def fingerprint_of(place: Path, budget_bytes: int = MAX_DATA_BYTES) -> DataFingerprint:
    """The fingerprint of a file (.npy, .npz, .csv, .tsv by value, others by their bytes) or of all files of a folder.

    Raises:
        UnreadableFile: a table or array file is damaged, or a folder is empty.
        UnsafeFile: an array file holds Python objects.
        TooLarge: arrays or tables declare more than `budget_bytes`, or there are very many files.
    """
    if place.is_file():
        return _together(_file(place, budget_bytes))
    parts: list[ArrayFingerprint] = []
    found = listing(place)
    if not found.complete:
        raise TooLarge(
            f"{place.name}: expected at most {MAX_FILES:,} files, got more. Pack them into one archive first."
        )
    for path in (Path(one.path) for one in found.files):
        inner = _file(path, budget_bytes)
        name = path.relative_to(place).as_posix()
        for part in inner:
            full = name if len(inner) == 1 else f"{name}:{part.name}"
            parts.append(ArrayFingerprint(full, part.sha256, part.shape, part.dtype, part.any_order))
    if not parts:
        raise UnreadableFile(f"{place.name}: expected data files, got an empty folder. Send the folder with the data.")
    return _together(parts)


def changes(before: DataFingerprint, after: DataFingerprint) -> tuple[str, ...]:
    """What differs, a sentence per part; empty when the values are the same."""
    if before.sha256 == after.sha256:
        return ()
    old = {part.name: part for part in before.parts}
    new = {part.name: part for part in after.parts}
    if len(old) == len(new) == 1:
        return (_change(before.parts[0], after.parts[0]),)
    said = []
    for name in sorted({*old, *new}):
        if name not in old or name not in new:
            said.append(f"{name} {'was added' if name in new else 'is gone'}.")
        elif old[name].sha256 != new[name].sha256:
            said.append(_change(old[name], new[name]))
    return tuple(said)


def _change(old: ArrayFingerprint, new: ArrayFingerprint) -> str:
    if old.any_order and old.any_order == new.any_order:
        return f"{new.name}: the same {new.rows:,} rows in another order."
    if old.shape[1:] != new.shape[1:] and "bytes" not in (old.dtype, new.dtype):
        return f"{new.name}: the shape went from {old.shape} to {new.shape}."
    unit = "bytes" if new.dtype == "bytes" else "rows"
    if old.rows != new.rows:
        return f"{new.name}: {old.rows:,} → {new.rows:,} {unit} ({new.rows - old.rows:+,})."
    kind = "" if old.dtype == new.dtype else f", stored as {new.dtype} instead of {old.dtype}"
    return f"{new.name}: other values in the same {new.rows:,} {unit}{kind}."


def _together(parts: list[ArrayFingerprint]) -> DataFingerprint:
    ordered = tuple(sorted(parts, key=lambda part: part.name))
    if len(ordered) == 1:
        return DataFingerprint(ordered[0].sha256, ordered)
    total = hashlib.sha256()
    for part in ordered:
        total.update(_framed(part.name) + part.sha256.encode())
    return DataFingerprint(total.hexdigest(), ordered)


def _file(path: Path, budget_bytes: int) -> list[ArrayFingerprint]:
    with path.open("rb") as stream:
        head = stream.read(6)
    if path.suffix.lower() in (".npy", ".npz") and (head == b"\x93NUMPY" or head.startswith(b"PK\x03\x04")):
        with READER.open(ModelFile.at(path), budget_bytes, {}) as data:
            feed = data.whole() or {}
        return [_array(path.name if len(feed) == 1 else name, array) for name, array in feed.items()]
    if path.suffix.lower() in _TABLES:
        if path.stat().st_size > budget_bytes:
            raise TooLarge(f"{path.name}: the table is larger than {budget_bytes:,} bytes. Send fewer rows.")
        return [_table(path, _TABLES[path.suffix.lower()])]
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return [ArrayFingerprint(path.name, digest, (path.stat().st_size,), "bytes")]


def _array(name: str, array: npt.NDArray[Any]) -> ArrayFingerprint:
    kind = _kind(array)
    shape = array.shape
    while len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    total = hashlib.sha256(f"{kind} {shape}".encode())
    rows: list[bytes] | None = [] if array.ndim > 0 and len(array) <= MAX_ROWS_SORTED else None
    for chunk in _chunks(array):
        if kind == "text":
            lines = [b"".join(_framed(cell) for cell in row) for row in chunk.reshape(len(chunk), -1).tolist()]
            total.update(b"".join(lines))
        else:
            content = _canonical(chunk, kind).tobytes()
            width = len(content) // len(chunk)
            total.update(content)
            lines = (
                [] if rows is None else [content[at : at + width] for at in range(0, width * len(chunk), width or 1)]
            )
        if rows is not None:
            rows.extend(hashlib.blake2b(line, digest_size=16).digest() for line in lines)
    return ArrayFingerprint(name, total.hexdigest(), array.shape, str(array.dtype), _any_order(kind, rows))


def _any_order(kind: str, rows: list[bytes] | None) -> str:
    if rows is None:
        return ""
    return hashlib.sha256(kind.encode() + b"".join(sorted(rows))).hexdigest()


def _chunks(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """Some rows at a time; of a single number its one."""
    whole = array.reshape(1) if array.ndim == 0 else array
    if not whole.size:
        return
    step = max(1, _CHUNK_BYTES // max(1, whole[:1].size * 8))
    for start in range(0, len(whole), step):
        yield whole[start : start + step]


def _kind(array: npt.NDArray[Any]) -> str:
    """What its values are written as: "number" wherever every one of them is a double."""
    kind = array.dtype.kind
    if kind in "bf":
        return "number"
    if kind in "iu":
        if array.size and (int(array.max()) > _EXACT or int(array.min()) < -_EXACT):
            return "signed" if int(array.max()) < 1 << 63 else "unsigned"
        return "number"
    return {"c": "complex", "U": "text", "S": "text"}.get(kind, str(array.dtype))


def _canonical(chunk: npt.NDArray[Any], kind: str) -> npt.NDArray[Any]:
    """Little-endian and contiguous; one zero, one NaN."""
    if kind in ("signed", "unsigned"):
        return np.ascontiguousarray(chunk, "<i8" if kind == "signed" else "<u8")
    if kind not in ("number", "complex"):
        return np.ascontiguousarray(chunk)
    plain = np.ascontiguousarray(chunk, "<f8" if kind == "number" else "<c16").view("<f8") + 0.0
    plain[np.isnan(plain)] = np.nan
    return plain


def _framed(cell: object) -> bytes:
    content = cell if isinstance(cell, bytes) else str(cell).encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(content)) + content


def _table(path: Path, delimiter: str) -> ArrayFingerprint:
    """A table by its numbers; by its cells when there are texts, gaps or numbers a double does not hold."""
    try:
        text = path.read_bytes().decode("utf-8-sig", "surrogateescape")
        first = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error as error:
        raise UnreadableFile(f"{path.name}: expected a table, got damaged rows ({error}). Save it again.") from error
    header = bool(first) and not any(_number(cell) is not None for cell in first)
    lines = io.StringIO(text)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "loadtxt: input contained no data", UserWarning)
            numbers = np.loadtxt(
                lines, delimiter=delimiter, skiprows=int(header), comments=None, quotechar='"', ndmin=2
            )
    except ValueError:
        return _cells(path, text, delimiter)
    if not numbers.size or bool(np.any(np.abs(numbers) >= _EXACT)):
        return _cells(path, text, delimiter)
    return _array(path.name, numbers)


def _cells(path: Path, text: str, delimiter: str) -> ArrayFingerprint:
    total, rows, width, count = hashlib.sha256(b"table"), [], 0, 0
    try:
        for cells in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            line = struct.pack("<Q", len(cells)) + b"".join(_framed(_plain(cell)) for cell in cells)
            total.update(line)
            rows.append(hashlib.blake2b(line, digest_size=16).digest())
            width, count = max(width, len(cells)), count + 1
    except csv.Error as error:
        raise UnreadableFile(f"{path.name}: expected a table, got damaged rows ({error}). Save it again.") from error
    kept = rows if count <= MAX_ROWS_SORTED else None
    return ArrayFingerprint(path.name, total.hexdigest(), (count, width), "text", _any_order("table", kept))


def _plain(cell: str) -> str:
    """ "1", "1.0" and "1e0" are one cell; a number a double may not hold stays as written."""
    number = _number(cell)
    return cell if number is None or abs(number) >= _EXACT else repr(number + 0.0)


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None

"""The weights in a file, read piece by piece."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stethoscope.models.model_format import Pieces, WeightsByLayer
from stethoscope.types import ModelFile

if TYPE_CHECKING:
    import numpy.typing as npt

_PIECES_HELD = 8
CHUNK_VALUES = 1 << 20
"""Values read at a time: 8 MiB as float64."""


@contextmanager
def opened(file: ModelFile) -> Iterator[WeightsByLayer]:
    """Yields the weights of every layer; none is read before its `pieces` are asked for.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge: as `Format.describe`.
    """
    from stethoscope.models.formats import detect

    with detect(file).weights(file) as found:
        yield found


def buffer_pieces(view: memoryview, begin: int, dtype: str, count: int) -> Pieces:
    """Reads plain little-endian values of a buffer from byte `begin`; bfloat16 is widened, 4-bit integers are unpacked.

    Pieces are copies: an array on mapped memory would keep the file from being unmapped.
    """

    def part(start: int, stop: int) -> bytes:
        return bytes(view[begin + start : begin + stop])

    def read() -> Iterator[npt.NDArray[Any]]:
        import numpy as np

        for number, start in enumerate(range(0, count, CHUNK_VALUES)):
            stop = min(count, start + CHUNK_VALUES)
            if number % _PIECES_HELD == _PIECES_HELD - 1:
                _let_go(view)
            if dtype == "bfloat16":
                raw = np.frombuffer(part(2 * start, 2 * stop), "<u2")
                yield (raw.astype("<u4") << 16).view("<f4")
            elif dtype in ("int4", "uint4"):
                packed = np.frombuffer(part(start // 2, (stop + 1) // 2), np.uint8)
                nibbles = np.stack([packed & 15, packed >> 4], -1).ravel()[: stop - start].astype(np.int8)
                yield np.where(nibbles > 7, nibbles - 16, nibbles) if dtype == "int4" else nibbles
            else:
                kind = np.dtype(_NUMPY.get(dtype, dtype)).newbyteorder("<")
                yield np.frombuffer(part(start * kind.itemsize, stop * kind.itemsize), kind)

    return read


_NUMPY = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}
_READ = (
    "float16 float32 float64 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool complex64 complex128 int4 uint4 "
    "qint8 quint8 qint16 quint16 qint32"
)
PLAIN = frozenset(_READ.split())
"""Dtypes that `buffer_pieces` reads."""


def _let_go(view: memoryview) -> None:
    """Gives back the memory of mapped pages that were read: they are the file's own and come back when asked for."""
    held = view.obj
    if isinstance(held, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        held.madvise(mmap.MADV_DONTNEED)


def array_pieces(values: npt.NDArray[Any]) -> Pieces:
    """Pieces of an array that is in memory."""

    def read() -> Iterator[npt.NDArray[Any]]:
        flat = values.reshape(-1)
        for start in range(0, flat.size, CHUNK_VALUES):
            yield flat[start : start + CHUNK_VALUES]

    return read


def no_pieces() -> Iterator[npt.NDArray[Any]]:
    """Of a weight that cannot be read."""
    yield from ()

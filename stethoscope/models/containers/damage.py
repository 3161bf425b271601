"""What libraries raise for damaged bytes, in one place for each: most let the errors of their parts through.

For `except`: who reads with the library catches its whole list and says which file it was.

Bounds on what a static reader may allocate for an untrusted file. Honest models stay far below them.

What a zip or tar lists, before any check: for recognising it. `open_archive` refuses what is hostile.
"""

from __future__ import annotations

import lzma
import sqlite3
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Self

UNPACKING = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)
"""What only unpackers raise. bzip2 and gzip add an OSError that has no error number."""
ARCHIVE = (
    *UNPACKING,
    zipfile.LargeZipFile,
    struct.error,
    OSError,
    ValueError,
    OverflowError,
    LookupError,
    RuntimeError,
)
"""What opening or inflating zip, tar, gzip, bzip2 or xz raises.

A version or a method that is not known (NotImplementedError), a name that is no text (ValueError), an offset beyond any
file (OverflowError), headers that call for further headers (RecursionError).
"""
JSON = (ValueError, RecursionError)
"""What `json` raises: no JSON, no UTF-8, a number of too many digits, or nested too deeply."""

SQLITE = (sqlite3.Error, ValueError, OverflowError)
"""What `sqlite3` raises, also for an error whose message quotes bytes of the file that are no UTF-8."""


def yaml() -> tuple[type[Exception], ...]:
    """What PyYAML's safe loaders raise: a tag on a value of another kind (!!bool x, !!timestamp x, !!int "") fails as Python."""
    from yaml import YAMLError

    return (YAMLError, ValueError, TypeError, ArithmeticError, AttributeError, LookupError, RecursionError)


def pillow() -> tuple[type[Exception], ...]:
    """What Pillow's decoders raise, each its own."""
    from PIL.Image import DecompressionBombError

    return (
        *(DecompressionBombError, OSError, SyntaxError, ValueError, EOFError, LookupError, TypeError),
        *(ArithmeticError, MemoryError, RuntimeError, struct.error, zlib.error),
    )


MAX_MEMBERS = 20_000
"""Files in one archive. The largest real SavedModel seen has about 1,500."""
MAX_LOG_MEMBERS = 200_000
"""The same of training logs: MLflow's file store holds twenty small files and more for each run."""
MAX_INFLATED_BYTES = 16 << 30
"""Bytes an archive may inflate to."""
RATIO_FLOOR_BYTES = 64 << 20
MAX_RATIO = 200
"""Above `RATIO_FLOOR_BYTES`, inflated over stored bytes. Weights compress by less than 2; all-zero tensors by 1,000."""
MAX_CONFIG_BYTES = 64 << 20
"""One JSON description (Keras config.json, model_config). A 1,000-layer model needs about 2 MB."""
MAX_GRAPH_BYTES = 256 << 20
"""A graph without its weights, as protobuf."""
MAX_LAYERS = 1_000_000
"""Layers or operators in one description."""
MAX_DEPTH = 200
"""Nesting of models, subgraphs or configs."""
MAX_WEIGHT_BYTES = 64 << 30
"""Weights a file may declare, computed from shapes and dtypes before anything is allocated."""


_MAX_HEADER_BYTES = 1 << 20
"""A tar's long name or extended header. tarfile reads it whole, and inflates it before."""
_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


class OversizedHeader(tarfile.TarError):
    """A header that announces more than any name needs; no `ReadError`, after which tarfile tries other compressions."""


class BoundedTarInfo(tarfile.TarInfo):
    """A header that is refused before what it announces is read."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """See `tarfile.TarInfo.frombuf`."""
        info = super().frombuf(buf, encoding, errors)
        if info.size < 0 or (info.type in _HEADERS and info.size > _MAX_HEADER_BYTES):
            raise OversizedHeader(f"{info.name!r} declares {info.size:,} bytes")
        return info


def is_zip(path: Path) -> bool:
    """Whether the file ends like a zip, be its directory damaged or not."""
    try:
        return zipfile.is_zipfile(path)
    except ARCHIVE:
        return True


def is_tar(path: Path) -> bool:
    """Whether the file is a tar, compressed or not, be its end damaged; reads one header."""
    try:
        with tarfile.open(path, "r:*", tarinfo=BoundedTarInfo):
            return True
    except OversizedHeader:
        return True
    except ARCHIVE:
        return False


def listed(path: Path, most: int = MAX_MEMBERS) -> Iterator[str]:
    """Yields the names in a zip or tar.

    Raises:
        *damage.ARCHIVE: as the standard library raises it.
    """
    if is_zip(path):
        with zipfile.ZipFile(path) as packed:
            yield from packed.namelist()[:most]
        return
    passed, stored = 0, max(1, path.stat().st_size)
    with tarfile.open(path, "r:*", tarinfo=BoundedTarInfo) as tar:
        for count, info in enumerate(tar):
            yield info.name
            passed += info.size
            if count > most or passed > max(RATIO_FLOOR_BYTES, MAX_RATIO * stored):
                return

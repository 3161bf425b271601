"""What libraries raise for damaged bytes, in one place for each: most let the errors of their parts through.

For `except`: who reads with the library catches its whole list and says which file it was.
"""

from __future__ import annotations

import lzma
import sqlite3
import struct
import tarfile
import zipfile
import zlib

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

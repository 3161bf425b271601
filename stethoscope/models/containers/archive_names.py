"""What a zip or tar lists, before any check: for recognising it. `open_archive` refuses what is hostile."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from stethoscope.models.containers import limits
from stethoscope.models.containers.damage import ARCHIVE

_MAX_HEADER_BYTES = 1 << 20
"""A tar's long name or extended header. tarfile reads it whole, and inflates it before."""
_HEADERS = (
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK,
)  # fmt: skip


class BoundedTarInfo(tarfile.TarInfo):
    """A header that is refused before what it announces is read."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """See `tarfile.TarInfo.frombuf`."""
        info = super().frombuf(buf, encoding, errors)
        if info.size < 0 or (info.type in _HEADERS and info.size > _MAX_HEADER_BYTES):
            raise tarfile.ReadError(f"{info.name!r} declares {info.size:,} bytes")
        return info


def is_zip(path: Path) -> bool:
    """Whether the file ends like a zip, be its directory damaged or not."""
    try:
        return zipfile.is_zipfile(path)
    except ARCHIVE:
        return True


def listed(path: Path, most: int = limits.MAX_MEMBERS) -> Iterator[str]:
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
            if count > most or passed > max(limits.RATIO_FLOOR_BYTES, limits.MAX_RATIO * stored):
                return

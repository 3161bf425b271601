"""A folder as an uncompressed tar that is always the same for the same files."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

from stethoscope.errors import UnsafeFile

_CHUNK_BYTES = 4 << 20


def write_folder_tar(folder: Path, write: Callable[[bytes], None]) -> None:
    """Streams `folder` as a tar with one top folder, members sorted, times and owners left out.

    Raises:
        UnsafeFile: the folder holds a link; it could lead anywhere.
    """
    for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix()):
        if path.is_symlink():
            raise UnsafeFile(f"{folder.name}: expected plain files, got the link {path.name!r}. Copy the file itself.")
        if not path.is_file():
            continue
        info = tarfile.TarInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}")
        info.size = path.stat().st_size
        write(info.tobuf(tarfile.PAX_FORMAT))
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                write(chunk)
        write(b"\0" * (-info.size % tarfile.BLOCKSIZE))
    write(b"\0" * (2 * tarfile.BLOCKSIZE))

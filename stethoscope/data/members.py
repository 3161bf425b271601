"""The files that belong to data, whether it came as one file, a folder, a zip or a tar: by name, read in place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Protocol

from stethoscope.data import dataset
from stethoscope.errors import NotFound, TooLarge, UnsafeFile
from stethoscope.models.containers.archive import Archive, is_archive, open_archive
from stethoscope.types import ModelFile

IMAGE_SUFFIXES = (
    ".jpg",
    ".jpeg",
    ".jpe",
    ".jfif",
    ".png",
    ".bmp",
    ".dib",
    ".gif",
    ".webp",
    ".tif",
    ".tiff",
    ".ppm",
    ".pgm",
    ".pbm",
    ".pnm",
    ".jp2",
    ".avif",
    ".tga",
)
"""Of images that are decoded."""
_JUNK = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")


def is_image(name: str) -> bool:
    """Whether a name ends like an image that can be decoded."""
    return name.lower().endswith(IMAGE_SUFFIXES)


class Members(Protocol):
    """Named files, opened one at a time. Names use "/"; junk that systems leave (.DS_Store, …) is not among them."""

    subject: str
    """What the user calls the whole, for error texts."""
    names: tuple[str, ...]
    folders: tuple[str, ...]
    """Folders that are listed, empty ones among them; an archive may leave them out."""
    in_any_order: bool
    """Whether one file is read as fast as another; in a compressed tar it is not."""

    def size(self, name: str) -> int:
        """Bytes of one file, as declared."""
        ...

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """One file as a stream."""
        ...

    def read(self, name: str, limit_bytes: int = dataset.MAX_MEMBER_BYTES) -> bytes:
        """One file whole.

        Raises:
            NotFound: no such file.
            TooLarge: it is larger than `limit_bytes`.
            UnreadableFile: its bytes are damaged.
        """
        ...


@contextmanager
def open_members(file: ModelFile) -> Iterator[Members]:
    """Opens a folder, an archive (checked, not unpacked) or a single file.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge: as `open_archive`; links in a folder are refused too.
    """
    if file.path.is_dir():
        yield _Folder(file)
    elif is_archive(file.path):
        with open_archive(file, dataset.MAX_MEMBERS) as archive:
            yield _Packed(file.name, archive)
    else:
        yield _Single(file)


def is_junk(name: str) -> bool:
    """Whether a name is what an operating system leaves behind."""
    return (
        name.startswith(_JUNK[0])
        or "/.ipynb_checkpoints/" in f"/{name}"
        or f"/{_JUNK[0]}" in name
        or name.rsplit("/", 1)[-1] in _JUNK[1:]
        or "/._" in f"/{name}"
    )


class _Packed:
    def __init__(self, subject: str, archive: Archive) -> None:
        self.subject, self._archive = subject, archive
        self.in_any_order = archive.in_any_order
        self.names = tuple(name for name in archive.names if not is_junk(name))
        self.folders = tuple(name for name in archive.folders if not is_junk(f"{name}/"))

    def size(self, name: str) -> int:
        return self._archive.members[name].size_bytes

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        return self._archive.open(name)

    def read(self, name: str, limit_bytes: int = dataset.MAX_MEMBER_BYTES) -> bytes:
        if name not in self._archive.members:
            raise _missing(self.subject, name)
        return self._archive.read(name, limit_bytes)


class _Folder:
    in_any_order = True

    def __init__(self, file: ModelFile) -> None:
        self.subject, self._root = file.name, file.path
        self._paths: dict[str, Path] = {}
        folders = []
        for path in sorted(file.path.rglob("*")):
            name = path.relative_to(file.path).as_posix()
            if path.is_symlink():
                raise UnsafeFile(f"{file.name}: expected plain files, got the link {name!r}. Copy the file itself.")
            if path.is_file() and not is_junk(name):
                self._paths[name] = path
            elif path.is_dir() and not is_junk(f"{name}/"):
                folders.append(name)
            if len(self._paths) > dataset.MAX_MEMBERS:
                raise TooLarge(f"{file.name}: holds more than {dataset.MAX_MEMBERS:,} files. Give a part of it.")
        self.names, self.folders = tuple(self._paths), tuple(folders)

    def size(self, name: str) -> int:
        return self._paths[name].stat().st_size

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        if name not in self._paths:
            raise _missing(self.subject, name)
        with self._paths[name].open("rb") as stream:
            yield stream

    def read(self, name: str, limit_bytes: int = dataset.MAX_MEMBER_BYTES) -> bytes:
        if name not in self._paths:
            raise _missing(self.subject, name)
        return _whole(self.subject, name, self._paths[name], limit_bytes)


class _Single:
    in_any_order = True

    def __init__(self, file: ModelFile) -> None:
        self.subject, self._path = file.name, file.path
        self.names: tuple[str, ...] = (file.name,)
        self.folders: tuple[str, ...] = ()

    def size(self, name: str) -> int:
        return self._path.stat().st_size

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        with self._path.open("rb") as stream:
            yield stream

    def read(self, name: str, limit_bytes: int = dataset.MAX_MEMBER_BYTES) -> bytes:
        return _whole(self.subject, name, self._path, limit_bytes)


def _whole(subject: str, name: str, path: Path, limit_bytes: int) -> bytes:
    size = path.stat().st_size
    if size > limit_bytes:
        raise TooLarge(f"{subject}: {name!r} has {size:,} bytes, expected at most {limit_bytes:,}.")
    return path.read_bytes()


def _missing(subject: str, name: str) -> NotFound:
    return NotFound(f"{subject}: has no file {name!r}. Its contents may be incomplete.")

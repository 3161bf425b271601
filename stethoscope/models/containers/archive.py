"""Zip and tar files, opened only after a check: plain unique names, no links, no overlap, bytes counted while inflating.

Source: the rules of CVE-2025-12060 (tar/zip traversal in Keras), the overlapping-entries bomb (Fifield, WOOT'19), and PEP 706.
"""

from __future__ import annotations

import itertools
import re
import stat
import struct
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from stethoscope.errors import NotFound, TooLarge, UnreadableFile, UnsafeFile
from stethoscope.models.containers import damage
from stethoscope.models.containers.damage import ARCHIVE, UNPACKING, BoundedTarInfo, is_zip
from stethoscope.types import ModelFile

_CHUNK = 1 << 20
_HIDDEN = re.compile("[\x00-\x1f\x7f\u202a\u202b\u202d\u202e\u2066-\u2068]")


@dataclass(frozen=True)
class Member:
    """One file inside an archive: its checked name, declared size, and where it starts when stored uncompressed."""

    name: str
    size_bytes: int
    stored_at: int | None = None
    """Offset of the member's bytes in the archive when they are not compressed: they can be mapped in place."""


class Archive:
    """A checked zip or tar. Read members by name; every read counts bytes against the declared size."""

    def __init__(self, file: ModelFile, backend: zipfile.ZipFile | tarfile.TarFile, members: dict[str, Member]) -> None:
        self._file = file
        self._backend = backend
        # A tar looks a name up by going through all of its members.
        self._infos = {info.name: info for info in backend} if isinstance(backend, tarfile.TarFile) else {}
        self.members = members

    @property
    def names(self) -> tuple[str, ...]:
        """Member names in archive order."""
        return tuple(self.members)

    @property
    def folders(self) -> tuple[str, ...]:
        """Names of folders that have an entry of their own, without the last slash; many archives list none."""
        if isinstance(self._backend, zipfile.ZipFile):
            return tuple(info.filename.rstrip("/") for info in self._backend.infolist() if info.is_dir())
        return tuple(name for name, info in self._infos.items() if info.isdir())

    @property
    def in_any_order(self) -> bool:
        """Whether one member is read as fast as another; a compressed tar must be inflated up to it."""
        return not isinstance(self._backend, tarfile.TarFile) or _is_plain_tar(self._file)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Opens one member for streaming; prefer `read` for small ones.

        Raises:
            NotFound: no such member.
            UnreadableFile: its bytes are damaged, found now or while it is read inside the `with`.
        """
        if name not in self.members:
            raise NotFound(f"{self._file.name}: has no member {name!r}. Its contents may be incomplete.")
        with self._stream(name) as stream:
            try:
                yield stream
            except UNPACKING as error:
                raise self._damaged(name, error) from error
            except OSError as error:
                if error.errno is not None:
                    raise
                raise self._damaged(name, error) from error

    def _stream(self, name: str) -> IO[bytes]:
        try:
            stream = (
                self._backend.open(name)
                if isinstance(self._backend, zipfile.ZipFile)
                else self._backend.extractfile(self._infos[name])
            )
        except ARCHIVE as error:
            raise self._damaged(name, error) from error
        assert stream is not None, "links and devices were refused when the archive was opened"
        return stream

    def _damaged(self, name: str, error: Exception) -> UnreadableFile:
        reason = str(error) or type(error).__name__
        return UnreadableFile(
            f"{self._file.name}: member {name!r} is damaged ({reason}). Save the model again or repeat the upload."
        )

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yields one member's bytes, never more than it declared.

        Raises:
            TooLarge: it inflates to more than the directory says.
            UnreadableFile: its bytes are damaged.
        """
        declared, seen = self.members[name].size_bytes if name in self.members else 0, 0
        try:
            with self.open(name) as stream:
                while chunk := stream.read(_CHUNK):
                    seen += len(chunk)
                    if seen > declared:
                        raise TooLarge(
                            f"{self._file.name}: member {name!r} inflates beyond the {declared:,} bytes it declares."
                        )
                    yield chunk
        except ARCHIVE as error:
            raise self._damaged(name, error) from error
        if seen != declared:
            raise UnreadableFile(
                f"{self._file.name}: member {name!r} holds {seen:,} of {declared:,} bytes. Repeat the upload."
            )

    def read(self, name: str, limit_bytes: int) -> bytes:
        """Returns one member whole.

        Raises:
            TooLarge: it declares more than `limit_bytes`.
        """
        if name in self.members and self.members[name].size_bytes > limit_bytes:
            size = self.members[name].size_bytes
            raise TooLarge(f"{self._file.name}: member {name!r} has {size:,} bytes, expected at most {limit_bytes:,}.")
        return b"".join(self.chunks(name))

    def extract(self, folder: Path) -> None:
        """Writes every member below `folder`, which is made if it is not there, counting bytes."""
        folder.mkdir(parents=True, exist_ok=True)
        made = ""
        for name in self.members:
            parent, _, _ = name.rpartition("/")
            if parent != made:
                (folder / parent).mkdir(parents=True, exist_ok=True)
                made = parent
            with (folder / name).open("wb") as out:
                for chunk in self.chunks(name):
                    out.write(chunk)


@contextmanager
def open_archive(file: ModelFile, most_members: int | None = None) -> Iterator[Archive]:
    """Opens a zip, tar, tar.gz, tar.bz2 or tar.xz after checking it.

    Args:
        file: the archive.
        most_members: how many files it may hold; `limits.MAX_MEMBERS` by default.

    Raises:
        UnreadableFile: not an archive, truncated, or encrypted.
        UnsafeFile: a name that escapes, a link, a device, an overlap or a duplicate.
        TooLarge: it declares more than `limits` allow.
    """
    most = damage.MAX_MEMBERS if most_members is None else most_members
    with ExitStack() as opened:
        if is_zip(file.path):
            archive = _open_zip(file, most, opened)
        elif _starts_with(file.path, b"PK\x03\x04"):
            raise UnreadableFile(
                f"{file.name}: starts like a ZIP but its directory is missing. The upload is incomplete; repeat it."
            )
        else:
            archive = _open_tar(file, most, opened)
        yield archive


def _open_zip(file: ModelFile, most: int, opened: ExitStack) -> Archive:
    try:
        backend = opened.enter_context(zipfile.ZipFile(file.path))
        return Archive(file, backend, _check_zip(file, backend, most))
    except ARCHIVE as error:
        reason = str(error) or type(error).__name__
        raise UnreadableFile(f"{file.name}: the ZIP directory is damaged ({reason}). Repeat the upload.") from error


def _open_tar(file: ModelFile, most: int, opened: ExitStack) -> Archive:
    try:
        backend = opened.enter_context(tarfile.open(file.path, "r:*", tarinfo=BoundedTarInfo))  # noqa: SIM115 - closed with what it was opened for
        return Archive(file, backend, _check_tar(file, backend, most))
    except (FileNotFoundError, PermissionError):
        raise
    except ARCHIVE as error:
        # What tarfile says of a file that is no tar is a line for each compression that it tried.
        reason = "no tar is in it" if "\n" in str(error) else str(error) or type(error).__name__
        raise UnreadableFile(f"{file.name}: not a readable archive ({reason}). Repeat the upload.") from error


def is_archive(path: Path) -> bool:
    """Whether the content starts like a zip or a (compressed) tar; reads a few bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        head = stream.read(265)
    return (
        head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"))
        or head[257:262] == b"ustar"
    )


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(magic)) == magic


def _check_zip(file: ModelFile, backend: zipfile.ZipFile, most: int) -> dict[str, Member]:
    infos = backend.infolist()
    _check_count(file, len(infos), most)
    members: dict[str, Member] = {}
    spans: list[tuple[int, int, str]] = []
    starts = _data_offsets(file, infos)
    for info, start in zip(infos, starts, strict=True):
        if info.flag_bits & 0x1:
            raise UnreadableFile(
                f"{file.name}: member {info.filename!r} is encrypted. Remove the password and upload again."
            )
        mode = info.external_attr >> 16
        if (
            info.create_system == 3
            and mode
            and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_IFMT(mode) == 0)
        ):
            raise UnsafeFile(f"{file.name}: member {info.filename!r} is a link or device. Pack real files only.")
        spans.append((info.header_offset, start + info.compress_size, info.filename))
        if info.is_dir():
            continue
        stored_at = start if info.compress_type == zipfile.ZIP_STORED else None
        _add(file, members, Member(_plain(file, info.filename), info.file_size, stored_at))
    spans.sort()
    for (_, end, first), (begin, _, second) in itertools.pairwise(spans):
        if begin < end:
            raise UnsafeFile(
                f"{file.name}: members {first!r} and {second!r} overlap, as in a decompression bomb. Pack it again."
            )
    _check_total(file, members, sum(info.compress_size for info in infos))
    return members


def _data_offsets(file: ModelFile, infos: list[zipfile.ZipInfo]) -> Iterator[int]:
    """Where each member's bytes begin, from its local header; the file is opened once for all of them."""
    with file.path.open("rb") as stream:
        for info in infos:
            if info.header_offset < 0:
                raise UnreadableFile(
                    f"{file.name}: member {info.filename!r} starts before the file. The upload is damaged; repeat it."
                )
            stream.seek(info.header_offset)
            header = stream.read(30)
            if len(header) < 30 or header[:4] != b"PK\x03\x04":
                raise UnreadableFile(
                    f"{file.name}: member {info.filename!r} has no local header. The upload is incomplete; repeat it."
                )
            name_length, extra_length = struct.unpack("<HH", header[26:30])
            yield info.header_offset + 30 + int(name_length) + int(extra_length)


def _check_tar(file: ModelFile, tar: tarfile.TarFile, most: int) -> dict[str, Member]:
    members: dict[str, Member] = {}
    plain = _is_plain_tar(file)
    inflated, stored = 0, max(1, file.path.stat().st_size)
    for count, info in enumerate(tar):
        _check_count(file, count, most)
        if not (info.isreg() or info.isdir()):
            raise UnsafeFile(f"{file.name}: member {info.name!r} is a link or device. Pack real files only.")
        if info.isdir():
            continue
        inflated += info.size
        if inflated > max(damage.RATIO_FLOOR_BYTES, damage.MAX_RATIO * stored):
            raise TooLarge(f"{file.name}: declares {inflated:,} bytes inside {stored:,}, as in a decompression bomb.")
        # tarfile gives names verbatim; `open` must find them by the same string.
        _plain(file, info.name)
        _add(file, members, Member(info.name, info.size, info.offset_data if plain and not info.issparse() else None))
    _check_end(file, tar)
    _check_total(file, members, stored)
    return members


def _check_end(file: ModelFile, tar: tarfile.TarFile) -> None:
    """Refuses a tar with something else than its end where its next header should be: tarfile calls that its end, too."""
    assert tar.fileobj is not None, "it is open"
    tar.fileobj.seek(tar.offset)
    if tar.fileobj.read(tarfile.BLOCKSIZE).strip(b"\0"):
        raise UnreadableFile(
            f"{file.name}: the header at byte {tar.offset:,} is damaged, what follows is lost. Repeat the upload."
        )


def _is_plain_tar(file: ModelFile) -> bool:
    return (
        not _starts_with(file.path, b"\x1f\x8b")
        and not _starts_with(file.path, b"BZh")
        and not _starts_with(file.path, b"\xfd7zXZ")
    )


def _plain(file: ModelFile, name: str) -> str:
    # Not PurePosixPath: of 20,000 names it takes a second.
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if not parts or name.startswith("/") or "\\" in name or ".." in parts or ":" in parts[0] or _HIDDEN.search(name):
        raise UnsafeFile(
            f"{file.name}: member name {name!r} leaves the archive's folder or hides characters. Pack it again."
        )
    if len(name) > 63 and any(len(part.encode()) > 255 for part in parts):
        raise UnsafeFile(f"{file.name}: a member name is longer than 255 bytes. Rename it.")
    return name


def _add(file: ModelFile, members: dict[str, Member], member: Member) -> None:
    if member.name in members:
        raise UnsafeFile(f"{file.name}: two members are named {member.name!r}. Pack it again.")
    members[member.name] = member


def _check_count(file: ModelFile, count: int, most: int) -> None:
    if count > most:
        raise TooLarge(f"{file.name}: holds more than {most:,} files. Pack only what belongs to one model or log.")


def _check_total(file: ModelFile, members: dict[str, Member], stored_bytes: int) -> None:
    total = sum(member.size_bytes for member in members.values())
    if total > damage.MAX_INFLATED_BYTES or total > max(damage.RATIO_FLOOR_BYTES, damage.MAX_RATIO * stored_bytes):
        raise TooLarge(f"{file.name}: declares {total:,} bytes inside {stored_bytes:,}, as in a decompression bomb.")

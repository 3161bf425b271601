"""A file or folder on its way into the store: streamed to disk, hashed while it passes, gone if it is not finished."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from stethoscope.errors import QuotaExceeded, TooLarge, UnsafeFile
from stethoscope.jobs.store.schema import Entry, new_id
from stethoscope.sizes import human_bytes
from stethoscope.types import UploadKind

_CHECK_EVERY_BYTES = 64 << 20


def check_free_disk(folder: Path, needed_bytes: int, keep_bytes: int) -> None:
    """Refuses to fill the disk.

    Raises:
        QuotaExceeded: after writing `needed_bytes`, less than `keep_bytes` would be free.
    """
    free = shutil.disk_usage(folder).free
    if free - needed_bytes < keep_bytes:
        raise QuotaExceeded(
            f"The server's disk: expected {human_bytes(needed_bytes + keep_bytes)} free, got {human_bytes(free)}. "
            "Remove models you no longer need, or ask whoever runs this server."
        )


class Upload:
    """Bytes being received. Use as a context manager: leaving it without `commit` leaves nothing behind.

    `write` may be called from any thread, one at a time.
    """

    def __init__(
        self,
        folder: Path,
        owner: str,
        *,
        limit_bytes: int,
        room_bytes: int,
        keep_free_bytes: int,
        accept: Callable[[Upload, str, str, UploadKind | None], Entry],
    ) -> None:
        """Args: `limit_bytes` caps this file, `room_bytes` is what the owner and the store have left for it."""
        self._limit, self._room, self._keep_free = limit_bytes, room_bytes, keep_free_bytes
        self._accept = accept
        self._hash = hashlib.sha256()
        self._lock = threading.Lock()
        self._unchecked = 0
        self.owner = owner
        self.size_bytes = 0
        check_free_disk(folder, 0, keep_free_bytes)
        self.path, self._descriptor = _locked_file(folder, owner)

    @property
    def sha256(self) -> str:
        """Hash of what was written so far."""
        return self._hash.hexdigest()

    def write(self, chunk: bytes | bytearray | memoryview) -> None:
        """Appends `chunk`.

        Raises:
            TooLarge: the file is larger than one file may be.
            QuotaExceeded: the owner's share, the store or the disk is full.
        """
        with self._lock:
            size = self.size_bytes + len(chunk)
            if size > self._limit:
                raise TooLarge(
                    f"The file: expected at most {human_bytes(self._limit)}, got more. "
                    "Leave out the optimizer state, or raise STETHOSCOPE_MAX_UPLOAD_BYTES."
                )
            if size > self._room:
                raise QuotaExceeded(
                    f"Your space on this server: {human_bytes(self._room)} left, the file needs more. "
                    "Remove models you no longer need."
                )
            self._unchecked += len(chunk)
            if self._unchecked >= _CHECK_EVERY_BYTES:
                check_free_disk(self.path.parent, len(chunk), self._keep_free)
                self._unchecked = 0
            try:
                _write_all(self._descriptor, chunk)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    raise QuotaExceeded(
                        f"The server's disk is full after {human_bytes(self.size_bytes)} of this file. "
                        "Remove models you no longer need, or ask whoever runs this server."
                    ) from error
                raise
            self._hash.update(chunk)
            self.size_bytes = size

    def commit(self, name: str, owner: str | None = None, expected: UploadKind | None = None) -> Entry:
        """Makes the file an entry of `owner` (default: who started the upload).

        Args:
            name: what the user calls it.
            owner: whose it is.
            expected: what it was sent as, see `kind_of`.

        Raises:
            QuotaExceeded: other uploads took the space meanwhile, or the disk is full.
        """
        with self._lock:
            try:
                os.fsync(self._descriptor)
                return self._accept(self, name, owner or self.owner, expected)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise QuotaExceeded("The server's disk is full. Remove models you no longer need.") from error
                raise
            finally:
                self._close()

    def keep_at(self, target: Path) -> None:
        """Moves what was received to where its content lies, if it does not lie there already."""
        if not target.is_file():
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.chmod(0o444)
            self.path.replace(target)

    def abort(self) -> None:
        """Removes what was received. Does nothing after `commit` or a first `abort`."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._descriptor >= 0:
            self.path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort()


def partial_bytes(folder: Path, owner: str | None = None) -> int:
    """Bytes of unfinished uploads, of all owners or of one."""
    mark = "*" if owner is None else f"{_mark(owner)}-*"
    total = 0
    for path in folder.glob(f"{mark}.part"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total


def remove_dead_uploads(folder: Path) -> int:
    """Removes unfinished uploads whose process is gone (nobody holds their lock); returns how many."""
    removed = 0
    for path in folder.glob("*.part"):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
            removed += 1
        except BlockingIOError:
            continue
        finally:
            os.close(descriptor)
    return removed


def _mark(owner: str) -> str:
    return hashlib.sha256(owner.encode()).hexdigest()[:16]


def _locked_file(folder: Path, owner: str) -> tuple[Path, int]:
    while True:
        path = folder / f"{_mark(owner)}-{new_id()}.part"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        # A clean-up in another process may have taken it between creation and lock.
        if os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)


def _write_all(descriptor: int, chunk: bytes | bytearray | memoryview) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(descriptor, view) :]


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

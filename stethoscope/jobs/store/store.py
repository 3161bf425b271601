"""The store: files kept once by their hash, entries that say who has them under which name."""

from __future__ import annotations

import contextlib
import functools
import shutil
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from stethoscope.errors import NotFound, TooLarge
from stethoscope.jobs.store import shares
from stethoscope.jobs.store.schema import SAMPLES_OWNER, Entry, clean_name, connect, entries, is_id, new_id, writing
from stethoscope.jobs.store.shares import Usage
from stethoscope.jobs.store.upload import Upload, check_free_disk, remove_dead_uploads, write_folder_tar
from stethoscope.jobs.store.upload_kinds import fill_kinds, kind_of
from stethoscope.settings import Settings, settings
from stethoscope.sizes import human_bytes
from stethoscope.types import ModelFile, UploadKind

_CHUNK_BYTES = 4 << 20
_NO_LIMIT = 1 << 62
_TOUCH_AFTER = timedelta(minutes=1)


class Store:
    """Models in one folder. Safe to use from many threads and processes at once.

    Layout: `files/ab/abcdef…/model`, `uploads/*.part`, `store.sqlite`.
    """

    def __init__(self, folder: Path, configuration: Settings | None = None) -> None:
        self.folder: Final = folder
        self._settings = configuration or settings()
        self._files, self._uploads = folder / "files", folder / "uploads"
        for path in (folder, self._files, self._uploads):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._engine = connect(sa.URL.create("sqlite", database=str(folder / "store.sqlite")), self._begin)
        fill_kinds(self._engine, self.path_of)

    def close(self) -> None:
        """Closes the database connections."""
        self._engine.dispose()

    def get(self, entry_id: str) -> Entry:
        """The entry with this id, for whoever has the id.

        Raises:
            NotFound: there is none, or its file is gone.
        """
        if is_id(entry_id):
            with self._engine.connect() as connection:
                row = connection.execute(sa.select(entries).where(entries.c.id == entry_id)).mappings().first()
            if row is not None and self.path_of(row["sha256"]).is_file():
                return Entry.of(row, self.path_of)
        raise NotFound("Model: expected a link to a stored model, got one that is unknown or expired. Upload it again.")

    def list(self, owner: str, kind: UploadKind | None = None) -> tuple[Entry, ...]:
        """The owner's entries, or those of one kind, last used first. Samples are the entries of `SAMPLES_OWNER`."""
        order = entries.c.title if owner == SAMPLES_OWNER else entries.c.last_used.desc()
        query = sa.select(entries).where(entries.c.owner == owner).order_by(order, entries.c.id)
        if kind is not None:
            query = query.where(entries.c.kind == kind)
        with self._engine.connect() as connection:
            return tuple(Entry.of(row, self.path_of) for row in connection.execute(query).mappings())

    def usage(self, owner: str) -> Usage:
        """How much of the quota the owner has used, in bytes."""
        with self._engine.connect() as connection:
            return shares.usage(connection, owner, self._settings, self._uploads)

    def path_of(self, sha256: str) -> Path:
        """Where the file with this hash is, or would be."""
        return self._files / sha256[:2] / sha256 / "model"

    def upload(self, owner: str, expected_bytes: int | None = None) -> Upload:
        """Starts receiving a file.

        Raises:
            TooLarge: `expected_bytes` is more than one file may have.
            QuotaExceeded: it does not fit into the owner's share, the store or the disk.
        """
        usage = self.check_room(owner, expected_bytes or 0)
        return Upload(
            self._uploads,
            owner,
            limit_bytes=int(self._settings.max_upload_bytes),
            room_bytes=usage.room_bytes,
            keep_free_bytes=int(self._settings.min_free_disk_bytes),
            accept=self._accept,
        )

    def check_room(self, owner: str, size_bytes: int) -> Usage:
        """Refuses a file of `size_bytes` before any of it is sent.

        Raises:
            TooLarge: it is more than one file may have.
            QuotaExceeded: it does not fit into the owner's share, the store or the disk.
        """
        limit = int(self._settings.max_upload_bytes)
        if size_bytes > limit:
            raise TooLarge(
                f"The file: expected at most {human_bytes(limit)}, got {human_bytes(size_bytes)}. "
                "Leave out the optimizer state, or raise STETHOSCOPE_MAX_UPLOAD_BYTES."
            )
        usage = self.usage(owner)
        usage.check(max(1, size_bytes))
        check_free_disk(self._uploads, size_bytes, int(self._settings.min_free_disk_bytes))
        return usage

    def add_file(self, path: Path, name: str, owner: str, expected: UploadKind | None = None) -> Entry:
        """Copies a file of this machine into the store; a folder (SavedModel) is packed as a tar.

        Args:
            path: of the file.
            name: what the user calls it.
            owner: whose it will be.
            expected: what it was sent as, see `kind_of`.

        Raises:
            TooLarge: it is more than one file may have.
            QuotaExceeded: it does not fit.
        """
        with self.upload(owner, None if path.is_dir() else path.stat().st_size) as upload:
            return upload.commit(_copy(path, name, upload), owner, expected)

    def share_sample(self, entry_id: str, path: Path, about: Mapping[str, str]) -> Entry:
        """Makes a file or folder a sample under a fixed id; `about` has kind, title, behaviour, description."""
        upload = Upload(
            self._uploads,
            SAMPLES_OWNER,
            limit_bytes=_NO_LIMIT,
            room_bytes=_NO_LIMIT,
            keep_free_bytes=0,
            accept=lambda upload, name, owner, _: self._accept(
                upload, name, owner, None, id=entry_id, sample=True, **about
            ),
        )
        with upload:
            return upload.commit(_copy(path, path.name, upload), SAMPLES_OWNER)

    def _accept(self, upload: Upload, name: str, owner: str, expected: UploadKind | None, **more: Any) -> Entry:
        now = _now()
        row: dict[str, Any] = {
            "id": new_id(),
            "sha256": upload.sha256,
            "name": clean_name(name),
            "size_bytes": upload.size_bytes,
            "owner": owner,
            "created": now,
            "last_used": now,
            "sample": False,
        } | more
        if not row.get("kind"):
            row["kind"] = kind_of(ModelFile(upload.path, row["name"], upload.sha256), expected)
        with writing(self._engine) as connection:
            self._keep(connection, upload, owner, counts=not row["sample"])
            old = connection.execute(sa.select(entries.c.sha256).where(entries.c.id == row["id"])).scalar()
            connection.execute(sa.delete(entries).where(entries.c.id == row["id"]))
            connection.execute(sa.insert(entries).values(row))
        if old not in (None, upload.sha256):
            self._drop_unused(old)
        return self.get(row["id"])

    def _keep(self, connection: sa.Connection, upload: Upload, owner: str, *, counts: bool = True) -> None:
        """Moves what was uploaded to where its content lies, if it does not lie there already."""
        if counts and not shares.has(connection, owner, upload.sha256):
            shares.usage(connection, owner, self._settings).check(upload.size_bytes)
        upload.keep_at(self.path_of(upload.sha256))

    def set_code(self, entry_id: str, owner: str, name: str, source: bytes | None) -> Entry:
        """Puts Python beside the owner's model, to be run with it in workers, in place of what was there; None takes it away.

        Raises:
            NotFound: no such entry, or it belongs to somebody else.
            QuotaExceeded: it does not fit.
        """
        before = self.get(entry_id).code
        told: dict[str, Any] = {"code_sha256": "", "code_name": "", "code_bytes": 0}
        with contextlib.nullcontext() if source is None else self.upload(owner, len(source)) as upload:
            if upload is not None and source is not None:
                upload.write(source)
                told = {"code_sha256": upload.sha256, "code_name": clean_name(name), "code_bytes": len(source)}
            self._change(entry_id, owner, upload, **told)
        if before is not None:
            self._drop_unused(before.sha256)
        return self.get(entry_id)

    def touch(self, entry_id: str) -> None:
        """Notes that the entry is in use, so that it does not expire."""
        now = _now()
        stale = (entries.c.id == entry_id) & (entries.c.last_used < now - _TOUCH_AFTER)
        with self._engine.connect() as connection:
            if connection.execute(sa.select(entries.c.id).where(stale)).first() is None:
                return
        with writing(self._engine) as connection:
            connection.execute(sa.update(entries).where(entries.c.id == entry_id).values(last_used=now))

    def set_trusted(self, entry_id: str, owner: str, trusted: bool = True) -> Entry:
        """Records the owner's yes (or no) to running the code inside this file.

        Raises:
            NotFound: no such entry, or it belongs to somebody else.
        """
        self._change(entry_id, owner, trusted=trusted)
        return self.get(entry_id)

    def set_kind(self, entry_id: str, owner: str, kind: UploadKind) -> Entry:
        """Records what the owner says an upload is, where its content did not tell.

        Raises:
            NotFound: no such entry, or it belongs to somebody else.
        """
        self._change(entry_id, owner, kind=kind)
        return self.get(entry_id)

    def rename(self, entry_id: str, owner: str, name: str) -> Entry:
        """Gives the owner's entry another name; what cannot be seen or handled is left out of it.

        Raises:
            NotFound: no such entry, or it belongs to somebody else.
        """
        self._change(entry_id, owner, name=clean_name(name))
        return self.get(entry_id)

    def remove(self, entry_id: str, owner: str) -> None:
        """Removes the owner's entry, and the file if nobody else has it.

        Raises:
            NotFound: no such entry, or it belongs to somebody else.
        """
        entry = self.get(entry_id)
        self._change(entry_id, owner, remove=True)
        self._drop_unused(entry.sha256)
        if entry.code is not None:
            self._drop_unused(entry.code.sha256)

    def _change(
        self, entry_id: str, owner: str, upload: Upload | None = None, *, remove: bool = False, **values: Any
    ) -> None:
        """What is uploaded with it is kept in the same transaction, so that nobody takes it for nobody's."""
        mine = (entries.c.id == entry_id) & (entries.c.owner == owner) & ~entries.c.sample
        statement = sa.delete(entries).where(mine) if remove else sa.update(entries).where(mine).values(**values)
        with writing(self._engine) as connection:
            if upload is not None:
                self._keep(connection, upload, owner)
            if connection.execute(statement).rowcount == 0:
                raise NotFound("Model: expected one of your own, got somebody else's or none. Upload it yourself.")

    def keep_samples(self, ids: Collection[str]) -> None:
        """Removes every sample model but those."""
        old = entries.c.sample & entries.c.id.not_in(ids)
        with writing(self._engine) as connection:
            gone = connection.execute(sa.select(entries.c.sha256).where(old)).scalars().all()
            connection.execute(sa.delete(entries).where(old))
        for sha256 in gone:
            self._drop_unused(sha256)

    def hold(self, holder: str, owner: str, files: Iterable[Entry]) -> None:
        """Notes that something keeps these contents for an owner: they count in the owner's share, once, until `release`.

        Raises:
            QuotaExceeded: they do not fit.
        """
        with writing(self._engine) as connection:
            shares.hold(connection, holder, owner, files, self._settings)

    def release(self, holder: str) -> None:
        """Forgets what a holder keeps; contents that nobody has leave the disk."""
        with writing(self._engine) as connection:
            gone = shares.release(connection, holder)
        for sha256 in gone:
            self._drop_unused(sha256)

    def holders(self) -> set[str]:
        """The ids of all that keep contents."""
        with self._engine.connect() as connection:
            return shares.holders(connection)

    def clean(self, but: Collection[str] = ()) -> tuple[str, ...]:
        """Removes unfinished uploads of dead processes, expired entries, and files that nobody has.

        Args:
            but: ids of entries that are in use otherwise, and do not expire.

        Returns:
            The ids of the entries that expired.
        """
        remove_dead_uploads(self._uploads)
        gone: tuple[str, ...] = ()
        if self._settings.expire_days > 0:
            limit = _now() - timedelta(days=self._settings.expire_days)
            old = (entries.c.last_used < limit) & ~entries.c.sample & entries.c.id.not_in(but)
            with writing(self._engine) as connection:
                gone = tuple(connection.execute(sa.select(entries.c.id).where(old)).scalars())
                connection.execute(sa.delete(entries).where(old))
        for folder in self._files.glob("??/*"):
            self._drop_unused(folder.name)
        return gone

    def _begin(self, connection: sa.Connection) -> None:
        shares.hold_strays(connection, self._files.glob("??/*/model"))

    def _drop_unused(self, sha256: str) -> None:
        with writing(self._engine) as connection:
            if not shares.in_use(connection, sha256):
                shutil.rmtree(self.path_of(sha256).parent, ignore_errors=True)


def _copy(path: Path, name: str, upload: Upload) -> str:
    if path.is_dir():
        write_folder_tar(path, upload.write)
        return name if name.endswith(".tar") else f"{name}.tar"
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            upload.write(chunk)
    return name


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


@functools.cache
def store() -> Store:
    """The store of this process's workspace."""
    return Store(settings().workspace / "store")

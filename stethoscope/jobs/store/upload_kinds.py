"""What an upload is: asked of the formats, the readers of data and the trackers of logs, by content."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

import sqlalchemy as sa

from stethoscope.errors import StethoscopeError
from stethoscope.jobs.store.schema import entries, writing
from stethoscope.models.containers import damage
from stethoscope.models.containers.archive import Archive, is_archive, open_archive
from stethoscope.models.containers.damage import ARCHIVE, UNPACKING, is_zip, listed
from stethoscope.types import ModelFile, UploadKind

_MOST_PACKED_BYTES = 32 << 20
"""Of a compressed tar that is looked into: all of it must be inflated to know what it holds."""
_MOST_OF_DIRECTORY_BYTES = 1 << 20
"""Of a zip that is looked into: what 5,000 to 10,000 files take."""
_MOST_MEMBERS = 5_000
"""Of a tar that is looked into. The largest real SavedModel seen has about 1,500."""
_END_OF_ZIP_BYTES = 66_000
"""Where the record lies that ends a zip, with a comment of any length."""
_OF_ONE_FOLDER = 2
"""Files of one suffix that are looked at in one folder of an archive."""
_MOST_FILES = 400
_MOST_BYTES_OF_ONE = 1 << 20
_MOST_BYTES_OF_DATABASE = 16 << 20
_MOST_BYTES = 64 << 20
_DATABASE = b"SQLite format 3\x00"
_SCRIPTS = (".py", ".pyw", ".ipynb")
_HEAD_BYTES = 65_536
_one_at_a_time = threading.Lock()
_log = logging.getLogger(__name__)


def kind_of(file: ModelFile, expected: UploadKind | None = None) -> UploadKind:
    """What a file or archive is, by its content. Never raises; imports no framework and decodes nothing.

    Args:
        file: under the user's name for it: some readers and trackers know theirs by its suffix.
        expected: what it was sent as. It decides between several kinds that the content may be (a table of losses is data and a
            log), and what is said of content that nothing recognises; without it that is a model, whose description says why not.
            So it does of a large compressed tar, and of more files than models have, which else are data.
    """
    if not file.path.exists():
        return expected or UploadKind.MODEL
    with _one_at_a_time:
        try:
            return _recognised(file, expected) or expected or UploadKind.MODEL
        except Exception:  # noqa: BLE001 - an upload is kept, whatever looking at it did
            _log.exception("the upload %s could not be recognised", file.sha256)
            return expected or UploadKind.MODEL


def _recognised(file: ModelFile, expected: UploadKind | None) -> UploadKind | None:
    if _is_script(file, expected is UploadKind.SCRIPT):
        return UploadKind.SCRIPT
    # A single table is data first, whatever its columns are called; logs mostly travel in folders.
    order = (UploadKind.MODEL, UploadKind.DATA, UploadKind.LOGS)
    if is_archive(file.path):
        if _is_much_to_inflate(file.path):
            return None
        if _holds_many_files(file.path):
            return expected or UploadKind.DATA
        order = (UploadKind.MODEL, UploadKind.LOGS, UploadKind.DATA)
    ordered = sorted(order, key=lambda kind: kind is not expected)
    return next((kind for kind in ordered if _RECOGNISES[kind](file)), None)


def fill_kinds(engine: sa.Engine, path_of: Callable[[str], Path]) -> None:
    """Looks at uploads of before their kind was kept."""
    without_kind = sa.select(entries).where((entries.c.kind == "") & ~entries.c.sample)
    with engine.connect() as connection:
        rows = connection.execute(without_kind).mappings().all()
    kinds = {row["id"]: kind_of(ModelFile(path_of(row["sha256"]), row["name"], row["sha256"])) for row in rows}
    if not kinds:
        return
    with writing(engine) as connection:
        for entry_id, kind in kinds.items():
            row = (entries.c.id == entry_id) & (entries.c.kind == "")
            connection.execute(sa.update(entries).where(row).values(kind=kind))


def _is_much_to_inflate(path: Path) -> bool:
    with path.open("rb") as stream:
        packed = stream.read(6).startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ"))
    return packed and path.stat().st_size > _MOST_PACKED_BYTES


def _holds_many_files(path: Path) -> bool:
    """Whether there are more files than models have: to list them takes the server's time and memory."""
    if not is_zip(path):
        try:
            return sum(1 for _ in listed(path, _MOST_MEMBERS)) > _MOST_MEMBERS
        except ARCHIVE:
            return False
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _END_OF_ZIP_BYTES))
        _, mark, end = stream.read().rpartition(b"PK\x05\x06")
    return bool(mark) and int.from_bytes(end[8:12], "little") > _MOST_OF_DIRECTORY_BYTES


def _is_script(file: ModelFile, expected: bool) -> bool:
    """Whether it is a training script or a notebook: by its suffix, and by how it begins. Text of another name is one where it was
    sent as one."""
    from stethoscope.pasted.scripts.source import looks_like_script

    if not expected and file.suffix not in _SCRIPTS:
        return False
    with file.path.open("rb") as stream:
        return looks_like_script(stream.read(_HEAD_BYTES), file.name)


def _is_model(file: ModelFile) -> bool:
    from stethoscope.models.formats import all_formats

    return any(known.sniff(file) for known in all_formats().values())


def _is_data(file: ModelFile) -> bool:
    from stethoscope.data import all_readers
    from stethoscope.data.survey import forget, survey

    try:
        # Pictures are data of one kind or another. Which one, a worker finds out: it may have to decode some.
        return bool(survey(file).images) or any(reader.sniff(file) for reader in all_readers().values())
    finally:
        forget()


def _is_log(file: ModelFile) -> bool:
    from stethoscope.logs import all_trackers

    with tempfile.TemporaryDirectory(prefix="stethoscope-") as folder:
        place = Path(folder)
        if is_archive(file.path):
            try:
                with open_archive(file, damage.MAX_LOG_MEMBERS) as archive:
                    _lay_out(archive, place)
            except (StethoscopeError, OSError):
                return False
        else:
            place = _beginning(file, place)
        return any(tracker.sniff(place) for tracker in all_trackers().values())


def _beginning(file: ModelFile, folder: Path) -> Path:
    """A copy of how a file begins, under its own name, by whose suffix trackers know theirs."""
    place = folder / (Path(file.name).name or "log")
    with file.path.open("rb") as stream:
        _copy_beginning(stream, place)
    if place.stat().st_size > _MOST_BYTES_OF_ONE:
        with place.open("r+b") as copy:
            copy.truncate(file.path.stat().st_size)  # a database that is shorter than it says is damaged
    return place


def _copy_beginning(stream: IO[bytes], target: Path) -> int:
    """Writes the first MiB, of a database the first 16, and returns how much that is."""
    content = stream.read(_MOST_BYTES_OF_ONE)
    with target.open("wb") as out:
        size = out.write(content)
        if content.startswith(_DATABASE):
            while size < _MOST_BYTES_OF_DATABASE and (more := stream.read(_MOST_BYTES_OF_ONE)):
                size += out.write(more)
    return size


def _lay_out(archive: Archive, place: Path) -> None:
    """Writes some of an archive's files, long ones cut, where they would lie if it were unpacked."""
    seen: dict[tuple[str, str], int] = {}
    files = written = 0
    for name in archive.names:
        folder, _, last = name.rpartition("/")
        alike = (folder, Path(last).suffix.lower())
        seen[alike] = seen.get(alike, 0) + 1
        if seen[alike] > _OF_ONE_FOLDER:
            continue
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with archive.open(name) as stream:
                written += _copy_beginning(stream, target)
        except (*ARCHIVE, *UNPACKING, StethoscopeError):
            continue
        files += 1
        if files == _MOST_FILES or written > _MOST_BYTES:
            return


_RECOGNISES: dict[UploadKind, Callable[[ModelFile], bool]] = {
    UploadKind.MODEL: _is_model,
    UploadKind.DATA: _is_data,
    UploadKind.LOGS: _is_log,
}

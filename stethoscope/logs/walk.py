"""Where the files of logs lie, walked once for all trackers that look for theirs among them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from stethoscope.models.containers import damage
from stethoscope.models.containers.archive import is_archive, open_archive
from stethoscope.types import ModelFile

MAX_FILES = 200_000
"""Files looked at in one folder of logs: MLflow's file store has twenty and more for each run."""
MAX_FOLDERS = 200_000
SKIPPED = frozenset((".git", ".dvc", ".venv", "venv", "node_modules", "__pycache__"))
"""Folders beside logs that hold none of them, and often very many files."""
_known: ContextVar[Listing | None] = ContextVar("known", default=None)


class ListedFile(NamedTuple):
    """A regular file that is no link."""

    path: str
    """With the place it was found from before it."""
    size: int
    time_ns: int
    """When it was last written."""

    @property
    def name(self) -> str:
        """Without its folders."""
        return self.path.rpartition(os.sep)[2]


@dataclass(frozen=True)
class Listing:
    """What a walk found."""

    place: Path
    files: tuple[ListedFile, ...]
    """A folder's own files before those of its subfolders, each by name."""
    complete: bool
    """False where there are more than the bounds allow."""


def listing(place: Path) -> Listing:
    """The files in a folder and its subfolders, or the file itself: those of the walk that is shared, or of one of its own."""
    known = _known.get()
    if known is not None and known.place == place:
        return known
    if place.is_file():
        status = place.stat()
        return Listing(place, (ListedFile(str(place), status.st_size, status.st_mtime_ns),), complete=True)
    if known is not None and known.complete and place.is_relative_to(known.place):
        below = f"{place}{os.sep}"
        return Listing(place, tuple(one for one in known.files if one.path.startswith(below)), complete=True)
    return _walked(place)


@contextmanager
def walked_once(place: Path) -> Iterator[Listing]:
    """Within this context `listing` and `files_in` of the place answer from one walk, made at its beginning."""
    found = listing(place)
    token = _known.set(found)
    try:
        yield found
    finally:
        _known.reset(token)


def files_in(place: Path) -> Iterator[Path]:
    """Regular files in a folder and its subfolders but `SKIPPED`, sorted by path, or the file itself. Links are not followed."""
    return (Path(one.path) for one in listing(place).files)


def _walked(place: Path) -> Listing:
    waiting, found, folders = [str(place)], list[ListedFile](), 0
    while waiting:
        folder = waiting.pop()
        folders += 1
        if folders > MAX_FOLDERS:
            return Listing(place, tuple(found), complete=False)
        try:
            with os.scandir(folder) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        below = [one for one in ordered if one.name not in SKIPPED and one.is_dir(follow_symlinks=False)]
        waiting.extend(one.path for one in reversed(below))
        for one in ordered:
            if not one.is_file(follow_symlinks=False):
                continue
            if len(found) == MAX_FILES:
                return Listing(place, tuple(found), complete=False)
            try:
                status = one.stat(follow_symlinks=False)
            except OSError:
                # Gone since its folder was read, as rotated files go.
                continue
            found.append(ListedFile(one.path, status.st_size, status.st_mtime_ns))
    return Listing(place, tuple(found), complete=True)


_NOT_PLAIN = re.compile(r"[^\w.\- ]+")
_MARKS = re.compile(r"(\.logs)?(\.tar)?\.\w+$")


def log_place(file: ModelFile, folder: Path) -> Path:
    """The folder or file to read.

    An upload of several files arrives as one archive and is unpacked below `folder`, into a folder of its own name; where it
    holds nothing but one folder, that is it. A single file gets its own name: trackers know files by their suffixes, which
    the store does not keep.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge: the archive is damaged or hostile.
    """
    name = Path(file.name).name
    if file.path.is_dir() or (file.path.name == name and not is_archive(file.path)):
        return file.path
    place = folder / "logs"
    place.mkdir()
    if not is_archive(file.path):
        own = place / name
        own.symlink_to(file.path.resolve())
        return own
    place /= _NOT_PLAIN.sub("_", _MARKS.sub("", name))[:100].strip(". ") or "logs"
    place.mkdir()
    with open_archive(file, damage.MAX_LOG_MEMBERS) as archive:
        archive.extract(place)
    within = list(place.iterdir())
    return within[0] if len(within) == 1 and within[0].is_dir() and not within[0].is_symlink() else place

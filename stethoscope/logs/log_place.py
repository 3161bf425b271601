"""Where logs lie that somebody sent: every task that reads them must find the same runs under the same names."""

from __future__ import annotations

import re
from pathlib import Path

from stethoscope.models.containers import damage
from stethoscope.models.containers.archive import is_archive, open_archive
from stethoscope.types import ModelFile

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

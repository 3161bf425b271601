"""What a tracker is, and how its files are found in a folder somebody sent."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from stethoscope.logs.series import RunLog

MAX_TEXT_BYTES = 64 << 20
"""Bytes of one CSV or JSON log."""
MAX_POINTS = 1_000_000
"""Points kept of one text log."""


class Tracker(Protocol):
    """One way of writing logs."""

    id: str
    title: str

    def sniff(self, place: Path) -> bool:
        """Whether the folder or file holds logs of this tracker. Cheap; never raises for foreign content.

        The server asks it of each upload, in its own process: of some files of an archive, of how a long file begins.
        """
        ...

    def read(self, place: Path) -> tuple[RunLog, ...]:
        """Every run found, oldest first. What cannot be read is left out and named in `health`."""
        ...


def modified(path: Path) -> float:
    """When a file was last written, seconds since 1970."""
    return path.stat().st_mtime


def name_of(path: Path, place: Path) -> str:
    """A file's path below the folder that is read; its name when it is itself what is read."""
    return path.relative_to(place).as_posix() if path != place else path.name

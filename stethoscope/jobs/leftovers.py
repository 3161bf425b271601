"""What an engine leaves behind when it is killed: job folders without an ending, told apart from those of living ones.

Each engine holds a lock on a file of its own for as long as its process lives; each job folder names that file.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
import time
from pathlib import Path

MARK = "engine"
"""The file in a job's folder that names its engine."""
_KEPT_FILES = ("out", MARK)
"""Of what a worker may have left, wherever it was ended; the mark is taken away last."""
_NAME = re.compile(r"[0-9a-f]{32}\.alive")
_UNMARKED_FOR_S = 3600.0


class Alive:
    """The lock of one engine. `folder` holds those of all engines that share a workspace."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = folder / f"{secrets.token_hex(16)}.alive"
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def mark(self, job_folder: Path) -> None:
        """Notes in a job's folder that this engine runs it."""
        (job_folder / MARK).write_text(self._path.name)

    def close(self) -> None:
        """Gives the lock up; what still has no ending may then be removed."""
        if self._descriptor >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = -1


def unmark(job_folder: Path) -> None:
    """Takes the note away once the job has ended."""
    with contextlib.suppress(OSError):
        (job_folder / MARK).unlink(missing_ok=True)


def clear(job_folder: Path) -> None:
    """Removes what an attempt that was cut off has written: the next one begins as the first did."""
    for path in job_folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != MARK:
            path.unlink(missing_ok=True)


def remove_unfinished(jobs: Path, alive: Path) -> int:
    """Removes job folders whose engine died before the job ended; returns how many."""
    removed = 0
    for folder in jobs.iterdir():
        if not (folder / "final.json").exists() and _abandoned(folder, alive):
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    for path in alive.glob("*.alive"):
        if not _held(path):
            path.unlink(missing_ok=True)
    return removed


def _abandoned(folder: Path, alive: Path) -> bool:
    try:
        name = (folder / MARK).read_text()
    except (OSError, UnicodeDecodeError):
        # Just made and not marked yet, or marked by something else: only its age can tell.
        with contextlib.suppress(OSError):
            return time.time() - folder.stat().st_mtime > _UNMARKED_FOR_S
        return False
    return not _NAME.fullmatch(name) or not _held(alive / name)


def _held(path: Path) -> bool:
    """Whether a living process holds the lock on `path`."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def tidy(folder: Path) -> None:
    """Removes everything from a job's folder that is not an answer."""
    with contextlib.suppress(FileNotFoundError):
        for path in list(folder.iterdir()):
            if path.name in _KEPT_FILES:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

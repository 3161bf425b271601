"""A file or folder as it was at a revision of the git repository that it lies in, written elsewhere.

Only plumbing that reads objects is called (`rev-parse`, `ls-tree`, `cat-file`): no hook, filter, text conversion or helper that a
repository's configuration names is run, nothing is fetched, and a revision is never taken for an option.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from stethoscope.errors import BadSetting, TooLarge, UnreadableFile

MOST_FILES, MOST_BYTES = 20_000, 4 << 30
"""Of one revision that are written."""
_TIMEOUT_S = 120
_LFS = b"version https://git-lfs.github.com/spec/"
_SHORT = 10


@dataclass(frozen=True)
class AtRevision:
    """What was written."""

    path: Path
    commit: str
    """Its full name."""
    name: str
    """Revision and name, as git writes them: "HEAD~1:data.csv"."""


@dataclass(frozen=True)
class _Blob:
    name: str
    path: PurePosixPath
    bytes_: int


def extracted(place: Path, revision: str, folder: Path) -> AtRevision:
    """Writes `place` as it was at `revision` below `folder`.

    Args:
        place: a file or folder that exists now, in a git repository.
        revision: as git understands it: HEAD~1, a tag, a branch, a commit.
        folder: an empty folder.

    Raises:
        BadSetting: there is no git, `place` lies in no repository, or there is no such revision.
        UnreadableFile: it was not there at that revision, or only a pointer to it.
        TooLarge: it holds too much.
    """
    if shutil.which("git") is None:
        raise BadSetting(
            f"--before {revision[:60]!r}: no file of that name, and git is not installed here to read it as a revision. Install git, or "
            "give a copy of the older state."
        )
    within = place if place.is_dir() else place.parent
    root = _asked(within, ["rev-parse", "--show-toplevel"])
    if root is None:
        raise BadSetting(
            f"--before {revision[:60]!r}: no file of that name, and {place.name} lies in no git repository that could have such a "
            "revision. Give a path."
        )
    commit = _asked(within, ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"])
    if commit is None:
        raise BadSetting(
            f"--before {revision[:60]!r}: expected a file, a folder or a revision of {Path(os.fsdecode(root)).name}, got neither. See `git log`."
        )
    inside = place.resolve().relative_to(Path(os.fsdecode(root)).resolve()).as_posix()
    name = os.fsdecode(commit)
    blobs = list(_blobs(Path(os.fsdecode(root)), name, inside))
    if not blobs:
        raise UnreadableFile(
            f"{place.name}: git has no such file at {revision[:60]} ({name[:_SHORT]}). What DVC or LFS keeps is not in git: give the "
            ".dvc file or the folder of the repository."
        )
    if len(blobs) > MOST_FILES or sum(blob.bytes_ for blob in blobs) > MOST_BYTES:
        raise TooLarge(
            f"{place.name} at {revision[:60]}: expected at most {MOST_FILES:,} files of {MOST_BYTES:,} bytes."
        )
    single = place.is_file()
    for blob in blobs:
        below = PurePosixPath(place.name) if single else blob.path.relative_to(inside) if inside != "." else blob.path
        _write(Path(os.fsdecode(root)), blob, folder / place.name if single else folder / below, place.name)
    return AtRevision(folder / place.name if single else folder, name, f"{revision}:{place.name}")


def _blobs(root: Path, commit: str, inside: str) -> Iterator[_Blob]:
    """Regular files at or below a path; links and submodules are left out."""
    asked = ["ls-tree", "-r", "-z", "--long", "--full-tree", commit, "--", *([] if inside == "." else [inside])]
    for entry in (_asked(root, asked) or b"").split(b"\0"):
        about, _, path = entry.partition(b"\t")
        parts = about.split()
        found = PurePosixPath(os.fsdecode(path))
        if len(parts) == 4 and parts[0] in (b"100644", b"100755") and ".." not in found.parts:
            yield _Blob(os.fsdecode(parts[2]), found, int(parts[3]))


def _write(root: Path, blob: _Blob, to: Path, shown: str) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    with to.open("wb") as file:
        done = _run(root, ["cat-file", "blob", blob.name], file.fileno())
    if done.returncode:
        raise UnreadableFile(f"{blob.path}: git cannot read it ({os.fsdecode(done.stderr)[:200].strip()}).")
    with to.open("rb") as file:
        if file.read(len(_LFS)) == _LFS:
            raise UnreadableFile(
                f"{shown}: git holds only a pointer of LFS to {blob.path}. Give a copy of the older state."
            )


def _asked(within: Path, arguments: list[str]) -> bytes | None:
    """What git answers, without the end of the line; None where it refuses."""
    done = _run(within, arguments, subprocess.PIPE)
    return done.stdout.rstrip(b"\n") if done.returncode == 0 else None


def _run(within: Path, arguments: list[str], output: int) -> subprocess.CompletedProcess[bytes]:
    settings = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    command = ["git", "--no-pager", "--literal-pathspecs", *settings, "-C", str(within), *arguments]
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            env=own | quiet,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise UnreadableFile(
            f"git: expected an answer within {_TIMEOUT_S} s, got none. Give a copy of the older state."
        ) from late

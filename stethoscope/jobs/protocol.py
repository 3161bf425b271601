"""What a parent and its workers say to each other, and where a job stands: JSON in its folder, nothing that can execute.

job.json        parent → worker    the job
result.json     worker → parent    {"status", "value", "reason", "error", "peak_rss_bytes", "log"}
partial.json    worker → parent    what was known when the worker was killed
foretold.json   worker → parent    the largest tensors the model will need
open-size.json  worker → parent    the size of every dimension but the batch that the model leaves open, where it is one
handed-over.json  worker → parent  from what state another process goes on once this one has ended
before.json     parent → worker    that state, and how the process before ended
out/            worker → parent    arrays and blobs

What an engine leaves behind when it is killed: job folders without an ending, told apart from those of living ones.

Each engine holds a lock on a file of its own for as long as its process lives; each job folder names that file.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from stethoscope.codec import read_json
from stethoscope.task import HANDED_OVER, Before
from stethoscope.types import Budget, Job, JobResult, ModelFile, Progress, Status

MAX_PROGRESS_LINE_BYTES = 4096
DISK_FULL = (
    "The server's disk is full, so this run could not keep its results. "
    "Remove models you no longer need, or ask whoever runs this server; then run it again."
)


def write_job(folder: Path, job: Job, *, require_containment: bool = False) -> None:
    """Leaves `job` in `folder` for a worker."""
    value = {
        "kind": job.kind,
        "files": {role: _file_told(file) for role, file in job.files.items()},
        "params": dict(job.params),
        "budget": [job.budget.memory_bytes, job.budget.timeout_s, job.budget.disk_bytes],
        "worker": job.worker,
        "require_containment": require_containment,
    }
    (folder / "job.json").write_text(json.dumps(value))


def read_job(folder: Path) -> tuple[Job, bool]:
    """The inverse of `write_job`: the job, and whether it insists on containment."""
    value = json.loads((folder / "job.json").read_text())
    job = Job(
        kind=value["kind"],
        files={role: _file_read(told) for role, told in value["files"].items()},
        params=value["params"],
        budget=Budget(*value["budget"]),
        worker=value["worker"],
    )
    return job, bool(value["require_containment"])


def _file_told(file: ModelFile) -> list[Any]:
    told: list[Any] = [str(file.path.absolute()), file.name, file.sha256]
    return told if file.code is None else [*told, _file_told(file.code)]


def _file_read(told: list[Any]) -> ModelFile:
    path, name, sha256, *code = told
    return ModelFile(Path(path), name, sha256, *map(_file_read, code))


def handed_over(folder: Path) -> Mapping[str, Any] | None:
    """From what state another process is to go on; None where the job is over with this one."""
    value = read_json(folder / HANDED_OVER)
    state = None if value is None else value.get("state")
    return state if isinstance(state, Mapping) else None


def write_before(folder: Path, before: Before) -> None:
    """Leaves for the next process of a job what the last one handed over, and how it ended."""
    value = {"state": before.state, "status": before.status.value, "reason": before.reason, "peak": before.peak_bytes}
    (folder / "before.json").write_text(json.dumps(value))
    (folder / HANDED_OVER).unlink(missing_ok=True)


def read_before(folder: Path) -> Before | None:
    """The inverse of `write_before`; None in the first process of a job."""
    value = read_json(folder / "before.json")
    if value is None:
        return None
    return Before(value["state"], Status(value["status"]), value["reason"], value["peak"])


def output_files(folder: Path) -> dict[str, Path]:
    """Returns the plain files a worker left in out/, by name; links and anything else are passed over."""
    out = folder / "out"
    if out.is_symlink() or not out.is_dir():
        return {}
    return {
        entry.name: Path(entry.path)
        for entry in os.scandir(out)
        if entry.is_file(follow_symlinks=False) and not entry.is_symlink()
    }


_KEPT = ("id", "kind", "owner", "entry_id", "created_s", "started_s", "finished_s", "cache_key")
"""Of a finished job, beside its parameters and its result."""


@dataclass(frozen=True)
class JobState:
    """A snapshot of one job. Times are Unix seconds; `queue_position` is 0 once it runs."""

    id: str
    kind: str
    owner: str
    entry_id: str
    created_s: float
    params: Mapping[str, Any] = field(default_factory=dict)
    status: Literal["queued", "running", "done"] = "queued"
    progress: Progress = field(default_factory=Progress)
    queue_position: int = 0
    started_s: float | None = None
    finished_s: float | None = None
    result: JobResult | None = None
    cached: bool = False
    cache_key: str = ""

    @property
    def done(self) -> bool:
        """Whether there is a result."""
        return self.status == "done"

    def save(self, folder: Path) -> None:
        """Keeps a finished job in `folder`, for the time after a restart."""
        assert self.result is not None
        result = {name: value for name, value in vars(self.result).items() if name != "files"}
        value = {
            **{name: getattr(self, name) for name in _KEPT},
            "params": dict(self.params),
            "result": {**result, "status": self.result.status.value},
        }
        temporary = folder / "final.tmp"
        try:
            temporary.write_text(json.dumps(value))
            temporary.replace(folder / "final.json")
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, folder: Path) -> Self | None:
        """A finished job as `save` left it; None where there is none."""
        value = read_json(folder / "final.json")
        if value is None:
            return None
        result = dict(value["result"])
        result["status"] = Status(result["status"])
        return cls(
            **{**value, "result": JobResult(**result, files=output_files(folder))},
            status="done",
            progress=Progress("done", 1.0),
        )

    def with_changes(self, **changes: Any) -> Self:
        """A copy with some fields replaced."""
        return replace(self, **changes)


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

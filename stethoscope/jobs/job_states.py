"""Where every job stands and what it left on disk; when its answer serves another job, and which jobs wait for it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from stethoscope import __version__
from stethoscope.codec import read_json
from stethoscope.errors import NotFound
from stethoscope.jobs.protocol import JobState, unmark
from stethoscope.jobs.supervisor import Queued
from stethoscope.types import Job, JobResult, ModelFile, Progress, Status


def cache_key(job: Job) -> str:
    """What makes two jobs equal: content of the files, kind, parameters, budget and version; "" when a content is not known."""
    contents = [part for file in job.files.values() for part in (file, file.code) if part is not None]
    if not contents or not all(part.sha256 for part in contents):
        return ""
    earlier = {role: cache_key(one) for role, one in job.after.items()}
    if not all(earlier.values()):
        return ""
    identity = {
        "kind": job.kind,
        "files": {role: _content(file) for role, file in job.files.items()},
        "params": dict(job.params),
        "after": earlier,
        "budget": [job.budget.memory_bytes, job.budget.timeout_s],
        "version": f"{__version__}+{_code_fingerprint()}",
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _content(file: ModelFile) -> list[str]:
    return [file.sha256, file.suffix, *(() if file.code is None else _content(file.code))]


@functools.cache
def _code_fingerprint() -> str:
    """Changes with the engine's code: what an older version found is not shown as this one's answer."""
    root = Path(__file__).resolve().parents[1]
    found = sorted(
        (str(path.relative_to(root)), path.stat().st_size, path.stat().st_mtime_ns) for path in root.rglob("*.py")
    )
    return hashlib.sha256(repr(found).encode()).hexdigest()[:12]


def reusable(result: JobResult) -> bool:
    """What would come out the same again: answers, and refusals that rest on the file alone."""
    return result.status is Status.OK or (
        bool(result.error) and result.error not in ("StethoscopeError", "OutOfMemory", "QuotaExceeded")
    )


def write_index(path: Path, job_id: str) -> None:
    """Notes which job has the answer, in one step."""
    temporary = path.with_suffix(f".{secrets.token_hex(4)}.tmp")
    temporary.write_text(json.dumps({"job": job_id}))
    temporary.replace(path)


_ID = re.compile(r"[A-Za-z0-9_-]{16,64}")
_KEPT_STATES = 2000
_log = logging.getLogger(__name__)


class JobStates:
    """The jobs of one engine, and those that earlier ones left. Safe to be used from several threads.

    Args:
        jobs: holds a folder for each job.
        index: says which job has the answer to what.
    """

    def __init__(self, jobs: Path, index: Path) -> None:
        self._jobs, self._index = jobs, index
        for path in (jobs, index):
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._states: dict[str, JobState] = {}
        self._only_here: set[str] = set()
        """Of those that are done, the ids of what is not written to disk."""
        self._changed = threading.Condition()
        self._news = 0
        """Counts what has happened to any job."""

    def add(self, states: Iterable[JobState]) -> None:
        """Jobs that are asked for; of those that are done, only the last are remembered."""
        with self._changed:
            done = [state.id for state in self._states.values() if state.done and state.id not in self._only_here]
            for job_id in done[: max(0, len(done) - _KEPT_STATES)]:
                del self._states[job_id]
            self._states |= {state.id: state for state in states}
            self._tell()

    def get(self, job_id: str) -> JobState:
        """Where a job stands, also long after it ended.

        Raises:
            NotFound: no such job, or it has expired.
        """
        with self._changed:
            state = self._states.get(job_id)
        if state is None and _ID.fullmatch(job_id):
            state = JobState.load(self._jobs / job_id)
        if state is None:
            raise NotFound("This job is not here any more. Start it again.")
        return state

    def all(self) -> list[JobState]:
        """Those in memory, newest first."""
        with self._changed:
            return list(reversed(self._states.values()))

    def under_way(self, key: str, owner: str, entry_id: str) -> str | None:
        """The id of a job of this owner that will give the answer `key`; None where there is none."""
        for state in self.all():
            if state.cache_key == key and not state.done and (state.owner, state.entry_id) == (owner, entry_id):
                return state.id
        return None

    def answered(self, key: str, owner: str, entry_id: str) -> str | None:
        """The id of a job that has the answer `key`, a new one where it was another owner's; None where there is none."""
        value = read_json(self._index / f"{key}.json")
        found = None if value is None else JobState.load(self._jobs / str(value["job"]))
        if found is None:
            return None
        with contextlib.suppress(OSError):
            os.utime(self._jobs / found.id)
        if (found.owner, found.entry_id) == (owner, entry_id):
            with self._changed:
                self._states.setdefault(found.id, found.with_changes(cached=True))
            return found.id
        job_id = "c" + hashlib.sha256(f"{found.id}/{owner}/{entry_id}/{secrets.token_hex(8)}".encode()).hexdigest()[:31]
        with self._changed:
            self._states[job_id] = found.with_changes(id=job_id, owner=owner, entry_id=entry_id, cached=True)
        return job_id

    def change(self, job_id: str, **changes: object) -> None:
        """Replaces fields of a job's state."""
        with self._changed:
            if job_id in self._states:
                self._states[job_id] = self._states[job_id].with_changes(**changes)
            self._tell()

    def end(self, job_id: str, result: JobResult, *, keep: bool) -> bool:
        """Notes how a job ended; returns whether it was known.

        Args:
            job_id: of the job.
            result: what it came to.
            keep: whether on disk too, to be shown and reused after a restart.
        """
        with self._changed:
            state = self._states.get(job_id)
        if state is None:
            return False
        state = state.with_changes(
            status="done", finished_s=time.time(), queue_position=0, result=result, progress=Progress("done", 1.0)
        )
        if keep:
            self._write(state, result)
        with self._changed:
            self._states[job_id] = state
            if not keep:
                self._only_here.add(job_id)
            self._tell()
        return True

    def _tell(self) -> None:
        self._news += 1
        self._changed.notify_all()

    def news(self, seen: int, timeout_s: float) -> int:
        """Blocks until something has happened to any job since `seen`, or for so long; returns what is seen then."""
        with self._changed:
            self._changed.wait_for(lambda: self._news != seen, timeout_s)
            return self._news

    def _write(self, state: JobState, result: JobResult) -> None:
        folder = self._jobs / state.id
        try:
            state.save(folder)
            if state.cache_key and reusable(result):
                write_index(self._index / f"{state.cache_key}.json", state.id)
            unmark(folder)
        except OSError as error:
            _log.warning("the result of job %s could not be kept on disk: %s", state.id, error)

    def wait(self, job_id: str, timeout_s: float | None) -> JobResult:
        """Blocks until a job is done.

        Raises:
            NotFound: no such job.
            TimeoutError: it is not done after `timeout_s`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self.get(job_id).done, timeout_s):
                raise TimeoutError(f"job {job_id} is not done after {timeout_s:g} s")
        result = self.get(job_id).result
        assert result is not None
        return result

    def discard(self, job_id: str) -> bool:
        """Removes a finished job and what it left; returns whether it is gone: one that is under way stays."""
        with self._changed:
            state = self._states.get(job_id)
            if state is None or not state.done:
                return state is None
            del self._states[job_id]
            self._only_here.discard(job_id)
        shutil.rmtree(self._jobs / job_id, ignore_errors=True)
        return True

    def expire(self, older_than_s: float) -> int:
        """Removes what finished jobs left more than `older_than_s` ago; returns how many."""
        removed, now = 0, time.time()
        active = {state.id for state in self.all() if not state.done}
        for folder in self._jobs.iterdir():
            with contextlib.suppress(OSError):
                if folder.name not in active and now - folder.stat().st_mtime > older_than_s:
                    shutil.rmtree(folder, ignore_errors=True)
                    removed += 1
                    with self._changed:
                        self._states.pop(folder.name, None)
        return removed


class Followers:
    """Which jobs wait for which. Safe to be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, Queued] = {}
        self._after: dict[str, Mapping[str, str]] = {}
        """By follower that is not done: the earlier jobs' ids, by the role that what they leave has in it."""
        self._earlier: dict[str, Queued] = {}
        """Jobs that are done first and that somebody needs, by id."""
        self._left: set[str] = set()
        """Ids of jobs whose leavings nobody needs any more, until they are gone: a job that is under way has yet to end."""

    def add(self, queued: Queued, after: Mapping[str, Job], prepare: Callable[[Job], Queued]) -> list[Queued]:
        """Keeps a job that waits for others; returns those of them that are to be started.

        Args:
            queued: the job that waits.
            after: what is done first, by role. An equal job of the same owner that is needed anyway does for both.
            prepare: makes what can be started of a job.
        """
        started: list[Queued] = []
        ids: dict[str, str] = {}
        with self._lock:
            for role, job in after.items():
                same = (one for one in self._earlier.values() if one.owner == queued.owner and one.job == job)
                found = next(same, None)
                if found is None:
                    found = prepare(job)
                    started.append(found)
                ids[role] = found.id
            self._earlier |= {one.id: one for one in started}
            self._waiting[queued.id], self._after[queued.id] = queued, ids
        return started

    def after(self, job_id: str) -> Mapping[str, str]:
        """The ids of the jobs that a follower reads, by role; nothing for one that is done or follows none."""
        with self._lock:
            return self._after.get(job_id, {})

    def of(self, job_id: str) -> list[str]:
        """The ids of the jobs that still wait for this one."""
        with self._lock:
            return [one for one in self._waiting if job_id in self._after[one].values()]

    def leads(self, job_id: str) -> bool:
        """Whether this job is done only because others read what it leaves."""
        with self._lock:
            return job_id in self._earlier or job_id in self._left

    def left(self, job_id: str) -> bool:
        """Whether nobody needs any more what this job leaves."""
        with self._lock:
            return job_id in self._left

    def forget(self, job_id: str) -> None:
        """Forgets a job whose leavings are gone."""
        with self._lock:
            self._left.discard(job_id)

    def take(self, job_id: str) -> Queued | None:
        """A waiting job, which waits no more; None where it does not wait."""
        with self._lock:
            return self._waiting.pop(job_id, None)

    def ended(self, job_id: str) -> list[str]:
        """Forgets a follower that is done; returns the ids of the jobs that nobody needs any more."""
        with self._lock:
            self._waiting.pop(job_id, None)
            read = self._after.pop(job_id, {})
            needed = {one for after in self._after.values() for one in after.values()}
            over = [one for one in dict.fromkeys(read.values()) if one not in needed]
            for one in over:
                if self._earlier.pop(one, None) is not None:
                    self._left.add(one)
            return over

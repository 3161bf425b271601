"""Where every job stands: in memory while it is under way, on disk with what it left once it is done."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from stethoscope.distrusted_json import read_json
from stethoscope.errors import NotFound
from stethoscope.jobs.leftovers import unmark
from stethoscope.jobs.reuse import reusable, write_index
from stethoscope.jobs.state import JobState
from stethoscope.types import JobResult, Progress

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

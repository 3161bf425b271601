"""Jobs that read what earlier ones leave: they wait for them, and what was left goes when nobody needs it any more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from stethoscope.jobs.supervisor import Queued
from stethoscope.types import Job


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

"""Submit a job, ask where it stands, cancel it, collect it. Results are kept on disk and reused."""

from __future__ import annotations

import logging
import secrets
import shutil
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from stethoscope.errors import NotFound, QuotaExceeded
from stethoscope.jobs import protocol
from stethoscope.jobs.endings import Ending, tell
from stethoscope.jobs.host_memory import HostMemory
from stethoscope.jobs.job_states import Followers, JobStates, cache_key
from stethoscope.jobs.protocol import Alive, JobState, remove_unfinished, tidy
from stethoscope.jobs.supervisor import Hooks, Queued, Supervisor
from stethoscope.types import Job, JobResult, ModelFile, Progress, Status, WorkerKind

_log = logging.getLogger(__name__)


class Engine:
    """Runs jobs in contained workers and remembers how they ended.

    Args:
        folder: where job folders and the index of reusable results are kept.
        slots: jobs at once, by worker kind.
        memory_bytes: the budgets of all running jobs together stay below this.
        require_containment: refuse files that are programs where the kernel cannot contain them.
        host: what is kept free of the machine's memory; without it, nothing is watched but each job's own.
        spawn: a fresh Python for each job instead of a fork, as macOS needs.
        reuse: whether a finished result answers a later equal job (same content, kind, parameters, version).
    """

    def __init__(
        self,
        folder: Path,
        slots: dict[WorkerKind, int],
        memory_bytes: int,
        *,
        host: HostMemory | None = None,
        reuse: bool = True,
        spawn: bool = sys.platform == "darwin",
        require_containment: bool = False,
    ) -> None:
        self._folder, self._reuse = folder, reuse
        self._jobs_folder = folder / "jobs"
        self._states = JobStates(self._jobs_folder, folder / "results")
        self._alive = Alive(folder / "engines")
        remove_unfinished(self._jobs_folder, folder / "engines")
        self._followers = Followers()
        hooks = Hooks(self._on_started, self._on_moved, self._on_queued, self._on_ended)
        self._supervisor = Supervisor(
            folder, slots, memory_bytes, hooks, host or HostMemory(0), spawn=spawn, strict=require_containment
        )

    def submit(self, job: Job, *, owner: str = "", entry_id: str = "", fresh: bool = False) -> str:
        """Queues `job` and returns its id at once.

        An equal job that this owner has under way is joined; a finished one answers immediately unless `fresh`. What
        comes before it (`Job.after`) is done once for all jobs that wait for it, and what it left is removed after them.

        Raises:
            QuotaExceeded: the disk is full.
        """
        key = cache_key(job)
        if key and not fresh:
            found = self._states.under_way(key, owner, entry_id)
            if found is None and self._reuse:
                found = self._states.answered(key, owner, entry_id)
            if found is not None:
                return found
        queued = self._prepared(job, owner)
        earlier = self._followers.add(queued, job.after, lambda one: self._prepared(one, owner)) if job.after else []
        state = JobState(queued.id, job.kind, owner, entry_id, time.time(), dict(job.params), cache_key=key)
        # What comes before is nobody's by name: who waits for it shows how far it is.
        before = [JobState(one.id, one.job.kind, "", "", time.time(), dict(one.job.params)) for one in earlier]
        self._states.add([state.with_changes(queue_position=1), *before])
        for one in earlier if job.after else (queued,):
            self._supervisor.submit(one)
        if job.after:
            self._go_on(queued.id)
        return queued.id

    def _prepared(self, job: Job, owner: str) -> Queued:
        """A job with a folder of its own."""
        job_id = secrets.token_urlsafe(18).replace("_", "-")  # ids are parts of widgets' keys: see `store.entry.new_id`
        folder = self._jobs_folder / job_id
        try:
            folder.mkdir(mode=0o700)
            self._alive.mark(folder)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise QuotaExceeded(
                f"The server's disk takes nothing more ({error.strerror}). "
                "Remove models you no longer need, or ask whoever runs this server."
            ) from error
        return Queued(job_id, job, folder, owner)

    def state(self, job_id: str) -> JobState:
        """Where a job stands, also long after it ended.

        Raises:
            NotFound: no such job, or it has expired.
        """
        return self._states.get(job_id)

    def jobs(self, *, owner: str | None = None, entry_id: str | None = None, active: bool = False) -> list[JobState]:
        """Jobs of this process, newest first; filtered by owner, by model, or to those not done."""
        return [
            state
            for state in self._states.all()
            if (owner is None or state.owner == owner)
            and (entry_id is None or state.entry_id == entry_id)
            and not (active and state.done)
        ]

    def cancel(self, job_id: str) -> None:
        """Ends a job, queued or running, and those that only it waits for; does nothing to one that is done."""
        if self._followers.take(job_id) is None:
            self._supervisor.cancel(job_id)
            return
        self._close(job_id, JobResult(Status.CANCELLED, {}, "Cancelled before it started.", "queued", 0, 0.0))

    def wait(self, job_id: str, timeout_s: float | None = None) -> JobResult:
        """Blocks until a job is done.

        Raises:
            NotFound: no such job.
            TimeoutError: it is not done after `timeout_s`.
        """
        return self._states.wait(job_id, timeout_s)

    def news(self, seen: int, timeout_s: float) -> int:
        """Blocks until something has happened to any job since this last returned `seen`, or for so long.

        Returns:
            What is to be given the next time; -1 has seen nothing.
        """
        return self._states.news(seen, timeout_s)

    def warm(self, kinds: Iterable[WorkerKind] = ("light", "tensorflow")) -> None:
        """Starts worker servers in the background, so that the first job does not wait for imports."""
        for kind in kinds:
            self._supervisor.warm(kind)

    def ready(self, kind: WorkerKind) -> bool:
        """Whether workers of this kind start without waiting for imports."""
        return self._supervisor.ready(kind)

    def server_pids(self) -> dict[str, int]:
        """Process ids of the worker servers, by kind."""
        return self._supervisor.server_pids()

    def expire(self, older_than_s: float) -> int:
        """Removes what finished jobs left more than `older_than_s` ago; returns how many."""
        return self._states.expire(older_than_s)

    def discard(self, job_id: str) -> None:
        """Removes a finished job and what it left; does nothing to one that is under way or gone."""
        self._states.discard(job_id)

    def stop(self) -> None:
        """Kills every job and server."""
        self._supervisor.stop()
        self._alive.close()

    def _go_on(self, job_id: str) -> None:
        """Starts a follower if all it waits for is done; ends it as the earlier job did that failed."""
        try:
            earlier = {role: self.state(one) for role, one in self._followers.after(job_id).items()}
        except NotFound:  # it is being submitted by another thread, and will call when it ends
            return
        ends = [one.result for one in earlier.values() if one.result is not None]
        failed = next((one for one in ends if one.status is not Status.OK), None)
        if failed is None and len(ends) < len(earlier):
            return
        queued = self._followers.take(job_id)
        if queued is None:
            return
        if failed is not None:
            self._close(job_id, replace(failed, files={}))
            return
        left = {role: ModelFile(self._jobs_folder / one.id / "out", role) for role, one in earlier.items()}
        queued.job = replace(queued.job, files={**queued.job.files, **left})
        self._supervisor.submit(queued)

    def _on_started(self, job_id: str) -> None:
        for one in (job_id, *self._followers.of(job_id)):
            self._states.change(
                one, status="running", started_s=time.time(), queue_position=0, progress=Progress("starting")
            )

    def _on_moved(self, job_id: str, progress: Progress) -> None:
        for one in (job_id, *self._followers.of(job_id)):
            self._states.change(one, progress=progress)

    def _on_queued(self, job_ids: list[str]) -> None:
        for position, job_id in enumerate(job_ids, start=1):
            self._states.change(job_id, queue_position=position, status="queued")

    def _on_ended(self, job_id: str, ending: Ending, wall_s: float) -> None:
        told = tell(ending)
        folder = self._jobs_folder / job_id
        incident = ""
        unexpected = told.status is Status.CRASHED or (
            told.status is Status.FAILED and told.error == "StethoscopeError"
        )
        if unexpected:
            incident = job_id[:8]
            _log.error("incident %s: %s job: %s\n%s", incident, ending.job.kind, told.reason, ending.log_tail)
        result = JobResult(
            status=told.status,
            value=told.value,
            reason=told.reason,
            phase=ending.progress.phase,
            peak_rss_bytes=told.peak_bytes,
            wall_s=round(wall_s, 4),
            files=protocol.output_files(folder),
            error=told.error,
            incident=incident,
        )
        self._close(job_id, result)

    def _close(self, job_id: str, result: JobResult) -> None:
        """Keeps how a job ended, tells whoever waits for it, and removes what nobody needs any more.

        What comes before others is not kept on disk: it goes with the last of them, and where the server stops before, at its
        next start.
        """
        tidy(self._jobs_folder / job_id)
        if not self._states.end(job_id, result, keep=not self._followers.leads(job_id)):
            return
        for follower in self._followers.of(job_id):
            self._go_on(follower)
        for earlier in self._followers.ended(job_id):
            self.cancel(earlier)
            self._let_go(earlier)
        if self._followers.left(job_id):
            self._let_go(job_id)

    def _let_go(self, job_id: str) -> None:
        """Removes what nobody waits for; one that is under way comes here again when it has ended."""
        if self._states.discard(job_id):
            self._followers.forget(job_id)

"""The one thread that starts jobs in worker servers, watches them, and tells how they ended."""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stethoscope.jobs import protocol
from stethoscope.jobs.endings import Ending, Verdict
from stethoscope.jobs.host_memory import WORTH_ENDING_BYTES, HostMemory
from stethoscope.jobs.protocol import clear
from stethoscope.jobs.running import RunningJob
from stethoscope.jobs.workers import WorkerServer
from stethoscope.types import Job, Progress, Status, WorkerKind

_TICK_S = 0.02
_REPLY_S = 30.0
_log = logging.getLogger(__name__)


@dataclass
class Queued:
    """A job that waits for its turn."""

    id: str
    job: Job
    folder: Path
    owner: str
    attempts: int = 0


@dataclass(frozen=True)
class Hooks:
    """What the supervisor tells its owner, always from its own thread."""

    started: Callable[[str], None]
    moved: Callable[[str, Progress], None]
    queued: Callable[[list[str]], None]
    ended: Callable[[str, Ending, float], None]


class Supervisor:
    """Runs at most `slots[kind]` jobs of each worker kind at once; a queue holds the rest.

    Args:
        folder: where worker servers log.
        slots: jobs at once, by worker kind.
        memory_bytes: the budgets of all running jobs together stay below this (one job may always run).
        hooks: whom to tell.
        host: watches the machine's memory; when that runs out, the job that holds most is ended before anything else suffers.
        spawn: a fresh Python for each job instead of a fork.
        strict: files that are programs run only where the kernel contains them.
    """

    def __init__(
        self,
        folder: Path,
        slots: dict[WorkerKind, int],
        memory_bytes: int,
        hooks: Hooks,
        host: HostMemory,
        *,
        spawn: bool,
        strict: bool,
    ) -> None:
        self._folder, self._slots, self._memory_bytes, self._hooks = folder, slots, memory_bytes, hooks
        self._host, self._spawn, self._strict = host, spawn, strict
        self._lock = threading.Lock()
        self._queue: list[Queued] = []
        self._cancelled: set[str] = set()
        self._wanted: set[WorkerKind] = set()
        self._running: dict[str, RunningJob] = {}
        self._entries: dict[str, Queued] = {}
        self._servers: dict[WorkerKind, WorkerServer] = {}
        self._failures: dict[WorkerKind, int] = {}
        self._wake_read, self._wake_write = os.pipe()
        for descriptor in (self._wake_read, self._wake_write):
            os.set_blocking(descriptor, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wake_read, selectors.EVENT_READ, None)
        self._stopping = False
        self._thread = threading.Thread(target=self._loop, name="supervisor", daemon=True)
        self._thread.start()

    def submit(self, queued: Queued) -> None:
        """Adds a job to the queue."""
        with self._lock:
            self._queue.append(queued)
        self._wake()

    def cancel(self, job_id: str) -> None:
        """Ends a job, queued or running."""
        with self._lock:
            self._cancelled.add(job_id)
        self._wake()

    def warm(self, kind: WorkerKind) -> None:
        """Starts a worker server now instead of with the first job."""
        with self._lock:
            self._wanted.add(kind)
        self._wake()

    def ready(self, kind: WorkerKind) -> bool:
        """Whether the server of this kind has its imports done."""
        server = self._servers.get(kind)
        return server is not None and server.ready

    def server_pids(self) -> dict[str, int]:
        """Process ids of the worker servers, by kind."""
        return {kind: server.process.pid for kind, server in list(self._servers.items())}

    def stop(self) -> None:
        """Kills every job and server and ends the thread."""
        self._stopping = True
        self._wake()
        self._thread.join(timeout=10)

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_write, b".")

    def _loop(self) -> None:
        while not self._stopping:
            try:
                self._step()
            except Exception:  # noqa: BLE001 - one bad job must never end the thread that watches all others
                _log.exception("the supervisor stumbled; it goes on")
                time.sleep(0.1)
        for running in self._running.values():
            running.kill(Verdict(Status.CANCELLED, "The server was stopped."))
            running.close()
        for server in self._servers.values():
            server.stop()
        self._selector.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _step(self) -> None:
        for key, _ in self._selector.select(_TICK_S if self._running else 1.0):
            if key.fd == self._wake_read:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake_read, 4096)
            elif isinstance(key.data, WorkerServer):
                self._hear(key.data)
        self._apply_cancels()
        for running in list(self._running.values()):
            before = running.progress
            running.look()
            if running.progress != before:
                self._hooks.moved(running.id, running.progress)
            if running.pid is None and time.monotonic() - running.asked_s > _REPLY_S:
                self._lost(running.server, "did not answer")
        if self._running and self._host.look():
            self._make_room()
        with self._lock:
            wanted, self._wanted = self._wanted, set()
        for kind in wanted:
            self._server(kind)
        self._start_waiting()

    def _make_room(self) -> None:
        """Ends the job that holds most of the machine's memory, unless one is ending already; of equals the youngest."""
        from stethoscope.jobs.shortage import host_sentence  # imported where memory ran out

        running = list(self._running.values())
        if any(one.killed is not None for one in running):
            return
        largest = max(running, key=lambda one: (one.held_bytes, one.started_s))
        if largest.held_bytes < WORTH_ENDING_BYTES:
            return
        others = [one.held_bytes for one in running if one is not largest]
        own = [os.getpid(), *self.server_pids().values()]
        account = self._host.account(largest.held_bytes, len(others), sum(others), own)
        sentence = host_sentence(largest.job, largest.progress.phase, account)
        _log.info("job %s: %s", largest.id, sentence)
        largest.kill(Verdict(Status.OUT_OF_MEMORY, sentence, "host", account))

    def _start_waiting(self) -> None:
        while (queued := self._next()) is not None:
            server = self._server(queued.job.worker)
            try:
                if queued.attempts:
                    clear(queued.folder)
                protocol.write_job(queued.folder, queued.job, require_containment=self._strict)
            except OSError as error:
                _log.warning("job %s could not be written: %s", queued.id, error)
                self._finish_unstarted(queued, Verdict(Status.FAILED, protocol.DISK_FULL))
                continue
            try:
                running = RunningJob(queued.id, queued.job, queued.folder, server)
            except OSError:
                with self._lock:
                    self._queue.insert(0, queued)
                self._lost(server, "could not be reached")
                return
            queued.attempts += 1
            self._running[queued.id] = running
            self._entries[queued.id] = queued
            self._hooks.started(queued.id)

    def _next(self) -> Queued | None:
        """Takes the next job that may start: fair between owners, first come first served within one."""
        with self._lock:
            busy: dict[str, int] = {}
            for entry in self._entries.values():
                busy[entry.owner] = busy.get(entry.owner, 0) + 1
            for queued in sorted(self._queue, key=lambda waiting: busy.get(waiting.owner, 0)):
                if self._may_start(queued.job):
                    self._queue.remove(queued)
                    self._hooks.queued([waiting.id for waiting in self._queue])
                    return queued
        return None

    def _may_start(self, job: Job) -> bool:
        same = [running for running in self._running.values() if running.job.worker == job.worker]
        promised = sum(running.job.budget.memory_bytes for running in self._running.values())
        server = self._server(job.worker)
        return (
            server.ready
            and len(same) < self._slots[job.worker]
            and not any(running.pid is None for running in same)
            and (not self._running or promised + job.budget.memory_bytes <= self._memory_bytes)
            and not (self._running and self._host.short)
        )

    def _apply_cancels(self) -> None:
        with self._lock:
            cancelled, self._cancelled = self._cancelled, set()
            dropped = [queued for queued in self._queue if queued.id in cancelled]
            self._queue = [queued for queued in self._queue if queued.id not in cancelled]
        for queued in dropped:
            self._finish_unstarted(queued, Verdict(Status.CANCELLED, "Cancelled before it started."))
        for job_id in cancelled & self._running.keys():
            running = self._running[job_id]
            running.kill(Verdict(Status.CANCELLED, f"Cancelled while in phase “{running.progress.phase}”."))

    def _finish_unstarted(self, queued: Queued, verdict: Verdict) -> None:
        ending = Ending(queued.job, 0, 0, Progress(), 0, "", verdict, None, None)
        self._hooks.ended(queued.id, ending, 0.0)

    def _server(self, kind: WorkerKind) -> WorkerServer:
        server = self._servers.get(kind)
        if server is None:
            server = WorkerServer.take_early(kind) or WorkerServer.start(
                kind, self._folder / f"{kind}-server.log", spawn=self._spawn
            )
            self._servers[kind] = server
            self._selector.register(server.connection, selectors.EVENT_READ, server)
        return server

    def _hear(self, server: WorkerServer) -> None:
        try:
            for message in server.receive():
                self._on_message(server, message)
        except (ConnectionError, ValueError):
            self._lost(server, "ended")

    def _on_message(self, server: WorkerServer, message: dict[str, object]) -> None:
        if "ready" in message:
            server.ready = True
            self._failures[server.kind] = 0
            return
        running = self._running.get(str(message["job"]))
        if running is None:
            return
        if "pid" in message:
            running.pid = int(str(message["pid"]))
            if running.killed is not None:
                running.kill(running.killed)
        else:
            self._finish(running, int(str(message["exit"])), int(str(message["signal"])))

    def _finish(self, running: RunningJob, exit_code: int, signal_number: int) -> None:
        ending = running.ended(exit_code, signal_number, host_short=self._host.nearly_short)
        try:
            if running.go_on(ending):
                return
        except OSError:
            self._lost(running.server, "could not be reached")
            return
        running.close()
        if running.killed is not None and running.killed.mechanism == "host":
            self._host.pause()
        del self._running[running.id]
        del self._entries[running.id]
        self._hooks.ended(running.id, ending, time.monotonic() - running.started_s)

    def _lost(self, server: WorkerServer, how: str) -> None:
        """A server is gone: its jobs are started again in a new one, once; it was not their fault."""
        if self._servers.get(server.kind) is not server:
            return
        _log.warning("the %s worker server %s; starting another", server.kind, how)
        del self._servers[server.kind]
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(server.connection)
        server.stop()
        if not server.ready:
            self._failures[server.kind] = self._failures.get(server.kind, 0) + 1
        for running in [running for running in self._running.values() if running.server is server]:
            queued = self._entries.pop(running.id)
            running.kill(running.killed or Verdict(Status.CRASHED, "The worker server ended twice during this job."))
            running.close()
            del self._running[running.id]
            if running.killed is not None and running.killed.status is not Status.CRASHED:
                self._finish_unstarted(queued, running.killed)
            elif queued.attempts < 2:
                with self._lock:
                    self._queue.insert(0, queued)
            else:
                self._finish_unstarted(
                    queued, Verdict(Status.CRASHED, "The worker server ended twice during this job.")
                )
        if self._failures.get(server.kind, 0) >= 3:
            self._give_up(server.kind)

    def _give_up(self, kind: WorkerKind) -> None:
        with self._lock:
            hopeless = [queued for queued in self._queue if queued.job.worker == kind]
            self._queue = [queued for queued in self._queue if queued.job.worker != kind]
            self._failures[kind] = 0
        reason = f"The {kind} worker could not start three times. Run `stethoscope doctor` to see what is missing."
        for queued in hopeless:
            self._finish_unstarted(queued, Verdict(Status.FAILED, reason))

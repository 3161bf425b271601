"""One job while its process lives: its pipes drained, its limits watched."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil

from stethoscope.codec import read_json
from stethoscope.jobs import protocol
from stethoscope.jobs.endings import Ending, Verdict, going_on
from stethoscope.jobs.host_memory import KernelKills
from stethoscope.jobs.workers import WorkerServer
from stethoscope.sizes import human_bytes
from stethoscope.task import OPEN_SIZE
from stethoscope.types import Job, Progress, Status

_LOG_TAIL_BYTES = 64 << 10
_PIPE_CHUNK_BYTES = 64 << 10
_DISK_LOOK_S = 1.0
_MOST_FORETOLD_BYTES = 64 << 10
_DISK_LOOK_SHARE = 0.05
"""Of the supervisor's time that looking at what one job wrote may take."""
_MAX_FILES = 250_000
_MOST_PROCESSES = 200
"""For one job, one after another."""


class RunningJob:
    """Owned by the supervisor's thread."""

    def __init__(self, job_id: str, job: Job, folder: Path, server: WorkerServer) -> None:
        self.id, self.job, self.folder, self.server = job_id, job, folder, server
        self.progress = Progress("starting")
        self.started_s = time.monotonic()
        self.killed: Verdict | None = None
        self._peak_before_bytes = 0
        self._earlier_processes = 0
        self._next_disk_look_s = 0.0
        self._start()

    def _start(self) -> None:
        """Asks the server for a process."""
        self.pid: int | None = None
        self.asked_s = time.monotonic()
        self.peak_bytes = self.held_bytes = 0
        self._kernel_kills = KernelKills()
        self._base_bytes: int | None = None
        self._log = bytearray()
        self._progress_rest = b""
        self._log_read, log_write = os.pipe()
        self._progress_read, progress_write = os.pipe()
        self._pipes: tuple[int, ...] = (self._log_read, self._progress_read)
        for descriptor in self._pipes:
            os.set_blocking(descriptor, False)
        try:
            self.server.send(self.id, self.folder, log_write, progress_write)
        except OSError:
            self.close()
            raise
        finally:
            os.close(log_write)
            os.close(progress_write)

    def go_on(self, ending: Ending) -> bool:
        """Starts another process where the task asked for it; returns whether it did.

        Raises:
            OSError: the server is gone.
        """
        before = going_on(ending) if self._earlier_processes < _MOST_PROCESSES else None
        if before is None:
            return False
        self._peak_before_bytes = max(self._peak_before_bytes, before.peak_bytes)
        self._earlier_processes += 1
        self.killed = None
        for name in ("result.json", "foretold.json", OPEN_SIZE):
            (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.folder / "tmp", ignore_errors=True)
        protocol.write_before(self.folder, before)
        self.close()
        self._start()
        return True

    def look(self) -> None:
        """Drains what the worker said, and kills it when it is over a limit.

        Reading a bounded amount each time makes a worker that floods its log wait instead of costing us time.
        """
        self._drain()
        if self.pid is None or self.killed is not None:
            return
        self._kernel_kills.watch(self.pid)
        self._watch_memory()
        now = time.monotonic()
        if now - self.started_s > self.job.budget.timeout_s:
            limit_s = self.job.budget.timeout_s
            self.kill(Verdict(Status.TIMED_OUT, f"Stopped after {limit_s:g} s {self.progress.where}."))
        elif now >= self._next_disk_look_s:
            self._watch_disk()
            passed_s = time.monotonic() - now
            self._next_disk_look_s = now + max(_DISK_LOOK_S, passed_s / _DISK_LOOK_SHARE)

    def kill(self, verdict: Verdict) -> None:
        """Ends the process and everything in its group; the first verdict stands."""
        self.killed = self.killed or verdict
        if self.pid is not None:
            for end in (os.killpg, os.kill):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    end(self.pid, signal.SIGKILL)

    def ended(self, exit_code: int, signal_number: int, *, host_short: bool = False) -> Ending:
        """What is known once the process has ended; `host_short` says that the machine had next to no memory left."""
        self._drain(until_empty=True)
        return Ending(
            job=self.job,
            exit_code=exit_code,
            signal_number=signal_number,
            progress=self.progress,
            peak_bytes=self.peak_bytes,
            log_tail=self.log_tail(),
            killed=self.killed,
            answer=read_json(self.folder / "result.json"),
            partial=read_json(self.folder / "partial.json"),
            foretold=self._foretold(),
            handed_over=protocol.handed_over(self.folder),
            peak_before_bytes=self._peak_before_bytes,
            kernel_killed=signal_number == signal.SIGKILL and self.killed is None and self._kernel_kills.counted,
            host_short=host_short,
        )

    def _foretold(self) -> Mapping[str, Any]:
        tensors, size = (
            read_json(self.folder / name, _MOST_FORETOLD_BYTES) or {} for name in ("foretold.json", OPEN_SIZE)
        )
        return {**tensors, **size}

    def log_tail(self) -> str:
        """The last of what the worker printed, as text."""
        return bytes(self._log).decode("utf-8", "replace")

    def close(self) -> None:
        """Frees the pipes; once more does nothing."""
        pipes, self._pipes = self._pipes, ()
        for descriptor in pipes:
            os.close(descriptor)

    def _drain(self, until_empty: bool = False) -> None:
        for descriptor, take in ((self._log_read, self._take_log), (self._progress_read, self._take_progress)):
            self._drain_one(descriptor, take, 64 if until_empty else 1)

    def _drain_one(self, descriptor: int, take: Callable[[bytes], None], chunks: int) -> None:
        for _ in range(chunks):
            try:
                chunk = os.read(descriptor, _PIPE_CHUNK_BYTES)
            except BlockingIOError:
                return
            if not chunk:
                return
            take(chunk)

    def _take_log(self, chunk: bytes) -> None:
        self._log += chunk
        del self._log[:-_LOG_TAIL_BYTES]

    def _take_progress(self, chunk: bytes) -> None:
        *lines, rest = (self._progress_rest + chunk).split(b"\n")
        self._progress_rest = rest[-protocol.MAX_PROGRESS_LINE_BYTES :]
        for line in lines[-1:]:
            try:
                value = json.loads(line)
                fraction = value["fraction"]
                self.progress = Progress(
                    str(value["phase"])[:200],
                    None if fraction is None else min(1.0, max(0.0, float(fraction))),
                    str(value["message"])[:1000],
                )
            except (ValueError, KeyError, TypeError):
                continue

    def _watch_memory(self) -> None:
        held = _anonymous_bytes(self.pid or 0)
        if held is None:
            return
        if self._base_bytes is None:
            # A fork starts with what its server holds; it may have grown by the time it is first looked at.
            server = _anonymous_bytes(self.server.process.pid)
            self._base_bytes = held if server is None else min(held, server)
        added = held - self._base_bytes
        self.held_bytes, self.peak_bytes = added, max(self.peak_bytes, added)
        limit = self.job.budget.memory_bytes
        if added > limit + max(limit // 50, 32 << 20):
            self.kill(
                Verdict(
                    Status.OUT_OF_MEMORY,
                    f"Stopped at {human_bytes(added)} {self.progress.where}: the memory limit is {human_bytes(limit)}.",
                )
            )

    def _watch_disk(self) -> None:
        total = count = 0
        for parent, _, names in os.walk(self.folder):
            for name in names:
                count += 1
                with contextlib.suppress(OSError):
                    total += (Path(parent) / name).lstat().st_blocks * 512
            if total > self.job.budget.disk_bytes or count > _MAX_FILES:
                limit = human_bytes(self.job.budget.disk_bytes)
                self.kill(
                    Verdict(Status.FAILED, f"Stopped: it wrote more than {limit}, or more than {_MAX_FILES:,} files.")
                )
                return


def _resident_bytes(pid: int) -> int | None:
    """Resident memory, where the system does not tell shared from own."""
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return None


def _anonymous_bytes(pid: int) -> int | None:
    """Memory of a process that is its own: anonymous and shared, without file-backed pages; None when it is gone."""
    if sys.platform != "linux":
        return _resident_bytes(pid)
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    total = 0
    for line in status.splitlines():
        if line.startswith(("RssAnon:", "RssShmem:")):
            total += int(line.split()[1]) * 1024
    return total

"""Try, from inside a worker, what no worker may do: the evidence behind `stethoscope doctor`."""

from __future__ import annotations

import os
import resource
import socket
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stethoscope.task import TaskContext


@dataclass(frozen=True)
class Attempt:
    """One thing that was tried."""

    stopped: bool
    how: str


@dataclass(frozen=True)
class Limits:
    """What the process was given."""

    address_data_bytes: int
    file_size_bytes: int
    cpu_s: int
    core_bytes: int
    own_process_group: bool


@dataclass(frozen=True)
class Probed:
    """What was tried, and what stopped it."""

    attempts: Mapping[str, Attempt]
    """By what was tried, in words."""
    limits: Limits


class Probe:
    """params: {"forbidden_read", "forbidden_write": paths, "connect_port": a port that listens on localhost}."""

    kind = "probe"
    answer = Probed

    def run(self, context: TaskContext) -> Probed:
        """Makes each attempt, and says whether it was stopped and how."""
        target = Path(str(context.params["forbidden_read"]))
        outside = Path(str(context.params["forbidden_write"]))
        port = int(context.params["connect_port"])
        attempts = {
            "read a file outside the job": _attempt(target.read_bytes),
            "write a file outside the job": _attempt(lambda: outside.write_text("x")),
            "connect to the network": _attempt(lambda: socket.create_connection(("127.0.0.1", port), 1).close()),
            "start a program": _attempt(lambda: os.posix_spawn("/bin/true", ["true"], {})),
            "start a process": _attempt(_fork),
            "signal its parent": _attempt(lambda: os.kill(os.getppid(), 0)),
            "write in its own folder": _attempt(_own_folder),
        }
        limits = Limits(
            address_data_bytes=resource.getrlimit(resource.RLIMIT_DATA)[0],
            file_size_bytes=resource.getrlimit(resource.RLIMIT_FSIZE)[0],
            cpu_s=resource.getrlimit(resource.RLIMIT_CPU)[0],
            core_bytes=resource.getrlimit(resource.RLIMIT_CORE)[0],
            own_process_group=os.getpgid(0) == os.getpid(),
        )
        return Probed(attempts, limits)


def _attempt(action: Callable[[], object]) -> Attempt:
    try:
        action()
    except OSError as error:
        return Attempt(True, f"{type(error).__name__}: {error.strerror}")
    return Attempt(False, "it worked")


def _fork() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _own_folder() -> None:
    with tempfile.NamedTemporaryFile() as stream:
        stream.write(b"x")


TASK = Probe()

"""Worker servers seen from the parent: started on demand, spoken to over one socket, started again when they die."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stethoscope.types import (
        WorkerKind,
    )  # not at run time: a command starts its worker before it imports anything else

_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "GRPC_VERBOSITY": "NONE",
    "KERAS_BACKEND": "tensorflow",
    "MPLBACKEND": "Agg",
}
_PASSED_ON = (
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "TF_ENABLE_ONEDNN_OPTS",
    "TZ",
)


@dataclass
class WorkerServer:
    """One running server process. Not thread-safe: only the supervisor's thread speaks to it."""

    kind: WorkerKind
    process: subprocess.Popen[bytes]
    connection: socket.socket
    ready: bool = False
    buffer: bytes = b""

    @classmethod
    def start(
        cls,
        kind: WorkerKind,
        log: Path,
        *,
        spawn: bool,
        preload: Sequence[str] = ("h5py", "onnx"),
        tasks: Sequence[str] = (),
    ) -> WorkerServer:
        """Starts a server; it says {"ready"} when its imports are done. Its own output goes to `log`.

        With `spawn` it makes a fresh Python for each job instead of forking, as macOS needs. `preload` names readers
        that most light jobs import; a job of a fork that has them is faster by that. `tasks` are the only kinds of jobs that are
        imported for, where these are known.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        environment = _ENVIRONMENT | {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        with log.open("ab") as output, theirs:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-m",
                    "stethoscope.jobs.worker.server",
                    "--kind",
                    kind,
                    "--socket",
                    str(theirs.fileno()),
                    "--preload",
                    ",".join(preload),
                    "--tasks",
                    ",".join(tasks),
                    *(["--spawn"] if spawn else []),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        ours.setblocking(False)
        return cls(kind, process, ours)

    @classmethod
    def start_early(cls, kind: WorkerKind, preload: Sequence[str], tasks: Sequence[str] = ()) -> None:
        """Starts a server that the next engine of this process will use: for a command that still has to be imported."""
        spawn = sys.platform == "darwin"
        _early[kind] = cls.start(kind, Path(os.devnull), spawn=spawn, preload=preload, tasks=tasks)

    @classmethod
    def take_early(cls, kind: WorkerKind) -> WorkerServer | None:
        """The server that `start_early` started, once; None when there is none."""
        return _early.pop(kind, None)

    def send(self, job_id: str, folder: Path, log: int, progress: int) -> None:
        """Asks for a child that runs the job in `folder`.

        Raises:
            OSError: the server is gone.
        """
        message = json.dumps({"job": job_id, "folder": str(folder)}).encode()
        self.connection.setblocking(True)
        self.connection.settimeout(10)
        try:
            socket.send_fds(self.connection, [message], [log, progress])
        finally:
            self.connection.setblocking(False)

    def receive(self) -> Iterator[dict[str, Any]]:
        """Yields what the server said since the last call.

        Raises:
            ConnectionError: the server is gone.
        """
        while True:
            try:
                chunk = self.connection.recv(1 << 16)
            except BlockingIOError:
                break
            if not chunk:
                raise ConnectionError("the worker server ended")
            self.buffer += chunk
        while b"\n" in self.buffer:
            line, self.buffer = self.buffer.split(b"\n", 1)
            yield json.loads(line)

    def stop(self) -> None:
        """Ends the server and, through it, every child."""
        self.connection.close()
        for signal_number in (signal.SIGTERM, signal.SIGKILL):
            try:
                self.process.send_signal(signal_number)
                self.process.wait(timeout=2)
                return
            except subprocess.TimeoutExpired:
                continue


_early: dict[WorkerKind, WorkerServer] = {}

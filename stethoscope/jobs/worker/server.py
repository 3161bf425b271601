"""The fork server: imports once what jobs need, then makes a fresh child for each job in milliseconds.

Speaks over one Unix socket (its standard input): the parent sends {"job", "folder"} with two descriptors (log and
progress); the server answers {"job", "pid"} at once and {"job", "exit", "signal"} when the child has ended. It runs
no operation of any framework itself: a process that has started one's threads cannot be forked safely.
It ends, and takes its children along, when the parent does.

Where a process with a framework in it cannot be forked (macOS), `--spawn` starts each job as a fresh Python instead:
slower by the import, the same in everything else.
"""

from __future__ import annotations

import argparse
import array
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from stethoscope.jobs.worker import child
from stethoscope.jobs.worker.containment import die_with_parent


class _Server:
    def __init__(self, connection: socket.socket, kind: str, *, spawn: bool) -> None:
        self._connection, self._kind, self._spawn = connection, kind, spawn
        self._jobs: dict[int, str] = {}
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def serve(self) -> None:
        self._say({"ready": os.getpid()})
        selector = selectors.DefaultSelector()
        selector.register(self._connection, selectors.EVENT_READ)
        selector.register(self._wake_read, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd == self._wake_read:
                    os.read(self._wake_read, 4096)
                    self._reap()
                elif not self._accept():
                    return

    def _accept(self) -> bool:
        """Takes one request; returns False when the parent is gone."""
        message, descriptors, _, _ = socket.recv_fds(self._connection, 1 << 16, 2)
        if not message:
            return False
        request = json.loads(message)
        log, progress = array.array("i", descriptors)
        start = self._spawned if self._spawn else self._forked
        pid = start(request["folder"], log, progress)
        self._jobs[pid] = request["job"]
        os.close(log)
        os.close(progress)
        self._say({"job": request["job"], "pid": pid})
        return True

    def _forked(self, folder: str, log: int, progress: int) -> int:
        pid = os.fork()
        if pid == 0:
            die_with_parent()
            self._connection.close()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.close(self._wake_read)
            os.close(self._wake_write)
            child.run(Path(folder), log, progress)
        return pid

    def _spawned(self, folder: str, log: int, progress: int) -> int:
        words = [
            sys.executable,
            "-I",
            "-m",
            "stethoscope.jobs.worker.child",
            self._kind,
            folder,
            str(log),
            str(progress),
        ]
        # Reaped by `_reap` like a forked child; Popen's own bookkeeping is not used.
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, pass_fds=[log, progress]).pid

    def _reap(self) -> None:
        while self._jobs:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            job = self._jobs.pop(pid, None)
            code = os.waitstatus_to_exitcode(status)
            if job is not None:
                self._say({"job": job, "exit": max(code, 0), "signal": max(-code, 0)})

    def _say(self, message: dict[str, Any]) -> None:
        self._connection.sendall(json.dumps(message).encode() + b"\n")


def main() -> None:
    """Runs until the parent closes its end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=("light", "tensorflow"), required=True)
    parser.add_argument("--socket", type=int, required=True)
    parser.add_argument("--preload", default="", help="readers to import before the first job, separated by commas")
    parser.add_argument("--tasks", default="", help="the only kinds of jobs to import for; all if not given")
    parser.add_argument("--spawn", action="store_true", help="a fresh Python for each job instead of a fork")
    arguments = parser.parse_args()
    die_with_parent()
    connection = socket.socket(fileno=arguments.socket)
    connection.set_inheritable(False)
    if not arguments.spawn:
        child.import_for(arguments.kind, list(filter(None, arguments.tasks.split(","))))
        for name in filter(None, arguments.preload.split(",")):
            importlib.import_module(name)
        gc.collect()  # what is free now is what a plain process has free too: memory is measured against it
        gc.freeze()
    try:
        _Server(connection, arguments.kind, spawn=arguments.spawn).serve()
    except (BrokenPipeError, ConnectionResetError):
        sys.exit(0)


if __name__ == "__main__":
    main()

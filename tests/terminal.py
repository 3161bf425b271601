"""A command run at a terminal, where it shows progress and can be interrupted; its answer is read from standard output."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import psutil

STETHOSCOPE = Path(sys.executable).with_name("stethoscope")


class Command:
    """A running command: what it shows on standard error so far, and its answer."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int, printed: IO[bytes]) -> None:
        self.process, self._terminal, self._printed = process, terminal, printed
        self.shown = ""
        self.shown_at_s: list[float] = []

    def until(self, text: str, timeout_s: float = 120.0) -> None:
        """Waits until this is shown."""
        end = time.monotonic() + timeout_s
        while text not in self.shown:
            assert time.monotonic() < end, f"{text!r} was not shown: {self.shown[-500:]!r}"
            assert self._read(1.0) or self.process.poll() is None, self.shown[-500:]

    def answer(self, timeout_s: float = 180.0) -> Any:
        """The JSON it prints at its end."""
        end = time.monotonic() + timeout_s
        while self.process.poll() is None:
            assert time.monotonic() < end, "it did not end"
            self._read(0.1)
        self._printed.seek(0)
        return json.loads(self._printed.read())

    def _read(self, wait_s: float) -> bool:
        ready, _, _ = select.select([self._terminal], [], [], wait_s)
        if not ready:
            return False
        try:
            self.shown += os.read(self._terminal, 1 << 16).decode("utf-8", "replace")
        except OSError:  # the other end is closed
            time.sleep(0.05)
            return False
        self.shown_at_s.append(time.monotonic())
        return True


@contextlib.contextmanager
def on_terminal(*words: object) -> Iterator[Command]:
    """Starts `stethoscope WORDS` with a terminal as its standard error; it is ended at the end."""
    ours, theirs = pty.openpty()
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            [STETHOSCOPE, *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=theirs,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
        )
        os.close(theirs)
        try:
            yield Command(process, ours, printed)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            os.close(ours)


def workers_of(pid: int) -> list[psutil.Process]:
    """The processes that run the jobs of a command: children of its worker servers."""
    return [worker for server in psutil.Process(pid).children() for worker in server.children()]

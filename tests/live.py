"""The real app on a free port with a workspace of its own, as a subprocess: for browser tests and benchmarks."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


class LiveServer:
    """A running app."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, base_path: str, workspace: Path, log: Path) -> None:
        self.process, self.port, self.workspace, self.log = process, port, workspace, log
        self.host = f"127.0.0.1:{port}"
        self.url = f"http://localhost:{port}{base_path}"
        self.base_path = base_path

    def healthy(self, timeout_s: float = 5.0) -> bool:
        """Whether it answers its health check."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("localhost", self.port, timeout=timeout_s)
            connection.request("GET", f"{self.base_path}/healthz")
            return connection.getresponse().status == 200
        return False

    def rss_bytes(self) -> int:
        """Memory of the server process alone."""
        return int(psutil.Process(self.process.pid).memory_info().rss)

    def mapped_libraries(self) -> str:
        """Every file the server process has mapped."""
        return Path(f"/proc/{self.process.pid}/maps").read_text()


@contextmanager
def live_server(
    folder: Path, *, base_path: str = "", port: int = 0, under: tuple[str, ...] = (), **settings: Any
) -> Iterator[LiveServer]:
    """Starts `stethoscope serve` and waits for it; kills it and its workers at the end.

    `port` 0 takes a free one; `under` is a command that the server's own is handed to (it must `exec` it).
    """
    port = port or free_port()
    workspace, log = folder / "workspace", folder / "server.log"
    environment = os.environ | {f"STETHOSCOPE_{key.upper()}": str(value) for key, value in settings.items()}
    command = [
        Path(sys.executable).with_name("stethoscope"),
        "serve",
        "--port",
        str(port),
        "--workspace",
        str(workspace),
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*under, *map(str, command), "--base-path", base_path],
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
    server = LiveServer(process, port, base_path.rstrip("/"), workspace, log)
    try:
        deadline = time.monotonic() + 180
        while not server.healthy():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the app did not start:\n{log.read_text()[-3000:]}")
            time.sleep(0.1)
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(5)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def chromium_path() -> str | None:
    """The system's Chromium, or None for Playwright's own."""
    given = os.environ.get("STETHOSCOPE_CHROMIUM")
    # The shell draws without a desktop around it, a fifth cheaper.
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return given or next((found for name in names if (found := shutil.which(name))), None)

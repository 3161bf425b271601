"""FiftyOne for one data set, in a process of its own on this machine; what runs is noted on disk."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil
from streamlit import config

from stethoscope.jobs.store import Entry
from stethoscope.settings import settings

MODULE: Final = "stethoscope.cli.in_fiftyone"
_LOCAL = ("localhost", "127.0.0.1", "::1")
_LINES = 12


@dataclass(frozen=True)
class Running:
    """A process that was started."""

    pid: int
    port: int
    alive: bool
    said: str
    """The end of what it wrote."""

    @property
    def ready(self) -> bool:
        """Whether the app answers."""
        return self.alive and "FiftyOne shows" in self.said


def is_local() -> bool:
    """Whether this server is for its own machine only: FiftyOne asks nobody who they are."""
    return str(config.get_option("server.address") or "") in _LOCAL


def command(data: Path | str, options: Mapping[str, Any], *, rows: int) -> list[str]:
    """The command line that opens data in FiftyOne."""
    target = str(options.get("target") or "")
    return ["python", "-m", MODULE, str(data), "--rows", str(rows), *(["--target", target] if target else [])]


def start(entry: Entry, options: Mapping[str, Any], *, rows: int) -> None:
    """Starts FiftyOne for this data on a free port."""
    folder = _folder(entry)
    folder.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    line = [*command(entry.path, options, rows=rows), "--title", entry.name, "--port", str(port)]
    environment = os.environ | {"FIFTYONE_DO_NOT_TRACK": "true"}
    environment.setdefault("FIFTYONE_DATABASE_DIR", str(settings().workspace / "fiftyone" / "database"))
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, *line[1:]], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        )
    (folder / "process.json").write_text(json.dumps({"pid": process.pid, "port": port}))


def running(entry: Entry) -> Running | None:
    """The process that was started last for this data; None before the first."""
    folder = _folder(entry)
    try:
        told = json.loads((folder / "process.json").read_text())
        log = (folder / "log.txt").read_text("utf-8", "replace")
    except (OSError, ValueError):
        return None
    return Running(
        int(told["pid"]),
        int(told["port"]),
        _process(int(told["pid"])) is not None,
        "\n".join(log.splitlines()[-_LINES:]),
    )


def stop(entry: Entry) -> None:
    """Ends it."""
    found = running(entry)
    process = None if found is None else _process(found.pid)
    if process is not None:
        for one in [*process.children(recursive=True), process]:
            with contextlib.suppress(psutil.Error):
                one.terminate()


def _process(pid: int) -> psutil.Process | None:
    """The process, if it is still ours: numbers are used again."""
    try:
        process = psutil.Process(pid)
        ours = MODULE in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return None
    return process if ours else None


def _folder(entry: Entry) -> Path:
    return settings().workspace / "fiftyone" / entry.id


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

"""One monitor that is kept in a folder: its settings, its own copies of what it compares with, and its runs."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stethoscope.codec import partial_of
from stethoscope.drift.report import DriftReport
from stethoscope.jobs.protocol import JobState
from stethoscope.studies.monitor import Monitor, MonitorRun, history, history_path, remember
from stethoscope.types import Status

FILE = "monitor.json"
_ABOUT, _UNDER_WAY = "about.json", "under-way"
_KEYS = ("id", "subject", "owner", "name", "created")
_LOOKED_AFTER_S = 60.0
_LOST = "The server stopped before this run ended. Run it again."


@dataclass(frozen=True)
class KeptMonitor:
    """One of them. `name` is what its owner calls it. Hostile text."""

    id: str
    subject: str
    """What it belongs to: the id of a model, or another id for monitors without one."""
    owner: str
    name: str
    created: str
    """ISO 8601."""
    folder: Path

    @property
    def path(self) -> Path:
        """What `stethoscope drift --monitor` takes."""
        return self.folder / FILE

    def monitor(self) -> Monitor:
        """What it compares with what.

        Raises:
            UnreadableFile, BadSetting: as `Monitor.load`.
        """
        return Monitor.load(self.path)

    def history(self) -> list[MonitorRun]:
        """Its runs, oldest first, wherever they were started."""
        return history(self.path)

    def used_s(self) -> float:
        """When it was last looked at, or a run of it ended, in seconds since the epoch."""
        found = [0.0]
        for path in (self.folder / _ABOUT, history_path(self.path)):
            with contextlib.suppress(FileNotFoundError):
                found.append(path.stat().st_mtime)
        return max(found)

    def looked_at(self) -> None:
        """Notes that somebody has it in view, so that it does not expire."""
        with contextlib.suppress(FileNotFoundError):
            if time.time() - self.used_s() > _LOOKED_AFTER_S:
                (self.folder / _ABOUT).touch(exist_ok=True)

    def written_to(self, folder: Path) -> KeptMonitor:
        """Writes what is known of it into a folder; returns it as it is there."""
        temporary = folder / f"{_ABOUT}.new"
        temporary.write_text(json.dumps({key: getattr(self, key) for key in _KEYS}))
        temporary.replace(folder / _ABOUT)
        return replace(self, folder=folder)

    @classmethod
    def at(cls, folder: Path) -> KeptMonitor | None:
        """The one that is kept in a folder; None where none is."""
        about = _read(folder / _ABOUT)
        if not set(_KEYS) <= set(about):
            return None
        known, subject, owner, name, created = (str(about[key]) for key in _KEYS)
        return cls(known, subject, owner, name, created, folder)

    def under_way(self) -> dict[str, str]:
        """The name of the current data of each run that has not ended, by the id of its job."""
        return {path.name: str(_read(path).get("current") or "") for path in files_in(self.folder / _UNDER_WAY)}

    def begun(self, job_id: str, current: str) -> None:
        """Notes that a run was started; `settle` writes it into the history once it has ended."""
        place = self.folder / _UNDER_WAY
        place.mkdir(exist_ok=True)
        (place / job_id).write_text(json.dumps({"current": current}))

    def settle(self, find: Callable[[str], JobState | None]) -> None:
        """Writes the runs that have ended into the history, each once, whoever looks.

        Args:
            find: the state of a job; None where it is not known any more.

        Raises:
            BadSetting: the history cannot be written.
        """
        for mark in files_in(self.folder / _UNDER_WAY):
            state = find(mark.name)
            if state is not None and not state.done:
                continue
            current = str(_read(mark).get("current") or "")
            ended_s = mark.stat().st_mtime if state is None or state.finished_s is None else state.finished_s
            try:
                mark.unlink()
            except FileNotFoundError:
                continue  # somebody else has it
            result = None if state is None else state.result
            if result is not None and result.status is Status.CANCELLED:
                continue
            when = datetime.fromtimestamp(ended_s, UTC)
            if result is None:
                remember(self.path, current, Status.FAILED, None, _LOST, when=when, job=mark.name)
                continue
            report = partial_of(result, DriftReport)
            remember(self.path, current, result.status, report, result.reason, when=when, job=mark.name)


def files_in(folder: Path) -> list[Path]:
    """What is in a folder, by name; nothing where there is none."""
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}

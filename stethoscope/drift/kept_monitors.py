"""Monitors that the dashboard keeps in the workspace: each a folder with its settings, its own copies of what it compares with, and its runs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stethoscope.drift.monitor import Monitor, history, remember
from stethoscope.drift.settings import DriftSettings
from stethoscope.errors import BadSetting, NotFound, StethoscopeError
from stethoscope.jobs.state import JobState
from stethoscope.store.entry import clean_name, is_id, new_id
from stethoscope.types import ModelFile, Status

MOST = 20
"""Monitors of one owner about one model."""
LONGEST_NAME = 80
_FILE, _ABOUT, _UNDER_WAY, _REMOVED = "monitor.json", "about.json", "under-way", ".removed"
_KEYS = ("id", "subject", "owner", "name", "created")
_REMOVED_S = 24 * 3_600.0
"""How long a removed monitor can be brought back."""
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
        return self.folder / _FILE

    def monitor(self) -> Monitor:
        """What it compares with what.

        Raises:
            UnreadableFile, BadSetting: as `Monitor.load`.
        """
        return Monitor.load(self.path)

    def history(self) -> list[dict[str, Any]]:
        """Its runs, oldest first, wherever they were started."""
        return history(self.path)

    def under_way(self) -> dict[str, str]:
        """The name of the current data of each run that has not ended, by the id of its job."""
        return {path.name: str(_read(path).get("current") or "") for path in _files(self.folder / _UNDER_WAY)}

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
        for mark in _files(self.folder / _UNDER_WAY):
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
            value: Mapping[str, Any] = (
                {"status": Status.FAILED.value, "reason": _LOST}
                if result is None
                else {"status": result.status.value, "reason": result.reason, **result.value}
            )
            remember(self.path, current, value, when=datetime.fromtimestamp(ended_s, UTC), job=mark.name)


class KeptMonitors:
    """Those of one workspace, by subject and id."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(
        self, subject: str, owner: str, name: str, reference: ModelFile, model: ModelFile | None, settings: DriftSettings,
        webhook: str = "", job: Mapping[str, Any] | None = None,
    ) -> KeptMonitor:  # fmt: skip
        """Makes one. It has its own copies of both files: it outlives the uploads.

        Args:
            subject: what it belongs to, as `KeptMonitor.subject`.
            owner: who may run and remove it.
            name: what it is called; "" for the reference's name.
            reference: what current data will be compared with.
            model: what both are run through; None for data only.
            settings: what is asked.
            webhook: where an alarm is sent.
            job: further parameters, as `Monitor.job`.

        Raises:
            BadSetting: the name is too long, there are too many, or the disk is full.
        """
        name = name.strip() or reference.name[:LONGEST_NAME]
        if len(name) > LONGEST_NAME:
            raise BadSetting(f"The name: expected at most {LONGEST_NAME} characters, got {len(name):,}. Shorten it.")
        if len(self.of(subject, owner)) >= MOST:
            raise BadSetting(f"Monitors of this model: expected at most {MOST}, got one more. Delete one first.")
        made = KeptMonitor(
            new_id(), subject, owner, name, datetime.now(UTC).isoformat(timespec="seconds"), Path()
        )  # fmt: skip
        folder = self._folder / subject / made.id
        try:
            folder.mkdir(mode=0o700, parents=True)
            files = [_own(one, folder / role) for role, one in (("reference", reference), ("model", model)) if one]
            Monitor(files[0], settings, files[1] if model else None, webhook, job or {}).save(folder / _FILE)
            about = {key: getattr(made, key) for key in _KEYS}
            (folder / _ABOUT).write_text(json.dumps(about))
        except (OSError, StethoscopeError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, StethoscopeError):
                raise
            raise BadSetting(
                f"The monitor cannot be kept here ({error.strerror}). Ask the operator for room."
            ) from error
        return replace(made, folder=folder)

    def of(self, subject: str, owner: str) -> list[KeptMonitor]:
        """An owner's monitors of a model, oldest first. What was removed long ago leaves the disk."""
        if not is_id(subject) or not (self._folder / subject).is_dir():
            return []
        found = []
        for folder in (self._folder / subject).iterdir():
            if folder.suffix == _REMOVED:
                if time.time() - folder.stat().st_mtime > _REMOVED_S:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            one = _kept(folder)
            if one is not None and one.owner == owner:
                found.append(one)
        return sorted(found, key=lambda one: (one.created, one.id))

    def get(self, subject: str, monitor_id: str) -> KeptMonitor:
        """The monitor with this id, for whoever has the id.

        Raises:
            NotFound: there is none, or it was deleted.
        """
        found = _kept(self._folder / subject / monitor_id) if is_id(subject) and is_id(monitor_id) else None
        if found is None:
            raise NotFound(
                "Monitor: expected one that is kept here, got one that is unknown or deleted. Choose another."
            )
        return found

    def remove(self, subject: str, monitor_id: str, owner: str) -> None:
        """Takes one away; `restore` brings it back for a day.

        Raises:
            NotFound: there is none, or it belongs to somebody else.
        """
        folder = self._mine(subject, monitor_id, owner)
        with contextlib.suppress(FileNotFoundError):
            os.utime(folder)
            folder.rename(folder.with_name(folder.name + _REMOVED))

    def restore(self, subject: str, monitor_id: str, owner: str) -> None:
        """Brings back what `remove` took away.

        Raises:
            NotFound: it is gone, or belongs to somebody else.
        """
        folder = self._mine(subject, monitor_id, owner, _REMOVED)
        with contextlib.suppress(FileNotFoundError):
            folder.rename(folder.with_name(monitor_id))

    def _mine(self, subject: str, monitor_id: str, owner: str, suffix: str = "") -> Path:
        folder = self._folder / subject / (monitor_id + suffix)
        found = _kept(folder) if is_id(subject) and is_id(monitor_id) else None
        if found is None or found.owner != owner:
            raise NotFound("Monitor: expected one of your own, got somebody else's or none. Save one yourself.")
        return folder


def _kept(folder: Path) -> KeptMonitor | None:
    about = _read(folder / _ABOUT)
    if not set(_KEYS) <= set(about):
        return None
    known, subject, owner, name, created = (str(about[key]) for key in _KEYS)
    return KeptMonitor(known, subject, owner, name, created, folder)


def _own(file: ModelFile, folder: Path) -> Path:
    """A copy under the user's name for it: readers go by suffixes. What nobody may write to is linked, which takes no room."""
    folder.mkdir(mode=0o700)
    path = folder / clean_name(file.name)
    if not file.path.stat().st_mode & 0o222:
        with contextlib.suppress(OSError):
            path.hardlink_to(file.path)
            return path
    shutil.copyfile(file.path, path)
    return path


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}

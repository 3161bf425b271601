"""Monitors that the dashboard keeps in the workspace: saved, found, removed, brought back.

What they keep counts in their owner's share of the store, once. They go with their model; those of a sample or of no model expire.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stethoscope.drift.settings import DriftSettings
from stethoscope.errors import BadSetting, NotFound, StethoscopeError
from stethoscope.jobs.store import Entry, Store
from stethoscope.jobs.store.schema import clean_name, is_id, new_id
from stethoscope.studies.kept_monitor import FILE, KeptMonitor, files_in
from stethoscope.studies.monitor import Monitor
from stethoscope.types import ModelFile

WITHOUT_MODEL = "without-model"
"""What monitors belong to that were saved while no model was chosen."""
MOST = 20
"""Monitors of one owner about one model."""
LONGEST_NAME = 80
_REMOVED = ".removed"
_REMOVED_S = 3_600.0
"""How long a removed monitor can be brought back, and counts."""
_UNFINISHED_S = 24 * 3_600.0


class KeptMonitors:
    """Those of one workspace, by subject and id.

    Args:
        folder: where they are kept.
        store: in which what they keep counts.
    """

    def __init__(self, folder: Path, store: Store) -> None:
        self._folder, self._store = folder, store

    def save(
        self,
        subject: str,
        owner: str,
        name: str,
        reference: Entry,
        model: Entry | None,
        settings: DriftSettings,
        webhook: str = "",
        job: Mapping[str, Any] | None = None,
    ) -> KeptMonitor:
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
            QuotaExceeded: what it keeps does not fit into the owner's share.
        """
        name = name.strip() or reference.name[:LONGEST_NAME]
        if len(name) > LONGEST_NAME:
            raise BadSetting(f"The name: expected at most {LONGEST_NAME} characters, got {len(name):,}. Shorten it.")
        if len(self.of(subject, owner)) >= MOST:
            raise BadSetting(f"Monitors of this model: expected at most {MOST}, got one more. Delete one first.")
        made = KeptMonitor(new_id(), subject, owner, name, datetime.now(UTC).isoformat(timespec="seconds"), Path())
        folder = self._folder / subject / made.id
        try:
            folder.mkdir(mode=0o700, parents=True)
            self._store.hold(made.id, owner, [one for one in (reference, model) if one])
            files = [_own(one.file, folder / role) for role, one in (("reference", reference), ("model", model)) if one]
            Monitor(files[0], settings, files[1] if model else None, webhook, job or {}).save(folder / FILE)
            return made.written_to(folder)
        except (OSError, StethoscopeError) as error:
            self._drop(folder)
            if isinstance(error, StethoscopeError):
                raise
            raise BadSetting(
                f"The monitor cannot be kept here ({error.strerror}). Ask the operator for room."
            ) from error

    def of(self, subject: str, owner: str) -> list[KeptMonitor]:
        """An owner's monitors of a model, oldest first. What was removed long ago leaves the disk."""
        if not is_id(subject):
            return []
        found = []
        for folder in files_in(self._folder / subject):
            if folder.suffix == _REMOVED:
                self._drop_if_older(folder, _REMOVED_S)
                continue
            one = KeptMonitor.at(folder)
            if one is not None and one.owner == owner:
                found.append(one)
                one.looked_at()
        return sorted(found, key=lambda one: (one.created, one.id))

    def get(self, subject: str, monitor_id: str) -> KeptMonitor:
        """The monitor with this id, for whoever has the id.

        Raises:
            NotFound: there is none, or it was deleted.
        """
        found = KeptMonitor.at(self._folder / subject / monitor_id) if is_id(subject) and is_id(monitor_id) else None
        if found is None:
            raise NotFound(
                "Monitor: expected one that is kept here, got one that is unknown or deleted. Choose another."
            )
        return found

    def remove(self, subject: str, monitor_id: str, owner: str) -> None:
        """Takes one away; `restore` brings it back for an hour.

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

    def going_with(self, model: Entry) -> list[KeptMonitor]:
        """The monitors that go when this model does: those whose owner has no other upload of the same file."""
        found = [KeptMonitor.at(folder) for folder in files_in(self._folder / model.id) if folder.suffix != _REMOVED]
        return [one for one in found if one is not None and self._heir(one, model) is None]

    def leave(self, model: Entry) -> None:
        """Ends what belongs to a model that was removed; who has another upload of the same file finds their monitors there."""
        for folder in files_in(self._folder / model.id):
            one = KeptMonitor.at(folder)
            heir = None if one is None or folder.suffix == _REMOVED else self._heir(one, model)
            if one is None or heir is None:
                self._drop(folder)
                continue
            target = self._folder / heir.id / folder.name
            target.parent.mkdir(mode=0o700, exist_ok=True)
            replace(one, subject=heir.id).written_to(folder)
            folder.rename(target)
        self._remove_if_empty(self._folder / model.id)

    def used_since(self, moment_s: float) -> set[str]:
        """What the monitors belong to that were run or looked at since then, in seconds since the epoch."""
        found = (KeptMonitor.at(folder) for folder in self._all() if folder.suffix != _REMOVED)
        return {one.subject for one in found if one is not None and one.used_s() >= moment_s}

    def clean(self, expire_s: float) -> None:
        """Removes monitors of models that are gone, those that expired, and what was removed or left unfinished.

        Args:
            expire_s: after so long without a run or a look those of samples and of no model expire; 0 keeps them.
        """
        holders = self._store.holders()  # before the folders: each is made before what it holds is noted
        here = set()
        for subject in files_in(self._folder):
            lasting = self._lasting(subject.name)
            for folder in files_in(subject):
                one = KeptMonitor.at(folder)
                here.add(folder.name.removesuffix(_REMOVED))
                if folder.suffix == _REMOVED:
                    self._drop_if_older(folder, _REMOVED_S)
                elif one is None:
                    self._drop_if_older(folder, _UNFINISHED_S)
                elif lasting is None or (lasting and 0 < expire_s < time.time() - one.used_s()):
                    self._drop(folder)
            self._remove_if_empty(subject)
        for holder in holders - here:
            self._store.release(holder)

    def _lasting(self, subject: str) -> bool | None:
        """Whether a subject stays whatever happens, so that its monitors expire by themselves; None where it is gone."""
        if subject == WITHOUT_MODEL:
            return True
        try:
            return self._store.get(subject).sample
        except NotFound:
            return None

    def _heir(self, one: KeptMonitor, model: Entry) -> Entry | None:
        same = (other for other in self._store.list(one.owner) if other.sha256 == model.sha256)
        return next((other for other in same if other.id != model.id), None)

    def _all(self) -> list[Path]:
        return [folder for subject in files_in(self._folder) for folder in files_in(subject)]

    def _drop(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self._store.release(folder.name.removesuffix(_REMOVED))

    def _drop_if_older(self, folder: Path, age_s: float) -> None:
        with contextlib.suppress(FileNotFoundError):
            if time.time() - folder.stat().st_mtime > age_s:
                self._drop(folder)

    @staticmethod
    def _remove_if_empty(folder: Path) -> None:
        with contextlib.suppress(OSError):
            folder.rmdir()

    def _mine(self, subject: str, monitor_id: str, owner: str, suffix: str = "") -> Path:
        folder = self._folder / subject / (monitor_id + suffix)
        found = KeptMonitor.at(folder) if is_id(subject) and is_id(monitor_id) else None
        if found is None or found.owner != owner:
            raise NotFound("Monitor: expected one of your own, got somebody else's or none. Save one yourself.")
        return folder


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

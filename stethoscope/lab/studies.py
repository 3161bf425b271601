"""Studies for the dashboard: each runs in a thread while pages come and go; what it came to is kept on disk."""

from __future__ import annotations

import functools
import json
import logging
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from stethoscope.errors import NotFound, StethoscopeError

Publish = Callable[[Mapping[str, Any]], None]
Cancelled = Callable[[], bool]
Work = Callable[[Publish, Cancelled], None]
"""Does the whole study: publishes its report (JSON values) whenever it has changed, and asks often whether to stop."""

_KEPT = 20
"""Studies kept of one kind and model; the oldest go."""
_ID = re.compile(r"\d{13}-[\w-]{6,20}")
_SAFE = re.compile(r"[\w-]{1,80}")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Study:
    """One study, under way or ended."""

    id: str
    kind: str
    entry_id: str
    owner: str
    created_s: float
    value: Mapping[str, Any]
    """The report so far."""
    done: bool = False
    cancelled: bool = False
    reason: str = ""
    """Why it could not be finished, a sentence for the user."""


class Studies:
    """Starts, watches, cancels and keeps studies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, tuple[Study, threading.Event]] = {}
        self._lock = threading.Lock()

    def start(self, kind: str, entry_id: str, owner: str, work: Work) -> str:
        """Starts a study in a thread of its own and returns its id at once."""
        study = Study(
            f"{int(time.time() * 1000):013d}-{secrets.token_urlsafe(6)}", kind, entry_id, owner, time.time(), {}
        )
        stop = threading.Event()
        with self._lock:
            self._running[study.id] = (study, stop)
        thread = threading.Thread(target=self._run, args=(study, stop, work), name=f"{kind}-{study.id}", daemon=True)
        thread.start()
        return study.id

    def find(self, study_id: str, entry_id: str) -> Study | None:
        """The study with this id about this model; None when it is not kept."""
        with self._lock:
            running = self._running.get(study_id)
        if running is not None:
            return running[0] if running[0].entry_id == entry_id else None
        return self._load(entry_id, study_id)

    def latest(self, kind: str, entry_id: str) -> Study | None:
        """The one under way, else the newest kept."""
        with self._lock:
            found = [study for study, _ in self._running.values() if (study.kind, study.entry_id) == (kind, entry_id)]
        if found:
            return found[-1]
        kept = (self._load(entry_id, path.stem) for path in sorted(self._place(entry_id).glob("*.json"), reverse=True))
        return next((study for study in kept if study is not None and study.kind == kind), None)

    def cancel(self, study_id: str) -> None:
        """Asks a running study to stop; what it has found stays."""
        with self._lock:
            found = self._running.get(study_id)
        if found is not None:
            found[1].set()

    def forget(self, entry_id: str) -> None:
        """Removes everything kept about a model."""
        shutil.rmtree(self._place(entry_id), ignore_errors=True)

    def _run(self, study: Study, stop: threading.Event, work: Work) -> None:
        def publish(value: Mapping[str, Any]) -> None:
            with self._lock:
                self._running[study.id] = (replace(self._running[study.id][0], value=value), stop)

        reason = ""
        try:
            work(publish, stop.is_set)
        except StethoscopeError as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001 - the last frame of a thread: the user gets a short id, the log the rest
            incident = secrets.token_hex(3)
            _log.exception("incident %s in study %s", incident, study.id)
            reason = f"Something went wrong on our side ({type(error).__name__}, report id {incident})."
        with self._lock:
            ended = replace(self._running[study.id][0], done=True, cancelled=stop.is_set(), reason=reason)
        try:
            self._save(ended)
        except (OSError, NotFound):
            _log.exception("study %s cannot be kept", study.id)
        with self._lock:
            del self._running[study.id]

    def _save(self, study: Study) -> None:
        place = self._place(study.entry_id)
        place.mkdir(parents=True, exist_ok=True)
        temporary = place / f"{study.id}.tmp"
        temporary.write_text(json.dumps(asdict(study)))
        temporary.replace(place / f"{study.id}.json")
        for path in sorted(place.glob("*.json"))[:-_KEPT]:
            path.unlink(missing_ok=True)

    def _load(self, entry_id: str, study_id: str) -> Study | None:
        if not _ID.fullmatch(study_id):
            return None
        try:
            return Study(**json.loads((self._place(entry_id) / f"{study_id}.json").read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def _place(self, entry_id: str) -> Path:
        if not _SAFE.fullmatch(entry_id):
            raise NotFound("There is no such model.")
        return self._folder / entry_id


@functools.cache
def studies() -> Studies:
    """The studies of this process."""
    from stethoscope.settings import settings

    return Studies(settings().workspace / "studies")

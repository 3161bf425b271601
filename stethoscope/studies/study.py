"""Studies for the dashboard: several jobs that answer one question, shown as they end, kept, and found again by id.

Each runs in a thread of its own while pages come and go; the work itself is done by the engine's workers.

The jobs of one study: started by name, waited for together, ended together.
"""

from __future__ import annotations

import functools
import json
import logging
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from stethoscope.errors import NotFound, StethoscopeError
from stethoscope.jobs.job_engine import Engine
from stethoscope.jobs.protocol import JobState
from stethoscope.types import Job, Status

R = TypeVar("R")
Publish = Callable[[R], None]
Cancelled = Callable[[], bool]
Work = Callable[[Publish[R], Cancelled], Any]
"""Does the whole study: publishes its report whenever it has changed, and asks often whether to stop."""

_INTERRUPTED = "The server was restarted while this ran. Run it again."
_FOLDERS = ("studies", "diagnoses")
_ID = re.compile(r"\d{13}-[\w-]{6,40}", re.ASCII)
_ENTRY = re.compile(r"[\w-]{1,80}", re.ASCII)
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Kind(Generic[R]):
    """What studies of one kind report, and how that is kept."""

    id: str
    to_json: Callable[[R], Mapping[str, Any]]
    from_json: Callable[[Mapping[str, Any]], R]
    """The inverse of `to_json`; raises StethoscopeError, KeyError, TypeError or ValueError for what it cannot read."""
    answers: Callable[[R], Hashable]
    """What of a report is more than progress: pages draw it anew, and it is kept, when this has changed."""
    cut_off: Callable[[R, Status, str], R] = lambda report, status, reason: report
    """The report of a study that could not end by itself: with how it ended instead, and why."""
    folder: str = _FOLDERS[0]
    most_kept: int = 20
    """Studies of one model kept in that folder; the oldest go."""


@dataclass(frozen=True)
class Study(Generic[R]):
    """One study, under way or ended."""

    id: str
    kind: str
    entry_id: str
    owner: str
    created_s: float
    report: R
    """What is known so far."""
    done: bool = False
    cancelled: bool = False
    reason: str = ""
    """Why it could not be finished, a sentence for the user."""


@dataclass
class _Running:
    study: Study[Any]
    stop: threading.Event
    same: str


class Studies:
    """Starts, finds, cancels and keeps studies: one JSON file each, in a folder for each model, replaced whole."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._running: dict[str, _Running] = {}
        self._lock = threading.Lock()

    def start(self, kind: Kind[R], entry_id: str, owner: str, work: Work[R], first: R, *, same: str = "") -> str:
        """Starts a study in a thread of its own and returns its id at once.

        Args:
            kind: of the study.
            entry_id: of the model it is about.
            owner: who asks.
            work: does it.
            first: the report before anything is known.
            same: a study under way that was started with the same words is joined; "" joins none.
        """
        now = time.time()
        study = Study(f"{int(now * 1000):013d}-{secrets.token_urlsafe(9)}", kind.id, entry_id, owner, now, first)
        with self._lock:
            for running in self._running.values():
                if same and (running.study.kind, running.same) == (kind.id, same):
                    return running.study.id
            running = self._running[study.id] = _Running(study, threading.Event(), same)
        self._save(kind, study)
        name = f"{kind.id}-{study.id}"
        threading.Thread(target=self._run, args=(kind, running, work), name=name, daemon=True).start()
        return study.id

    def find(self, kind: Kind[R], study_id: str, entry_id: str) -> Study[R] | None:
        """The study of this kind with this id about this model; None when it is not kept."""
        with self._lock:
            running = self._running.get(study_id)
        study = self._load(kind, entry_id, study_id) if running is None else running.study
        return study if study is not None and (study.kind, study.entry_id) == (kind.id, entry_id) else None

    def under_way(self, kind: Kind[R], entry_id: str) -> Study[R] | None:
        """The newest study of this kind about this model that has not ended."""
        with self._lock:
            running = [one.study for one in self._running.values()]
        wanted = (kind.id, entry_id)
        return next((study for study in reversed(running) if (study.kind, study.entry_id) == wanted), None)

    def kept(self, kind: Kind[R], entry_id: str) -> Iterator[Study[R]]:
        """The studies of this kind about a model, newest first; those that cannot be read are left out."""
        if _ENTRY.fullmatch(entry_id):
            for path in sorted(self._place(kind, entry_id).glob("*.json"), reverse=True):
                if (study := self.find(kind, path.stem, entry_id)) is not None:
                    yield study

    def latest(self, kind: Kind[R], entry_id: str) -> Study[R] | None:
        """The one under way, else the newest kept."""
        return self.under_way(kind, entry_id) or next(self.kept(kind, entry_id), None)

    def cancel(self, study_id: str) -> None:
        """Asks a running study to stop; what it has found stays."""
        with self._lock:
            running = self._running.get(study_id)
        if running is not None:
            running.stop.set()

    def forget(self, entry_id: str) -> None:
        """Removes everything kept about a model."""
        if _ENTRY.fullmatch(entry_id):
            for folder in _FOLDERS:
                shutil.rmtree(self._workspace / folder / entry_id, ignore_errors=True)

    def _run(self, kind: Kind[R], running: _Running, work: Work[R]) -> None:
        def publish(report: R) -> None:
            before = running.study.report
            running.study = replace(running.study, report=report)
            if kind.answers(report) != kind.answers(before):
                self._save(kind, running.study)

        reason = ""
        try:
            work(publish, running.stop.is_set)
        except StethoscopeError as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001 - the last frame of a thread: the user gets a short id, the log the rest
            incident = secrets.token_hex(3)
            _log.exception("incident %s in study %s", incident, running.study.id)
            reason = f"Something went wrong on our side ({type(error).__name__}, report id {incident}). What was found is below."
        ended = replace(running.study, done=True, cancelled=running.stop.is_set(), reason=reason)
        if reason:
            ended = replace(ended, report=kind.cut_off(ended.report, Status.FAILED, reason))
        self._save(kind, ended)
        with self._lock:
            del self._running[ended.id]

    def _save(self, kind: Kind[R], study: Study[R]) -> None:
        try:
            place = self._place(kind, study.entry_id)
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary = place / f"{study.id}.tmp"
            temporary.write_text(json.dumps({**vars(study), "report": kind.to_json(study.report)}))
            temporary.replace(place / f"{study.id}.json")
            if study.done:
                for path in sorted(place.glob("*.json"))[: -kind.most_kept]:
                    path.unlink(missing_ok=True)
        except (OSError, NotFound):
            _log.exception("study %s cannot be kept", study.id)

    def _load(self, kind: Kind[R], entry_id: str, study_id: str) -> Study[R] | None:
        if not (_ID.fullmatch(study_id) and _ENTRY.fullmatch(entry_id)):
            return None
        try:
            value = _as_now(json.loads((self._place(kind, entry_id) / f"{study_id}.json").read_text()), kind.id)
            study = Study(
                id=study_id,
                kind=str(value["kind"]),
                entry_id=entry_id,
                owner=str(value["owner"]),
                created_s=float(value["created_s"]),
                report=kind.from_json(value["report"]),
                done=True,
                cancelled=bool(value["cancelled"]),
                reason=str(value["reason"]),
            )
        except (OSError, ValueError, KeyError, TypeError, StethoscopeError):
            return None
        if value["done"]:
            return study
        report = kind.cut_off(study.report, Status.CANCELLED, _INTERRUPTED)
        return replace(study, report=report, cancelled=True, reason=_INTERRUPTED)

    def _place(self, kind: Kind[Any], entry_id: str) -> Path:
        if not _ENTRY.fullmatch(entry_id):
            raise NotFound("There is no such model.")
        return self._workspace / kind.folder / entry_id


def _as_now(value: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """A study as it is kept now, of one that a workspace of before holds."""
    if "value" in value:
        return {**value, "report": value["value"]}
    if "kind" in value:
        return value
    report = value["report"]
    ended = {"done": report["status"] is not None, "cancelled": report["status"] == Status.CANCELLED.value}
    return {**value, **ended, "kind": kind, "created_s": report["created_s"], "reason": report["reason"]}


@functools.cache
def studies() -> Studies:
    """The studies of this process."""
    from stethoscope.settings import settings

    return Studies(settings().workspace)


_ASK_S = 0.2
"""Between two questions whether to stop, where nothing happens to any job."""


class Parts:
    """Jobs of one owner about one model. `cancelled` is asked whenever something has happened, and often besides."""

    def __init__(self, engine: Engine, owner: str, entry_id: str, cancelled: Callable[[], bool]) -> None:
        self._engine, self._owner, self._entry_id, self._asked = engine, owner, entry_id, cancelled
        self._stopped = False
        self._ids: dict[str, str] = {}

    @property
    def under_way(self) -> list[str]:
        """The names of those that have not been told of as ended."""
        return list(self._ids)

    @property
    def cancelled(self) -> bool:
        """Whether the study was cancelled; it stays so."""
        self._stopped = self._stopped or self._asked()
        return self._stopped

    def start(self, name: str, job: Job, *, fresh: bool = False) -> str:
        """Submits a job under a name and returns its id.

        Raises:
            QuotaExceeded: the disk is full.
        """
        self._ids[name] = self._engine.submit(job, owner=self._owner, entry_id=self._entry_id, fresh=fresh)
        return self._ids[name]

    def ended(self, moved: Callable[[str, JobState], None] = lambda name, state: None) -> dict[str, JobState]:
        """Blocks until one or more have ended; returns how, nothing where none is under way.

        Once the study is cancelled all are, and end as that.

        Args:
            moved: gets where the others stand, each time something has happened.
        """
        seen = -1
        while self._ids:
            if self.cancelled:
                self.cancel()
            states = {name: self._engine.state(job_id) for name, job_id in self._ids.items()}
            over = {name: state for name, state in states.items() if state.done}
            for name in over:
                del self._ids[name]
            for name in self._ids:
                moved(name, states[name])
            if over:
                return over
            seen = self._engine.news(seen, _ASK_S)
        return {}

    def cancel(self) -> None:
        """Ends all that are under way."""
        for job_id in self._ids.values():
            self._engine.cancel(job_id)

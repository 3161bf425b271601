"""Diagnoses for the dashboard: started once, running while pages come and go, kept on disk."""

from __future__ import annotations

import functools
import logging
import secrets
import threading
import time
from dataclasses import replace
from pathlib import Path

from stethoscope.diagnosis.archive import Archive, Kept
from stethoscope.diagnosis.report import Report
from stethoscope.diagnosis.request import Request
from stethoscope.diagnosis.run import Diagnosis
from stethoscope.errors import NotFound
from stethoscope.jobs.job_engine import Engine
from stethoscope.types import Status

_INTERRUPTED = "The server was restarted while this diagnosis ran. Run it again."
_log = logging.getLogger(__name__)


class Diagnoses:
    """Runs each diagnosis in a thread of its own; the work itself is done by the engine's workers."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine, self._archive = engine, Archive(folder)
        self._running: dict[str, tuple[str, str, threading.Event]] = {}
        self._lock = threading.Lock()

    def start(self, request: Request) -> str:
        """Starts a diagnosis and returns its id at once; an equal one of this owner that is under way is joined."""
        key = repr(request)
        with self._lock:
            for running_id, (other, _, _) in self._running.items():
                if other == key:
                    return running_id
            diagnosis_id = f"{int(time.time() * 1000):013d}-{secrets.token_urlsafe(9)}"
            cancelled = threading.Event()
            self._running[diagnosis_id] = (key, request.entry_id, cancelled)
        self._save(request, diagnosis_id, Report(request.summary(), created_s=time.time()))
        thread = threading.Thread(
            target=self._run, args=(request, diagnosis_id, cancelled), name=f"diagnosis-{diagnosis_id}", daemon=True
        )
        thread.start()
        return diagnosis_id

    def report(self, entry_id: str, diagnosis_id: str) -> Report:
        """Where a diagnosis stands, or what it came to.

        Raises:
            NotFound: it is not kept.
        """
        return self._told(self._archive.load(entry_id, diagnosis_id)).report

    def history(self, entry_id: str) -> list[Kept]:
        """The diagnoses of a model, newest first."""
        return [self._told(kept) for kept in self._archive.list(entry_id)]

    def running(self, entry_id: str) -> str | None:
        """The id of a diagnosis of this model that is under way."""
        with self._lock:
            found = [key for key, (_, entry, _) in self._running.items() if entry == entry_id]
        return found[-1] if found else None

    def cancel(self, diagnosis_id: str) -> None:
        """Ends a running diagnosis within a second; what it has found stays."""
        with self._lock:
            found = self._running.get(diagnosis_id)
        if found is not None:
            found[2].set()

    def forget(self, entry_id: str) -> None:
        """Removes everything kept about a model."""
        self._archive.remove(entry_id)

    def _told(self, kept: Kept) -> Kept:
        with self._lock:
            alive = kept.id in self._running
        if kept.report.done or alive:
            return kept
        return replace(kept, report=replace(kept.report, status=Status.CANCELLED, reason=_INTERRUPTED))

    def _run(self, request: Request, diagnosis_id: str, cancelled: threading.Event) -> None:
        last = Report(request.summary(), created_s=time.time())

        def changed(report: Report) -> None:
            nonlocal last
            last = report
            self._save(request, diagnosis_id, report)

        try:
            Diagnosis(self._engine, request, changed, cancelled.is_set).run()
        except Exception as error:  # noqa: BLE001 - the last frame of a thread: the user gets a short id, the log the rest
            incident = secrets.token_hex(3)
            _log.exception("incident %s in diagnosis %s", incident, diagnosis_id)
            reason = f"Something went wrong on our side ({type(error).__name__}, report id {incident}). What was found is below."
            self._save(request, diagnosis_id, replace(last, status=Status.FAILED, reason=reason))
        finally:
            with self._lock:
                self._running.pop(diagnosis_id, None)

    def _save(self, request: Request, diagnosis_id: str, report: Report) -> None:
        try:
            self._archive.save(request.entry_id, Kept(diagnosis_id, request.owner, report))
        except (OSError, NotFound):
            _log.exception("diagnosis %s cannot be kept", diagnosis_id)


@functools.cache
def diagnoses() -> Diagnoses:
    """The diagnoses of this process."""
    from stethoscope.jobs import engine
    from stethoscope.settings import settings

    return Diagnoses(engine(), settings().workspace / "diagnoses")

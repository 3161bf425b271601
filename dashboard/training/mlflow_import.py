"""Fetches runs from an MLflow server that the operator allows, and keeps them as an upload of whoever asked.

Workers have no network, so this happens in the server process: bounded answers in JSON, read in a thread of its own, that
ends with a small database which workers read like any upload.
"""

from __future__ import annotations

import logging
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stethoscope.errors import NotFound, QuotaExceeded, StethoscopeError
from stethoscope.jobs.store import store
from stethoscope.logs.bounded_json import JsonServer
from stethoscope.logs.mlflow_run import MlflowRun, write_store
from stethoscope.logs.mlflow_server import Experiment, MlflowServer
from stethoscope.settings import settings
from stethoscope.types import UploadKind

_LOG = logging.getLogger(__name__)
FETCH_S = 600.0
_LIST_S = 20.0
_AT_ONCE, _PER_OWNER, _KEPT_S = 4, 1, 900.0


class Stopped(StethoscopeError):
    """The viewer cancelled."""


class _Watched(JsonServer):
    """Counts what the server answered, and asks no more once it is told to stop."""

    answers = 0

    def __init__(self, url: str, stop: threading.Event, *, token: str, user: str, password: str) -> None:
        super().__init__(url, token=token, user=user, password=password)
        self._stop = stop

    def get(self, path: str, query: Mapping[str, str | int], deadline: float) -> dict[str, Any]:
        """See `JsonServer.get`; raises Stopped too."""
        return self._counted(lambda: super(_Watched, self).get(path, query, deadline))

    def post(self, path: str, question: Mapping[str, Any], deadline: float) -> dict[str, Any]:
        """See `JsonServer.post`; raises Stopped too."""
        return self._counted(lambda: super(_Watched, self).post(path, question, deadline))

    def _counted(self, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if self._stop.is_set():
            raise Stopped("Reading was cancelled. Start it again when you want to.")
        answer = ask()
        self.answers += 1
        return answer


@dataclass
class Import:
    """Runs on their way from a server."""

    id: str
    owner: str
    url: str
    names: tuple[str, ...]
    """Of the experiments."""
    server: _Watched
    stop: threading.Event
    started_s: float = field(default_factory=time.monotonic)
    done: bool = False
    entry_id: str = ""
    """Of the upload that holds the runs; empty while there is none."""
    problem: str = ""
    ended_s: float = 0.0


_imports: dict[str, Import] = {}
_guard = threading.Lock()


def allowed() -> tuple[str, ...]:
    """Servers that may be asked."""
    return settings().mlflow_urls


def experiments(url: str) -> tuple[Experiment, ...]:
    """What a server has.

    Raises:
        NotFound: the operator does not allow it, or it does not answer in 20 s.
        BadSetting, UnreadableFile, TooLarge: see `JsonServer`.
    """
    return MlflowServer(_server(url, threading.Event()), _LIST_S).experiments()


def begin(url: str, chosen: Sequence[Experiment], owner: str) -> Import:
    """Starts to fetch all runs of some experiments.

    Raises:
        NotFound: the operator does not allow this server.
        QuotaExceeded: too many are under way.
    """
    stop = threading.Event()
    made = Import(secrets.token_urlsafe(12), owner, url, tuple(one.name for one in chosen), _server(url, stop), stop)
    with _guard:
        now = time.monotonic()
        for old in [one.id for one in _imports.values() if one.done and now - one.ended_s > _KEPT_S]:
            del _imports[old]
        running = [one for one in _imports.values() if not one.done]
        if len(running) >= _AT_ONCE or sum(one.owner == owner for one in running) >= _PER_OWNER:
            raise QuotaExceeded(
                "MLflow: expected less to be under way, got too many servers being read. Wait for one to end, or cancel it."
            )
        _imports[made.id] = made
    threading.Thread(target=_fetch, args=(made, tuple(chosen)), daemon=True, name="mlflow-import").start()
    return made


def find(import_id: str, owner: str) -> Import | None:
    """One's own import, or None when it is over for long."""
    with _guard:
        found = _imports.get(import_id)
    return found if found is not None and found.owner == owner else None


def _server(url: str, stop: threading.Event) -> _Watched:
    if url not in allowed():
        raise NotFound(
            f"{url[:100]}: expected a server the operator allows, got another. Ask for it in STETHOSCOPE_MLFLOW_URLS."
        )
    # What the operator gave for one server is not sent to another.
    names = ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD")
    token, user, password = (os.environ.get(name, "") if len(allowed()) == 1 else "" for name in names)
    return _Watched(url, stop, token=token, user=user, password=password)


def _fetch(made: Import, chosen: Collection[Experiment]) -> None:
    try:
        runs = MlflowServer(made.server, FETCH_S).whole_runs(list(chosen))
        if made.stop.is_set():
            raise Stopped("Reading was cancelled. Start it again when you want to.")
        if not runs:
            raise NotFound(f"{made.server.name}: expected runs in these experiments, got none. Choose others.")
        made.entry_id = _keep(runs, made)
    except StethoscopeError as error:
        made.problem = str(error)
    except Exception:  # noqa: BLE001 - the edge of a thread: the log has the traceback, the viewer a short id
        incident = secrets.token_hex(3)
        _LOG.exception("incident %s", incident)
        made.problem = f"Reading {made.server.name} failed on our side. Tell the operator the report id {incident}."
    finally:
        made.ended_s = time.monotonic()
        made.done = True


def _keep(runs: Sequence[MlflowRun], made: Import) -> str:
    with tempfile.TemporaryDirectory(prefix="mlflow-") as folder:
        path = Path(folder) / "mlflow.db"
        write_store(runs, path)
        name = made.names[0] if len(made.names) == 1 else f"{len(made.names)} experiments"
        return store().add_file(path, f"{name} at {made.server.name}.db", made.owner, UploadKind.LOGS).id

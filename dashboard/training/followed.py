"""Logs that pages and routes show: what a job read once, and folders that are followed while trainings write to them."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from dashboard.routes import owner_cookie
from stethoscope.errors import NotFound
from stethoscope.jobs import engine
from stethoscope.jobs.store import is_id
from stethoscope.logs.runs.table import RunTable
from stethoscope.settings import settings
from stethoscope.studies.followed_runs import Follower
from stethoscope.types import Budget, Status

_KEPT = 24
"""Tables that stay open; others are opened again when they are asked for."""
_MOST_FOLLOWED = 32
_IDLE_S = 1800.0
_LEFT_BEHIND_S = 2 * 24 * 3600.0
_MEMORY_BYTES = 4 << 30
_MAX_SUBFOLDERS = 1_000
_MOST_ANSWERS = 64
T = TypeVar("T")


@dataclass
class OpenLog:
    """A log as of now."""

    id: str
    title: str
    revision: int
    """Another number when something was added; 0 while nothing has been read."""
    live: bool
    table: RunTable | None = None
    problem: str = ""
    """Why there is nothing, or nothing new: a sentence, or empty."""
    progress: Mapping[str, Any] | None = None
    """Of the first reading: phase, fraction, message."""
    _index: list[bytes] = field(default_factory=list)
    _answers: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def index(self) -> dict[str, Any]:
        """Runs, tags and media, as GET api/runs/{id}/index answers."""
        found: dict[str, Any] = json.loads(self.index_bytes())
        return found

    def answer(self, question: Hashable, work_out: Callable[[], T]) -> T:
        """What is worked out of the log as it is now, once for all who look at it; the newest answers are kept."""
        with self._guard:
            if question in self._answers:
                found: T = self._answers[question]
                return found
        found = work_out()
        with self._guard:
            self._answers[question] = found
            while len(self._answers) > _MOST_ANSWERS:
                del self._answers[next(iter(self._answers))]
        return found

    def index_bytes(self) -> bytes:
        """`index` as JSON; made once."""
        if not self._index:
            empty: dict[str, Any] = {"runs": [], "tags": [], "media": [], "left_out": []}
            value = empty if self.table is None else self.table.index()
            head = {"revision": self.revision, "live": self.live, "title": self.title, "problem": self.problem}
            whole = {**head, "progress": self.progress, **value}
            self._index.append(json.dumps(whole, separators=(",", ":"), allow_nan=False).encode())
        return self._index[0]


class _Logs:
    """What is open in this process. Followers live as long as they are asked for; all of it can be made again."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.read: OrderedDict[str, OpenLog] = OrderedDict()
        self.followers: dict[str, Follower] = {}
        self.told: dict[str, OpenLog] = {}
        """Of each follower the last answer, whose index is made once."""
        self.folders: dict[str, Path] = {}


_logs = _Logs()


def allowed_folders() -> tuple[Path, ...]:
    """The folders of this server that may be named, as the settings give them."""
    return settings().log_folders


def follow(folder: Path | str) -> str:
    """The id under which a folder of this server is followed; the same one for everybody.

    Raises:
        NotFound: it is none that may be named.
    """
    place = _allowed(Path(folder))
    key = owner_cookie.read_key(settings().workspace / "cookie.key")
    log_id = "f" + hmac.new(key, f"follow:{place}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:39]
    with _logs.guard:
        _logs.folders[log_id] = place
    return log_id


def subfolders(folder: Path | str) -> list[Path]:
    """Folders in one that may be named, by name, without links; at most 1,000.

    Raises:
        NotFound: it is none that may be named.
    """
    place = _allowed(Path(folder))
    try:
        found = [Path(one.path) for one in os.scandir(place) if one.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise _refused(folder) from error
    return sorted(one for one in found if not one.name.startswith("."))[:_MAX_SUBFOLDERS]


def opened(log_id: str, *, look: bool = True) -> OpenLog:
    """The log behind an id: of a `read_runs` job, or of a folder that is followed; `look` reads what was added to that.

    Raises:
        NotFound: the id is unknown or expired.
        StethoscopeError: what was read cannot be opened.
    """
    with _logs.guard:
        if log_id in _logs.read:
            _logs.read.move_to_end(log_id)
            return _logs.read[log_id]
        place = _logs.folders.get(log_id)
        if not look and log_id in _logs.told:
            return _logs.told[log_id]
    if place is not None:
        return _of_folder(log_id, place)
    found = _of_job(log_id)
    if found.table is not None:
        with _logs.guard:
            found = _logs.read.setdefault(log_id, found)
            while len(_logs.read) > _KEPT:
                _logs.read.popitem(last=False)
    return found


def forget_idle() -> None:
    """Ends what nobody has asked for in half an hour."""
    with _logs.guard:
        closing = _idle("")
    for one in closing:
        one.close()


def forget_all() -> None:
    """Closes every log."""
    with _logs.guard:
        followers = list(_logs.followers.values())
        for kept in (_logs.read, _logs.followers, _logs.told, _logs.folders):
            kept.clear()
    for one in followers:
        one.close()


def _of_job(job_id: str) -> OpenLog:
    state = engine().state(job_id) if is_id(job_id) else None
    if state is None or state.kind != "read_runs":
        raise NotFound(
            "These runs: expected a link to logs that were read, got one that is unknown or expired. Open the log again."
        )
    if state.result is None:
        now = state.progress
        progress = {"phase": now.phase, "fraction": now.fraction, "message": now.message}
        return OpenLog(job_id, "", 0, live=False, progress=progress)
    if state.result.status is not Status.OK:
        return OpenLog(job_id, "", 0, live=False, problem=state.result.reason)
    table = RunTable.open(state.result.files)
    return OpenLog(job_id, table.title, 1, live=False, table=table)


def _of_folder(log_id: str, place: Path) -> OpenLog:
    _allowed(place)
    with _logs.guard:
        closing = _idle(log_id)
        if log_id not in _logs.followers:
            _logs.followers[log_id] = Follower(place, engine(), _scratch(), _budget())
        follower = _logs.followers[log_id]
    for one in closing:
        one.close()
    now = follower.look()
    with _logs.guard:
        last = _logs.told.get(log_id)
        if last is None or last.table is not now.table or last.problem != now.problem or last.progress != now.progress:
            last = OpenLog(
                log_id, place.name, now.revision, live=True, table=now.table, problem=now.problem, progress=now.progress
            )
            _logs.told[log_id] = last
    return last


def _idle(asked: str) -> list[Follower]:
    """Takes out followers nobody asks for, and the ones asked for longest ago where there are too many."""
    now = time.monotonic()
    by_age = sorted(_logs.followers, key=lambda one: _logs.followers[one].asked_s)
    many = max(0, len(by_age) + bool(asked and asked not in _logs.followers) - _MOST_FOLLOWED)
    old = [
        one
        for at, one in enumerate(by_age)
        if one != asked and (at < many or now - _logs.followers[one].asked_s > _IDLE_S)
    ]
    for one in old:
        _logs.told.pop(one, None)
    return [_logs.followers.pop(one) for one in old]


def _allowed(folder: Path) -> Path:
    """The folder itself, links resolved, when it is one of those allowed or below one."""
    try:
        place = folder.resolve(strict=True)
        roots = [one.resolve(strict=True) for one in allowed_folders() if one.exists()]
    except (OSError, RuntimeError, ValueError) as error:
        raise _refused(folder) from error
    if not folder.is_absolute() or not place.is_dir() or not any(place.is_relative_to(root) for root in roots):
        raise _refused(folder)
    return place


def _refused(folder: Path | str) -> NotFound:
    return NotFound(
        f"Folder: expected one of those this server may read (STETHOSCOPE_LOG_FOLDERS) or one below them, got {str(folder)[:200]!r}. "
        "Choose another one, or ask whoever runs this server."
    )


def _budget() -> Budget:
    return Budget(min(_MEMORY_BYTES, int(settings().job_memory_bytes)), settings().job_timeout_s)


def _scratch() -> Path:
    """A new folder for what a follower keeps; those a killed server left behind days ago are removed."""
    home = settings().workspace / "followed"
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    for path in home.iterdir():
        if time.time() - path.stat().st_mtime > _LEFT_BEHIND_S:
            shutil.rmtree(path, ignore_errors=True)
    return Path(tempfile.mkdtemp(dir=home))

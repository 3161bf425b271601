"""A folder of logs that is followed while trainings write to it, for as long as somebody asks how it stands.

Each look submits a short job that reads what came since the last one; nothing runs between looks.
"""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stethoscope.codec import answer_of
from stethoscope.errors import NotFound, QuotaExceeded, StethoscopeError
from stethoscope.logs.runs.columns import INDEX
from stethoscope.logs.runs.facts import Numbering
from stethoscope.logs.runs.segment import Segment, compact, first_to_join, open_segment, size
from stethoscope.logs.runs.table import RunTable
from stethoscope.tasks.read_runs import POSITIONS, RunsRead
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status

if TYPE_CHECKING:
    from stethoscope.jobs.job_engine import Engine

LOOK_EVERY_S: Final = 2.0
AFTER_FAILURE_S: Final = 15.0
_PATIENCE_S: Final = 0.25
"""How long a look waits for its job, which is mostly over by then."""


@dataclass(frozen=True)
class Standing:
    """How a followed log stands."""

    revision: int
    """Another number when something was added; 0 before the first reading ended."""
    table: RunTable | None
    problem: str
    """Why there is nothing new; empty where reading works."""
    progress: Mapping[str, Any] | None
    """Of the first reading: phase, fraction, message."""


class Follower:
    """Follows one folder.

    Args:
        place: the folder of logs.
        engine: runs the readings.
        scratch: an empty folder of its own, in the workspace of the engine.
        budget: of each reading.
    """

    def __init__(self, place: Path, engine: Engine, scratch: Path, budget: Budget) -> None:
        self.place, self.asked_s = place, time.monotonic()
        self._engine, self._scratch, self._budget = engine, scratch, budget
        self._lock = threading.Lock()
        self._numbering = Numbering()
        self._segments: list[tuple[Segment, Path]] = []
        self._positions: Path | None = None
        self._job = ""
        self._look_at_s = 0.0
        self._made = 0
        self._standing = Standing(0, None, "", {"phase": "queued", "fraction": None, "message": ""})

    def look(self) -> Standing:
        """How the log stands; starts a reading where the last one is old. Never waits long."""
        self.asked_s = time.monotonic()
        if self._lock.acquire(blocking=False):
            try:
                if not self._job and time.monotonic() >= self._look_at_s:
                    self._start()
                if self._job:
                    self._collect()
            finally:
                self._lock.release()
        return self._standing

    def close(self) -> None:
        """Ends a reading that is under way and removes what was kept."""
        with self._lock:
            if self._job:
                self._engine.cancel(self._job)
                self._engine.discard(self._job)
                self._job = ""
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _start(self) -> None:
        self._look_at_s = time.monotonic() + LOOK_EVERY_S
        if not self.place.is_dir():
            self._fail(f"{self.place.name}: the folder is not there any more. What was read of it stays.")
            return
        files = {"logs": ModelFile(self.place, self.place.name)}
        if self._positions is not None:
            files["since"] = ModelFile.at(self._positions)
        try:
            self._job = self._engine.submit(Job("read_runs", files, {"follow": True}, self._budget))
        except QuotaExceeded as error:
            self._fail(str(error))

    def _collect(self) -> None:
        try:
            result = self._engine.wait(self._job, _PATIENCE_S)
        except TimeoutError:
            self._say_progress()
            return
        except NotFound:
            self._job = ""
            return
        job, self._job = self._job, ""
        try:
            if result.status is not Status.OK:
                self._fail(result.reason)
            elif answer_of(result, RunsRead).changed:
                self._take(result)
            elif self._standing.problem:
                self._tell(self._standing.revision + 1)
        except (StethoscopeError, OSError) as error:
            self._fail(str(error))
        finally:
            self._engine.discard(job)

    def _say_progress(self) -> None:
        if self._standing.table is not None:
            return
        with contextlib.suppress(NotFound):
            now = self._engine.state(self._job).progress
            progress = {"phase": now.phase, "fraction": now.fraction, "message": now.message}
            self._standing = Standing(0, None, self._standing.problem, progress)

    def _take(self, result: JobResult) -> None:
        """Takes in a reading. Only when it is all there does the next one go on from where it ended."""
        folder = self._folder()
        shutil.move(result.files[INDEX].parent, folder)
        try:
            segment = _opened(folder)
        except StethoscopeError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        segments = [*self._segments, (segment, folder)]
        first = first_to_join([size(one) for one, _ in segments])
        gone: list[Path] = []
        if first < len(segments) - 1:
            joined = self._folder()
            compact([one for one, _ in segments[first:]], segment, joined)
            gone = [path for _, path in segments[first:]]
            segments[first:] = [(_opened(joined), joined)]
            shutil.copyfile(folder / POSITIONS, joined / POSITIONS)
        self._segments, self._positions = segments, segments[-1][1] / POSITIONS
        self._tell(self._standing.revision + 1)
        for path in gone:
            shutil.rmtree(path, ignore_errors=True)

    def _tell(self, revision: int) -> None:
        table = RunTable([one for one, _ in self._segments], self._numbering) if self._segments else None
        self._standing = Standing(revision, table, "", None)

    def _fail(self, reason: str) -> None:
        self._look_at_s = time.monotonic() + AFTER_FAILURE_S
        known = self._standing
        if known.problem != reason:
            self._standing = Standing(known.revision + (known.table is not None), known.table, reason, None)

    def _folder(self) -> Path:
        self._made += 1
        return self._scratch / str(self._made)


def _opened(folder: Path) -> Segment:
    return open_segment({path.name: path for path in folder.iterdir()})

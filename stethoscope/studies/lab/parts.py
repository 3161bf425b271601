"""The jobs of one study: started by name, waited for together, ended together."""

from __future__ import annotations

from collections.abc import Callable

from stethoscope.jobs.job_engine import Engine
from stethoscope.jobs.protocol import JobState
from stethoscope.types import Job

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

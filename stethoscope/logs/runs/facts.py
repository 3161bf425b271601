"""What is known of a run and of its sources, beside the points themselves; it travels as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from stethoscope.logs.series import Health

MAX_RUNS = 20_000
MAX_SOURCES = 50_000
MAX_TAGS = 100_000
_MAX_RESTARTS = 100


@dataclass(frozen=True)
class RunFacts:
    """One run without its points."""

    run: str
    """Its name, unique in the log."""
    group: str
    tracker: str
    unit: str
    """What its steps count: "step" or "epoch"."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    bad_records: int = 0
    truncated_bytes: int = 0
    restarts: tuple[int, ...] = ()
    left_out: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Paths below the folder that was read."""
    gone: bool = False
    """Whether its files have vanished since."""

    @property
    def problem(self) -> str:
        """What is wrong with its files, in a few words; empty when nothing is."""
        return Health(self.bad_records, (), self.truncated_bytes, (), self.left_out).problem

    @property
    def health(self) -> dict[str, Any]:
        """How whole its files are, as JSON."""
        return {
            "bad_records": self.bad_records,
            "truncated": self.truncated_bytes > 0,
            "restarts": list(self.restarts),
            "problem": self.problem,
            "left_out": list(self.left_out),
        }

    def to_json(self) -> dict[str, Any]:
        """As `run_from_json` reads it."""
        return asdict(self)


@dataclass(frozen=True)
class Source:
    """What points come from: an event file, or a run of any other tracker."""

    id: str
    """Unique in the log."""
    run: int
    """Index of its run."""
    serial: int
    """Another number when it was written anew: points with an older one are void."""
    prefix: str = ""
    """What goes before its tags."""


def run_from_json(value: Mapping[str, Any]) -> RunFacts:
    """The run a worker wrote down; values of other types than expected are made into those.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    return RunFacts(
        run=str(value["run"]),
        group=str(value["group"]),
        tracker=str(value["tracker"]),
        unit=str(value["unit"]),
        parameters=dict(value["parameters"]),
        notes={str(name): str(text) for name, text in dict(value["notes"]).items()},
        bad_records=int(value["bad_records"]),
        truncated_bytes=int(value["truncated_bytes"]),
        restarts=tuple(int(step) for step in value["restarts"][:_MAX_RESTARTS]),
        left_out=tuple(str(text) for text in value["left_out"]),
        files=tuple(str(name) for name in value["files"]),
        gone=bool(value["gone"]),
    )

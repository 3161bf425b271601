"""What is known of a run and of its sources, beside the points themselves; it travels as JSON.

Numbers of runs and tags, which they keep while a log grows: a chart that names one means the same run a minute later.

What one reading of a folder of logs found: every run, the points that are new, and where to go on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from stethoscope.codec import plain
from stethoscope.logs.series import Health, Media, Series

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


class Numbering:
    """Gives numbers in the order met."""

    def __init__(self) -> None:
        self.tags: dict[str, int] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._runs: list[RunFacts] = []

    @property
    def runs(self) -> tuple[RunFacts, ...]:
        """Every run there was, by its number; those that vanished are marked."""
        return tuple(self._runs)

    def take_runs(self, runs: Sequence[RunFacts]) -> list[int]:
        """Takes in the runs there are now; returns their numbers."""
        numbers = []
        for run in runs:
            key = (run.tracker, run.run)
            if key not in self._places:
                self._places[key] = len(self._runs)
                self._runs.append(run)
            self._runs[self._places[key]] = run
            numbers.append(self._places[key])
        present = set(numbers)
        for at, run in enumerate(self._runs):
            if at not in present and not run.gone:
                self._runs[at] = replace(run, gone=True)
        return numbers

    def take_tag(self, tag: str) -> int:
        """The number of a tag."""
        return self.tags.setdefault(tag, len(self.tags))


_MAX_TEXT = 8_000
_MAX_NAMED = 2_000
_MAX_ALL_TEXT = 24_000_000
"""Characters of the parameters and notes of all runs."""


class Piece(NamedTuple):
    """Points of one tag out of one source."""

    source: int
    series: Series


class MediaPiece(NamedTuple):
    """Media of one tag out of one source; their `file` is an index into the files of the source's run."""

    source: int
    media: Media


def first_state() -> dict[str, Any]:
    """Where to go on when nothing has been read."""
    return {"serial": 0, "events": {}, "others": {}, "signature": "", "seen": ""}


@dataclass
class Gathered:
    """Every run there is, and the points that are new."""

    runs: list[RunFacts] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    media: list[MediaPiece] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=first_state)
    """Where to go on, as JSON values."""
    left_out: list[str] = field(default_factory=list)
    """What was left out of the log as a whole, in sentences."""

    def next_serial(self) -> int:
        """A number no source has had."""
        self.state["serial"] += 1
        return int(self.state["serial"])

    def finish(self) -> None:
        """Holds the bounds, gives every run a name of its own, and notes what was seen."""
        if len(self.runs) > MAX_RUNS:
            self.left_out.append(f"of {len(self.runs):,} runs the last {MAX_RUNS:,} were kept")
            self._drop_runs(len(self.runs) - MAX_RUNS)
        tags = {one.series.tag for one in self.pieces} | {one.media.tag for one in self.media}
        if len(tags) > MAX_TAGS:
            self.left_out.append(f"of {len(tags):,} tags the first {MAX_TAGS:,} by name were kept")
            kept = set(sorted(tags)[:MAX_TAGS])
            self.pieces = [one for one in self.pieces if one.series.tag in kept]
            self.media = [one for one in self.media if one.media.tag in kept]
        self._bound_texts()
        names: set[str] = set()
        for at, run in enumerate(self.runs):
            name, count = run.run, 1
            while name in names:
                name, count = f"{run.run} ({run.tracker}{f' {count}' if count > 1 else ''})", count + 1
            names.add(name)
            self.runs[at] = run if name == run.run else replace(run, run=name)
        self.state["seen"] = digest(*(repr(run.to_json()).encode() for run in self.runs), repr(self.sources).encode())

    def _bound_texts(self) -> None:
        room, without = _MAX_ALL_TEXT, 0
        for at, run in enumerate(self.runs):
            room -= sum(len(name) + len(str(value)) for name, value in (*run.parameters.items(), *run.notes.items()))
            if room < 0:
                self.runs[at] = replace(run, parameters={}, notes={})
                without += 1
        if without:
            self.left_out.append(f"parameters and notes of {without:,} runs were left out: there are too many")

    def _drop_runs(self, first: int) -> None:
        kept = {at: new for new, at in enumerate(at for at, one in enumerate(self.sources) if one.run >= first)}
        self.runs = self.runs[first:]
        self.sources = [replace(one, run=one.run - first) for one in self.sources if one.run >= first]
        self.pieces = [Piece(kept[one.source], one.series) for one in self.pieces if one.source in kept]
        self.media = [MediaPiece(kept[one.source], one.media) for one in self.media if one.source in kept]


def bounded(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters or notes as JSON values: at most 2,000, texts cut at 8,000 characters."""
    found = {}
    for name, value in list(values.items())[:_MAX_NAMED]:
        one = plain(value)
        found[str(name)[:_MAX_TEXT]] = one[:_MAX_TEXT] if isinstance(one, str) else one
    return found


def digest(*contents: bytes | memoryview) -> str:
    """A short name of some bytes."""
    made = hashlib.blake2b(digest_size=16)
    for content in contents:
        made.update(content)
    return made.hexdigest()

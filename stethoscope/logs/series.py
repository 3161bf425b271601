"""What a log holds once it is read: every point of every tag of a run, what else is there, and how whole the files are.

What a tracker is, and how its files are found in a folder somebody sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

_MAX_RESTARTS = 100


@dataclass(frozen=True)
class Series:
    """One tag of one run, in the order written; all arrays have the shape (points,)."""

    tag: str
    step: npt.NDArray[np.int64]
    wall_time: npt.NDArray[np.float64]
    """Seconds since 1970; NaN where the log has no times."""
    value: npt.NDArray[np.float64]
    """Exactly as logged: NaN and infinities stay."""

    def latest(self) -> Series:
        """Without what a restarted run has overwritten: a point goes when a later one has the same or an earlier step."""
        kept = latest_places(self.step)
        return self if kept is None else Series(self.tag, self.step[kept], self.wall_time[kept], self.value[kept])


def latest_places(step: npt.NDArray[np.int64]) -> npt.NDArray[np.intp] | None:
    """Places of the points no later point overwrites, ascending; None when that is all of them."""
    if len(step) < 2 or bool(np.all(step[1:] > step[:-1])):
        return None
    lowest_after = np.minimum.accumulate(step[::-1])[::-1]
    return np.flatnonzero(np.append(step[:-1] < lowest_after[1:], True))


def restarts_of(series: Mapping[str, Series]) -> tuple[int, ...]:
    """Steps at which a run began anew below the step it had reached, ascending; at most 100 of them.

    A step stands there as often as the run began there, by the tag that shows it most often.
    """
    return most_restarts(restarts_by_tag(series).values())


def restarts_by_tag(series: Mapping[str, Series]) -> dict[str, list[int]]:
    """Steps at which tags go on below the step they had reached, in the order written; tags without any are left out."""
    found = {}
    for tag, one in series.items():
        back = np.flatnonzero(one.step[1:] < one.step[:-1]) + 1
        if len(back):
            found[tag] = one.step[back[:_MAX_RESTARTS]].tolist()
    return found


def most_restarts(of_tags: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """Each step as often as in the tag that has it most often."""
    found: Counter[int] = Counter()
    for steps in of_tags:
        found |= Counter(steps)
    return tuple(sorted(found.elements())[:_MAX_RESTARTS])


class Place(NamedTuple):
    """A position in a file of the log."""

    file: str
    """Its path below the folder that was read."""
    position: int
    """In bytes."""


@dataclass(frozen=True)
class Health:
    """How whole the files of a run are."""

    bad_records: int = 0
    """Records, rows or lines that were damaged and left out."""
    resynchronised: tuple[Place, ...] = ()
    """Where reading went on after damage (at most 100 are named)."""
    truncated_bytes: int = 0
    """Bytes of an incomplete last record: the file is cut, or still being written."""
    restarts: tuple[int, ...] = ()
    """Steps at which a run began anew below the step it had reached."""
    left_out: tuple[str, ...] = ()
    """What limits or unknown content left out, in sentences."""

    @property
    def problem(self) -> str:
        """What is wrong, in a few words; empty when nothing is."""
        records = "record" if self.bad_records == 1 else "records"
        parts = [f"{self.bad_records:,} damaged {records} left out"] if self.bad_records else []
        if self.truncated_bytes:
            parts.append(f"the last {self.truncated_bytes:,} bytes are an incomplete record")
        return "; ".join((*parts, *self.left_out))


@dataclass(frozen=True)
class Media:
    """Points of a tag that are no scalars, left in the file until asked for; all arrays have the shape (points,)."""

    tag: str
    kind: str
    """Of "histogram", "image", "text", "audio", "graph", "pr_curve", "hparams", "tensor", or the plugin's own name."""
    step: npt.NDArray[np.int64]
    wall_time: npt.NDArray[np.float64]
    file: npt.NDArray[np.int32]
    """Index into `RunLog.files`."""
    start: npt.NDArray[np.int64]
    """First byte of the record's content in that file."""
    size: npt.NDArray[np.int64]
    """Bytes of the content."""


@dataclass(frozen=True)
class RunLog:
    """One run as its tracker kept it."""

    run: str
    """Its name: unique in what was read."""
    tracker: str
    """Id of the tracker."""
    unit: str
    """What steps count: "step" or "epoch"."""
    series: Mapping[str, Series]
    media: Mapping[str, Media] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Hyper-parameters by name: numbers, texts or truth values."""
    health: Health = Health()
    files: tuple[str, ...] = ()
    """Paths below the folder that was read."""
    group: str = ""
    """Experiment or parent folder, where runs belong together."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What else the tracker says of the run: status, user, data version."""


MAX_TEXT_BYTES = 64 << 20
"""Bytes of one CSV or JSON log."""
MAX_POINTS = 1_000_000
"""Points kept of one text log."""


class Tracker(Protocol):
    """One way of writing logs."""

    id: str
    title: str

    def sniff(self, place: Path) -> bool:
        """Whether the folder or file holds logs of this tracker. Cheap; never raises for foreign content.

        The server asks it of each upload, in its own process: of some files of an archive, of how a long file begins.
        """
        ...

    def read(self, place: Path) -> tuple[RunLog, ...]:
        """Every run found, oldest first. What cannot be read is left out and named in `health`."""
        ...


def modified(path: Path) -> float:
    """When a file was last written, seconds since 1970."""
    return path.stat().st_mtime


def name_of(path: Path, place: Path) -> str:
    """A file's path below the folder that is read; its name when it is itself what is read."""
    return path.relative_to(place).as_posix() if path != place else path.name

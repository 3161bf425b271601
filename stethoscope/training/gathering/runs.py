"""Every run of whatever logs are there, and what they are beside each other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from stethoscope.errors import UnreadableFile
from stethoscope.evidence.runs import LoggedRun, SharedPoints
from stethoscope.logs import all_trackers
from stethoscope.logs.evidence.curves import CurveEvidence
from stethoscope.logs.series import RunLog, Series
from stethoscope.logs.walk import walked_once

_KEY_POINTS = 3
"""Runs are compared point by point where this many first points agree."""
_LEAST_VALUES = 3
"""A curve with fewer different values says nothing about where it came from."""
_FEWEST = 3


def gather_runs(place: Path, name: str = "") -> tuple[RunLog, ...]:
    """Reads every run that any tracker finds in a folder or file; names are made unique.

    Raises:
        UnreadableFile: no known kind of log is there.
    """
    found: list[RunLog] = []
    with walked_once(place):
        for tracker in all_trackers().values():
            if tracker.sniff(place):
                found.extend(tracker.read(place))
    if not found:
        kinds = ", ".join(tracker.title for tracker in all_trackers().values())
        raise UnreadableFile(
            f"{name or place.name}: expected training logs ({kinds}), got none. Send the folder the training wrote to."
        )
    return tuple(_renamed(found))


def _renamed(runs: Sequence[RunLog]) -> Iterator[RunLog]:
    taken: set[str] = set()
    for run in runs:
        name, number = run.run, 2
        while name in taken:
            name = f"{run.run} ({run.tracker}{'' if number == 2 else f' {number - 1}'})"
            number += 1
        taken.add(name)
        yield run if name == run.run else replace(run, run=name)


def logged_run(run: RunLog, curve: CurveEvidence | None, shared: tuple[SharedPoints, ...] = ()) -> LoggedRun:
    """A run as checks across runs see it; `curve` is its overview."""
    times = [time for one in run.series.values() for time in _ends(one)]
    return LoggedRun(
        run=run.run,
        group=run.group,
        tracker=run.tracker,
        unit=run.unit,
        parameters=dict(run.parameters),
        curve=curve,
        points=sum(len(one.step) for one in run.series.values()),
        shared=shared,
        first_wall=min(times, default=None),
        last_wall=max(times, default=None),
    )


def _ends(series: Series) -> list[float]:
    known = series.wall_time[np.isfinite(series.wall_time)]
    return [float(known.min()), float(known.max())] if len(known) else []


class Copies:
    """Finds runs whose losses and metrics are those of an earlier run."""

    def __init__(self) -> None:
        self._seen: dict[str, list[tuple[str, dict[str, Series]]]] = {}

    def add(self, run: RunLog, curve: CurveEvidence | None) -> tuple[SharedPoints, ...]:
        """What the run shares with the runs added before it: at most one of them, the one it shares most with."""
        tags = {} if curve is None else {role: tag for role, tag in curve.tags.items() if role != "learning_rate"}
        own = {tag: run.series[tag].latest() for tag in tags.values()}
        own = {tag: one for tag, one in own.items() if _tells(one)}
        if not own:
            return ()
        key = _key(own)
        earlier = self._seen.setdefault(key, [])
        found = [shared for name, other in earlier if (shared := _shared(name, other, own)) is not None]
        earlier.append((run.run, own))
        return tuple(sorted(found, key=lambda one: (one.whole, one.points), reverse=True)[:1])


def _tells(series: Series) -> bool:
    finite = series.value[np.isfinite(series.value)]
    return len(finite) >= _FEWEST and len(np.unique(finite[:1000])) >= _LEAST_VALUES


def _key(own: dict[str, Series]) -> str:
    digest = hashlib.sha256()
    for tag in sorted(own):
        digest.update(tag.encode() + own[tag].value[:_KEY_POINTS].tobytes())
    return digest.hexdigest()


def _shared(name: str, other: dict[str, Series], own: dict[str, Series]) -> SharedPoints | None:
    common: list[str] = []
    fewest, whole = 0, True
    for tag in sorted(own):
        one, two = own[tag].value, other[tag].value
        points = min(len(one), len(two))
        # NaN differs from itself; as bytes it does not.
        apart = np.flatnonzero(one[:points].view(np.int64) != two[:points].view(np.int64))
        equal = int(apart[0]) if len(apart) else points
        whole &= equal == len(one) == len(two)
        fewest = equal if not common else min(fewest, equal)
        common.append(tag)
    return SharedPoints(name, tuple(common), fewest, whole) if fewest >= _FEWEST else None

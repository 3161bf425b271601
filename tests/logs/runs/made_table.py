"""A table of runs as a worker leaves it, from runs made in a test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stethoscope.logs.runs.columns import write
from stethoscope.logs.runs.facts import Gathered, Piece, RunFacts, Source
from stethoscope.logs.runs.table import RunTable
from stethoscope.logs.series import RunLog


def table_of(folder: Path, logs: Sequence[RunLog]) -> RunTable:
    found = Gathered()
    for place, log in enumerate(logs):
        found.runs.append(RunFacts(log.run, log.group, log.tracker, log.unit, log.parameters, log.notes))
        found.sources.append(Source(log.run, place, 1))
        found.pieces += [Piece(place, one) for one in log.series.values()]
    write(found, folder / "out", "logs")
    return RunTable.open({path.name: path for path in (folder / "out").iterdir()})

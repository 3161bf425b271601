"""Logs of tests: what was read of them, as the table the server has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stethoscope.logs.runs.columns import write
from stethoscope.logs.runs.facts import Gathered, Piece, RunFacts, Source
from stethoscope.logs.runs.segment import Segment, open_segment
from stethoscope.logs.runs.table import RunTable
from stethoscope.logs.series import Series
from stethoscope.tasks.read_runs import gather


def files(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in folder.iterdir()}


def read(place: Path, out: Path, since: Mapping[str, Any] | None = None) -> tuple[Segment, dict[str, Any]]:
    """Reads a folder as a job does; returns the columns, and where to go on."""
    found, _ = gather(place, since)
    write(found, out, place.name)
    return open_segment(files(out)), found.state


def table_of(folder: Path, curves: Mapping[str, Mapping[str, Any]]) -> RunTable:
    """A table of runs; curves by run and tag: values, or (steps, values), or (steps, values, times)."""
    made = Gathered()
    for run, tags in curves.items():
        source = len(made.sources)
        made.sources.append(Source(f"tensorboard:{run}", source, source))
        made.runs.append(RunFacts(run, run.rpartition("/")[0], "tensorboard", "step", files=(run,)))
        for tag, given in tags.items():
            steps, values, *times = given if isinstance(given, tuple) else (range(len(given)), given)
            step = np.array(steps, np.int64)
            wall = np.array(times[0], np.float64) if times else 1e9 + 10.0 * np.arange(len(step))
            made.pieces.append(Piece(source, Series(tag, step, wall, np.array(values, np.float64))))
    write(made, folder, "log")
    return RunTable.open(files(folder))

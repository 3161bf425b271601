"""Every point of every run as one table: run, tag, step, wall_time, value."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable
from typing import TextIO

from stethoscope.logs.series import RunLog

COLUMNS = ("run", "tag", "step", "wall_time", "value")


def write_points(runs: Iterable[RunLog], stream: TextIO, tags: re.Pattern[str] | None = None) -> int:
    """Writes all points in the order logged, also those a restart overwrote; returns how many.

    Args:
        runs: what to write.
        stream: a text file opened with `newline=""`.
        tags: only tags in which this is found.

    Values are written so that they read back equal to the bit; "nan", "inf" and "-inf" are what they are called.
    A time that was not logged is empty.
    """
    rows = csv.writer(stream)
    rows.writerow(COLUMNS)
    count = 0
    for run in runs:
        for tag, series in sorted(run.series.items()):
            if tags is not None and not tags.search(tag):
                continue
            times = ("" if math.isnan(time) else repr(time) for time in series.wall_time.tolist())
            points = zip(series.step.tolist(), times, map(repr, series.value.tolist()), strict=True)
            rows.writerows((run.run, tag, step, time, value) for step, time, value in points)
            count += len(series.step)
    return count

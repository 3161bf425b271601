"""A log that is followed while trainings write to it: is every point there once, and does the memory stay as it was?

STETHOSCOPE_FOLLOW_MINUTES says for how long, 10 if it is not set.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.benchmark import Benchmark, median
from benchmarks.live_writer import TAGS, value_of
from stethoscope.jobs.job_engine import Engine
from stethoscope.logs.runs.chart import View
from stethoscope.logs.runs.table import RunTable
from stethoscope.logs.runs.window import window
from stethoscope.studies.followed_runs import Follower
from stethoscope.types import Budget

_MAX_GROWTH_BYTES = 32 << 20
_ROOT = Path(__file__).resolve().parents[1]


def run(folder: Path) -> dict[str, Any]:
    """Looks every half second, as several pages would, and asks for a chart each time."""
    seconds = 60 * float(os.environ.get("STETHOSCOPE_FOLLOW_MINUTES", "10"))
    place, scratch = folder / "logs", folder / "followed"
    place.mkdir()
    scratch.mkdir()
    engine = Engine(folder / "engine", {"light": 2, "tensorflow": 1}, 1 << 62)
    follower = Follower(place, engine, scratch, Budget(2 << 30, 300))
    writer = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.live_writer", str(place), str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=_ROOT,
    )
    started, held, files, looks, charts, doubled = time.monotonic(), [], [], [], [], 0
    try:
        while writer.poll() is None:
            begin = time.perf_counter()
            now = follower.look()
            looks.append(time.perf_counter() - begin)
            if now.table is not None and now.table.tags:
                begin = time.perf_counter()
                window(now.table, View(len(looks) % len(now.table.tags), smoothing=0.6))
                charts.append(time.perf_counter() - begin)
                doubled += _doubled(now.table)
            held.append((time.monotonic() - started, _own_bytes()))
            files.append(psutil.Process().num_fds())
            time.sleep(0.5)
        written: dict[str, int] = json.loads(writer.communicate()[0])
        table = _settled(follower)
        lost, wrong = _compare(table, written)
        segments = len(table.segments)
    finally:
        writer.kill()
        follower.close()
        engine.stop()
    early = [size for at, size in held if seconds * 0.2 < at <= seconds * 0.4]
    late = [size for at, size in held if at > seconds * 0.8]
    growth = median([float(one) for one in late]) - median([float(one) for one in early])
    kept = len(list((folder / "engine" / "jobs").iterdir()))
    return {
        "seconds": seconds,
        "points": sum(written.values()) * len(TAGS),
        "runs": len(written),
        "files": sum(1 for _ in place.rglob("*tfevents*")),
        "lost": lost,
        "doubled": doubled,
        "wrong": wrong,
        "memory_growth_bytes": growth,
        "descriptors": [files[len(files) // 4], files[-1]],
        "segments": segments,
        "job_folders_left": kept,
        "look_s": [median(looks), round(max(looks), 4)],
        "chart_s": [median(charts), round(max(charts), 4)],
        "holds": lost == doubled == wrong == 0 and growth <= _MAX_GROWTH_BYTES,
    }


def _settled(follower: Follower) -> RunTable:
    """The table once two readings after the end found nothing more."""
    revision, same = -1, 0
    while same < 3:
        time.sleep(2.2)
        now = follower.look()
        same = same + 1 if now.revision == revision else 0
        revision = now.revision
    assert now.table is not None
    return now.table


def _compare(table: RunTable, written: dict[str, int]) -> tuple[int, int]:
    """Points that are missing (or too many), and points that are not what was written."""
    lost = wrong = 0
    numbers = {one.run: at for at, one in enumerate(table.runs)}
    for run_name, points in written.items():
        for tag in TAGS:
            value = table.series(numbers[run_name], tag).value
            lost += abs(points - len(value))
            wrong += int(np.count_nonzero(value[:points] != value_of(tag, np.arange(points))[: len(value)]))
    return lost, wrong


def _doubled(table: RunTable) -> int:
    """Values of the first tag that are there twice, in a log in which no two are alike within a run."""
    curves = table.curves(0)
    return sum(
        len(value) - len(np.unique(value)) for value in (curves.value[curves.of(at)] for at in range(len(curves.runs)))
    )


def _own_bytes() -> int:
    """Memory of this process that is no file's."""
    memory = psutil.Process().memory_full_info()
    return int(getattr(memory, "rss", 0) - getattr(memory, "shared", 0))


BENCHMARK = Benchmark(
    "follow_live",
    f"of a log that is written to while it is followed no point lost, none doubled; memory grows by at most {_MAX_GROWTH_BYTES >> 20} MB",
    run,
)

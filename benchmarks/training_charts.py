"""A log of 1,000 runs and 20 tags: read by a worker, listed, and one chart of all runs, as the Training page asks for them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import many_runs
from benchmarks.benchmark import Benchmark, median
from stethoscope.codec import answer_of
from stethoscope.jobs.job_engine import Engine
from stethoscope.logs.runs.chart import View, pack
from stethoscope.logs.runs.columns import write
from stethoscope.logs.runs.table import RunTable
from stethoscope.logs.runs.window import window
from stethoscope.logs.tensorboard import EventFolder
from stethoscope.tasks.read_runs import RunsRead, gather
from stethoscope.types import Budget, Job, ModelFile, Status

RUNS, TAGS, POINTS = 1_000, 20, 1_000
_REPEATS = 7
_INDEX_S = 0.3
_CHART_S = 0.15
_OVERHEAD = 1.5


def run(folder: Path) -> dict[str, Any]:
    """Processor time, because others may use the machine; reading into columns is held against the readers alone."""
    place = folder / "logs"
    many_runs.write(place, RUNS, [f"layer_{at // 4}/tag_{at}" for at in range(TAGS)], POINTS)
    begin = time.process_time()
    EventFolder(place).poll()
    readers_s = time.process_time() - begin
    begin = time.process_time()
    write(gather(place)[0], folder / "columns", "log")
    columns_s = time.process_time() - begin
    engine = Engine(folder / "engine", {"light": 1, "tensorflow": 1}, 1 << 62)
    try:
        job = Job("read_runs", {"logs": ModelFile.at(place)}, {}, Budget(8 << 30, 600))
        result = engine.wait(engine.submit(job), 600)
        if result.status is not Status.OK:
            raise RuntimeError(result.reason)
        figures = _figures(result.files)
    finally:
        engine.stop()
    ratio = columns_s / readers_s
    figures |= {
        "points": answer_of(result, RunsRead).points,
        "readers_s": round(readers_s, 2),
        "job_wall_s": round(result.wall_s, 2),
        "job_peak_bytes": result.peak_rss_bytes,
        "columns_s": round(columns_s, 2),
        "columns_to_readers": round(ratio, 2),
    }
    slowest = max(figures["charts_s"].values())
    fits = figures["opened_s"] + figures["index_s"] <= _INDEX_S and slowest <= _CHART_S
    return figures | {"holds": fits and ratio <= _OVERHEAD}


def _figures(files: Any) -> dict[str, Any]:
    opened_s = _timed(lambda: RunTable.open(files))
    table = RunTable.open(files)
    groups = tuple((f"group-{at}", tuple(range(at, RUNS, 10))) for at in range(10))
    views = {
        "steps": View(0, columns=600),
        "smoothed": View(0, columns=600, smoothing=0.6),
        "smoothed strongly": View(0, columns=600, smoothing=0.99),
        "relative time": View(0, columns=600, x="relative", smoothing=0.6),
        "zoomed in": View(0, columns=600, low=2_000, high=2_500),
        "half of the runs": View(0, columns=600, runs=tuple(range(0, RUNS, 2))),
        "groups": View(0, columns=600, groups=groups, smoothing=0.6),
    }

    def chart(view: View) -> Callable[[], object]:
        return lambda: pack(window(table, view), 1)

    return {
        "opened_s": opened_s,
        "index_s": _timed(lambda: json.dumps(table.index())),
        "charts_s": {name: _timed(chart(view)) for name, view in views.items()},
    }


def _timed(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(_REPEATS):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return median(taken)


BENCHMARK = Benchmark(
    "training_charts",
    f"{RUNS:,} runs x {TAGS} tags x {POINTS:,} points: in columns in {_OVERHEAD}x the readers' time, listed in {_INDEX_S} s, a chart of all runs in {_CHART_S} s",
    run,
)

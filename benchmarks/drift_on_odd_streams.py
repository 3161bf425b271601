"""False alarms and power of `drift` on streams as outsiders bring them, written to files and read back as the command does.

DRIFT_BENCH_NULL and DRIFT_BENCH_POWER set how many repetitions are drawn per stream and size; DRIFT_BENCH_STREAMS names a few,
separated by semicolons.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark
from benchmarks.drift_odd_streams import STREAMS, OddStream, write
from stethoscope.data import open_data
from stethoscope.drift.reading import Side, read_side
from stethoscope.drift.scores import wilson
from stethoscope.drift.settings import DriftSettings
from stethoscope.drift.study import study
from stethoscope.types import ModelFile

ALPHA = 0.05
_NULL, _POWER = 200, 40
_BUDGET_BYTES = 2 << 30
_SETTINGS = DriftSettings(alpha=ALPHA, subgroups=False)


def run(folder: Path) -> dict[str, Any]:
    """Rates of alarm by stream and size of drift."""
    null = int(os.environ.get("DRIFT_BENCH_NULL", _NULL))
    power = int(os.environ.get("DRIFT_BENCH_POWER", _POWER))
    names = os.environ.get("DRIFT_BENCH_STREAMS", "")
    rows = []
    for stream in STREAMS:
        if names and stream.id not in names.split(";"):
            continue
        for size, times in ((0.0, null), *((size, power) for size in stream.sizes)):
            found = [_drifted(folder, stream, size, at) for at in range(times)]
            share = float(np.mean(found))
            low, high = wilson(share, times)
            rows.append({"stream": stream.id, "size": size, "runs": times, "rate": share, "low": low, "high": high})
            print(f"  {stream.id}, drift {size}: {share:.3f}", file=sys.stderr, flush=True)
    return {"rates": rows, "holds": all(row["low"] <= ALPHA for row in rows if not row["size"])}


def _drifted(folder: Path, stream: OddStream, size: float, at: int) -> bool:
    generator = np.random.default_rng([STREAMS.index(stream), int(1e4 * size), at])
    sides = []
    for name, rows, amount in (("then", stream.rows[0], 0.0), ("now", stream.rows[1], size)):
        path = folder / f"{name}{stream.suffix}"
        write(stream.made(generator, rows, amount), path)
        sides.append(_read(path))
    return study(sides[0], sides[1], _SETTINGS, lambda *_: None).drifted


def _read(path: Path) -> Side:
    with open_data(ModelFile.at(path), _BUDGET_BYTES, {}) as data:
        return read_side(data, path.name, _SETTINGS, lambda *_: None)


BENCHMARK = Benchmark(
    "drift_on_odd_streams", "On none of 26 odd kinds of data more false alarms than the 5 % asked for.", run
)

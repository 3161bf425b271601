"""How fast event files are read, and in how much memory, against TensorBoard's two readers: EventAccumulator and rustboard."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.benchmark import Benchmark, median
from benchmarks.event_logs import keras_run, scalars, write

_ROOT = Path(__file__).resolve().parents[1]
_REPEATS = 5
_MEMORY_RATIO, _RUSTBOARD_RATIO = 5, 3
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1"}
"""Of every reader: numpy's idle threads for linear algebra, which none uses, turn for a while and count as processor time."""


class _Case(NamedTuple):
    wanted_ratio: float
    build: Callable[[Path], None]
    rustboard: bool = True
    """Whether rustboard is asked too: it is for scalars."""


def _one_file(folder: Path) -> None:
    write(folder / "run" / "events.out.tfevents.1.host", scalars(["train/loss"], 1_000_000, tensors=True))


def _many_runs(folder: Path) -> None:
    tags = ["loss", "accuracy", "rate", "norm"]
    for at in range(200):
        write(folder / f"run{at:03}" / "events.out.tfevents.1.host", scalars(tags, 2_000, tensors=False))


def _many_tags(folder: Path) -> None:
    tags = [f"layer_{at:03}/{'gradient_norm' if at % 2 else 'ratio'}" for at in range(500)]
    write(folder / "run" / "events.out.tfevents.1.host", scalars(tags, 1_000, tensors=True))


def _keras(folder: Path) -> None:
    write(folder / "run" / "events.out.tfevents.1.host", keras_run(20, 200, 20_000))


_CASES = {
    "1 M scalars in one file": _Case(25, _one_file),
    "200 runs": _Case(10, _many_runs),
    "500 tags": _Case(10, _many_tags),
    "histograms and images": _Case(3, _keras, rustboard=False),
}


def run(folder: Path) -> dict[str, Any]:
    """Each reader in processes of its own, in turns; processor time, because others may use the machine."""
    figures: dict[str, Any] = {}
    for name, case in _CASES.items():
        place = folder / name.replace(" ", "-")
        case.build(place)
        readers = ("ours", "tensorboard", *(["rustboard"] if case.rustboard else []))
        taken: dict[str, list[dict[str, Any]]] = {reader: [] for reader in readers}
        for _ in range(_REPEATS):
            for reader, found in taken.items():
                found.append(_read(reader, place))
        figures[name] = _compared(taken, case)
    return figures | {"holds": all(one["holds"] for one in figures.values())}


def _compared(taken: dict[str, list[dict[str, Any]]], case: _Case) -> dict[str, Any]:
    cpu = {reader: median([one["cpu_s"] for one in found]) for reader, found in taken.items()}
    added = {reader: median([one["added_bytes"] for one in found]) for reader, found in taken.items()}
    equal = len({one["digest"] for found in taken.values() for one in found}) == 1
    ratio, memory = cpu["tensorboard"] / cpu["ours"], added["tensorboard"] / added["ours"]
    figures = {
        "points": taken["ours"][0]["points"],
        **{f"{reader}_s": seconds for reader, seconds in cpu.items()},
        "ratio": round(ratio, 1),
        "ours_added_bytes": added["ours"],
        "memory_ratio": round(memory, 1),
        "equal": equal,
        "holds": equal and ratio >= case.wanted_ratio and memory >= _MEMORY_RATIO,
    }
    if case.rustboard:
        faster = cpu["rustboard"] / cpu["ours"]
        figures |= {"rustboard_ratio": round(faster, 1), "rustboard_added_bytes": added["rustboard"]}
        figures["holds"] = figures["holds"] and faster >= _RUSTBOARD_RATIO
    return figures


def _read(reader: str, place: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.event_reading", reader, str(place)]
    environment = os.environ | _ENVIRONMENT
    done = subprocess.run(command, capture_output=True, text=True, cwd=_ROOT, env=environment, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{reader}: {done.stderr[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


BENCHMARK = Benchmark(
    "read_events",
    "event files read 25x (one file), 10x (200 runs, 500 tags), 3x (media) as fast as EventAccumulator in 1/5 of the memory, scalars 3x as fast as rustboard",
    run,
)

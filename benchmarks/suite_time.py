"""Where the time of the tests goes: by folder and by kind. Runs `make test`'s tests once."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from tests.suite import command

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 600.0
MOST_COLLECTION_S = 8.0


def run(folder: Path) -> dict[str, Any]:
    """{"wall_s", "tests", "collection_s", "by_folder", "by_kind", "slowest"}; seconds of processor time where it says cpu."""
    start = time.monotonic()
    done = subprocess.run(
        command("-p", "benchmarks.suite_clock"),
        cwd=ROOT,
        env=os.environ | {"STETHOSCOPE_SUITE_CLOCK": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    wall_s = time.monotonic() - start
    rows = [json.loads(line) for path in folder.glob("*.jsonl") for line in path.read_text("utf-8").splitlines()]
    tests = [row for row in rows if row["kind"] != "collection"]
    collection_s = max((row["wall_s"] for row in rows if row["kind"] == "collection"), default=0.0)
    return {
        "wall_s": round(wall_s, 1),
        "tests": len(tests),
        "last_line": done.stdout.strip().splitlines()[-1:],
        "collection_s": round(collection_s, 1),
        "by_kind": _summed(tests, "kind"),
        "by_folder": _summed(tests, "folder"),
        "slowest": sorted(([row["wall_s"], row["id"]] for row in tests), reverse=True)[:25],
        "holds": done.returncode == 0 and wall_s <= LIMIT_S and collection_s <= MOST_COLLECTION_S,
    }


def _summed(rows: Iterable[dict[str, Any]], by: str) -> dict[str, dict[str, float]]:
    sums: dict[str, dict[str, float]] = defaultdict(lambda: {"tests": 0, "wall_s": 0.0, "cpu_s": 0.0})
    for row in rows:
        one = sums[row[by]]
        one["tests"] += 1
        one["wall_s"] += row["wall_s"]
        one["cpu_s"] += row["cpu_s"]
    ordered = sorted(sums.items(), key=lambda item: -item[1]["wall_s"])
    return {name: {key: round(value, 1) for key, value in one.items()} for name, one in ordered}


BENCHMARK = Benchmark(
    "suite_time",
    f"the tests of `make test` take at most {LIMIT_S / 60:.0f} minutes, their collection {MOST_COLLECTION_S:.0f} s",
    run,
)

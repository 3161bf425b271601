"""How many lines of the engine `make test` goes through, jobs in their sandboxes included. CHOOSE=1 chooses anew which jobs it runs.

Most jobs are answered from a recording. Those in `tests/recordings/live.json` are run by a worker every time: together they go
through the lines that nothing else goes through. They are chosen by running all, and taking, one after the other, the job that
adds most lines for each second, until it adds fewer than `LEAST_LINES_A_SECOND`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from tests import lines, recorded
from tests.lines import Line
from tests.suite import command

ROOT = Path(__file__).resolve().parents[1]
LEAST_SHARE = 0.9419
"""Of the suite that ran every job, before answers were recorded (commit 1e298d8: 56,756 of 60,259 lines)."""
LEAST_LINES_A_SECOND = 2.0
_STARTS_IN_S = 0.3


def run(folder: Path) -> dict[str, Any]:
    """{"lines", "ran", "share", "jobs", "missed": {module: lines}}; with CHOOSE=1 also {"chosen", "chosen_s"}."""
    chooses = os.environ.get("CHOOSE") == "1"
    maps, given = folder / "maps", folder / "given"
    given.mkdir()
    lines.prepare(ROOT, maps)
    live = {"STETHOSCOPE_TEST_LIVE": "1"} if chooses else {}
    with marking(maps):
        ended = subprocess.run(
            command("-q"),
            cwd=ROOT,
            env=os.environ | {"STETHOSCOPE_TEST_GIVEN": str(given), **live},
            stdout=sys.stderr,
            check=False,
        ).returncode
    every = lines.lines_of(maps)
    jobs = list((maps / "jobs").iterdir())
    figures: dict[str, Any] = {}
    if chooses:
        seconds = seconds_of()
        ran_as = {
            job: key
            for path in given.glob("*.json")
            for job, key in json.loads(path.read_text("utf-8"))["ran_as"].items()
        }
        of_key: dict[str, list[Path]] = {}
        for job in jobs:
            of_key.setdefault(ran_as.get(job.name, ""), []).append(job)
        sure = [path for key, paths in of_key.items() if key not in seconds for path in paths]
        reached = lines.ran(every, maps / "marks", *sure)
        chosen = choose(
            {key: lines.ran(every, *paths) for key, paths in of_key.items() if key in seconds}, seconds, reached
        )
        recorded.keep_live(chosen)
        figures = {"chosen": len(chosen), "chosen_s": round(sum(seconds[key] for key in chosen), 1)}
    else:
        reached = lines.ran(every, maps / "marks", *jobs)
    missed = Counter(line.module for line in set(every) - reached)
    share = len(reached) / len(every)
    return {
        "lines": len(every),
        "ran": len(reached),
        "share": round(share, 4),
        "jobs": len(jobs),
        **figures,
        "missed": dict(missed.most_common(25)),
        "holds": ended == 0 and share >= LEAST_SHARE,
    }


def choose(by_key: Mapping[str, set[Line]], seconds: Mapping[str, float], reached: set[Line]) -> list[str]:
    """The recorded answers whose jobs are worth being run every time, by lines that they add for each second.

    Args:
        by_key: the lines that each job went through.
        seconds: how long each took.
        reached: the lines that are gone through anyway; those of the chosen jobs are added.
    """
    left, chosen = dict(by_key), []
    while left:
        best = max(sorted(left), key=lambda key: len(left[key] - reached) / seconds[key])
        added = left.pop(best) - reached
        if len(added) < LEAST_LINES_A_SECOND * seconds[best]:
            break
        reached |= added
        chosen.append(best)
    return chosen


def seconds_of() -> dict[str, float]:
    """How long the job behind each recorded answer took."""
    kinds = [path.stem for path in recorded.FOLDER.glob("*.jsonl")]
    return {
        key: _STARTS_IN_S + entry["result"]["wall_s"]
        for kind in kinds
        for key, entry in recorded.recorded(kind).items()
    }


@contextmanager
def marking(maps: Path) -> Iterator[None]:
    """While open, every Python that starts from this environment marks the lines of the engine that it runs."""
    hook = Path(sysconfig.get_path("purelib")) / "stethoscope_lines.pth"
    hook.write_text(
        f"import sys; sys.path.append({str(ROOT)!r}); from tests import lines; lines.install({str(maps)!r})\n", "utf-8"
    )
    try:
        yield
    finally:
        hook.unlink()


BENCHMARK = Benchmark(
    "suite_lines",
    f"the tests go through {LEAST_SHARE:.1%} of the engine's lines, as the suite that recorded nothing",
    run,
)

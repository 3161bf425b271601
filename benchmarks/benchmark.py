"""What a benchmark is, and measuring whole processes."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WRAPPER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
wall = time.perf_counter() - start
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"wall_s": wall, "rss_bytes": usage.ru_maxrss * 1024, "code": done.returncode, "error": done.stderr[-500:].decode()}))
"""


@dataclass(frozen=True)
class Benchmark:
    """`run` gets an empty folder and returns figures with "holds"; `claim` is what it holds them against."""

    id: str
    claim: str
    run: Callable[[Path], dict[str, Any]]


def process(*command: str) -> dict[str, Any]:
    """Runs a command as a process: {"wall_s", "rss_bytes"} (peak of the largest process in it).

    Raises:
        RuntimeError: it failed.
    """
    done = subprocess.run([sys.executable, "-c", _WRAPPER, *command], capture_output=True, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    if figures["code"] != 0:
        raise RuntimeError(f"{command}: {figures['error']}")
    return figures


def median(values: list[float]) -> float:
    """The median, rounded for reading."""
    return round(statistics.median(values), 4)


def sample(name: str, folder: Path) -> Path:
    """Builds a big sample model into `folder`."""
    subprocess.run(
        [sys.executable, "-m", "sample_models.build", "--folder", str(folder), name],
        check=True,
        stdout=sys.stderr,
        cwd=Path(__file__).resolve().parents[1],
    )
    return next(path for path in sorted(folder.rglob(f"{name}.*")) if path.is_file())

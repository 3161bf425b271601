"""What a command takes before it does anything: the help of `describe`, and describing a small file, against importing h5py."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark, median, process
from sample_models import BUILT

_LIMIT = 2.0
_RUNS = 15


def run(_folder: Path) -> dict[str, Any]:
    """Each command in turn with the import, pair by pair, so that both see the same machine."""
    stethoscope = str(Path(sys.executable).with_name("stethoscope"))
    small = str(BUILT / "digits_cnn_keras3.h5")
    commands = {"help": ("describe", "--help"), "describe": ("describe", small, "--json")}
    times: dict[str, list[float]] = {name: [] for name in commands}
    ratios: dict[str, list[float]] = {name: [] for name in commands}
    imported = []
    for name, words in commands.items():
        process(stethoscope, *words)
        for _ in range(_RUNS):
            times[name].append(process(stethoscope, *words)["wall_s"])
            imported.append(process(sys.executable, "-c", "import h5py")["wall_s"])
            ratios[name].append(times[name][-1] / imported[-1])
    ratio = {name: round(statistics.median(found), 2) for name, found in ratios.items()}
    return {
        "import_h5py_s": median(imported),
        **{f"{name}_s": median(found) for name, found in times.items()},
        **{f"{name}_ratio": found for name, found in ratio.items()},
        "holds": all(found <= _LIMIT for found in ratio.values()),
    }


BENCHMARK = Benchmark(
    "command_start", "`describe --help`, and `describe` of a small file, take at most twice `import h5py`", run
)

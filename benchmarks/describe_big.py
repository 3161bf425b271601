"""Describing a BERT-size .keras, against loading it in Keras."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark, median, process, sample

_LOAD = "import keras, sys; m = keras.models.load_model(sys.argv[1], compile=False); print(m.count_params())"
_ADDED = """
import resource, sys
from pathlib import Path
from stethoscope.models.formats import all_formats, detect
from stethoscope.types import ModelFile
all_formats()
import h5py
def peak():
    return int(next(l for l in open('/proc/self/status') if l.startswith('VmHWM')).split()[1]) * 1024
before = peak()
file = ModelFile.at(sys.argv[1])
detect(file).describe(file)
print(peak() - before)
"""


def run(folder: Path) -> dict[str, Any]:
    """Times whole commands; memory is what describing adds to a process that has its imports done."""
    import subprocess

    model = str(sample("bert_base", folder))
    stethoscope = str(Path(sys.executable).with_name("stethoscope"))
    described, loaded = [], []
    for _ in range(3):
        described.append(process(stethoscope, "describe", model, "--json")["wall_s"])
        loaded.append(process(sys.executable, "-c", _LOAD, model)["wall_s"])
    added = int(
        subprocess.run([sys.executable, "-c", _ADDED, model], capture_output=True, text=True, check=True).stdout
    )
    ratio = median(loaded) / median(described)
    return {
        "file_bytes": Path(model).stat().st_size,
        "describe_s": median(described),
        "keras_load_s": median(loaded),
        "times_faster": round(ratio, 1),
        "added_memory_bytes": added,
        "holds": ratio >= 20 and added <= 50 << 20,
    }


BENCHMARK = Benchmark(
    "describe_big", "describing 436 MB is at least 20 times faster than loading it, in at most 50 MB", run
)

"""One network as Keras, ONNX, TFLite and SavedModel, compared layer by layer on 32 rows: the whole command."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark

LIMIT_S, ROWS = 60.0, 32
_TARGETS = {"onnx": "onnx", "tflite": "tflite", "saved_model": "zip"}
_BUILD = """
import sys, keras
keras.utils.set_random_seed(0)
keras.applications.ResNet50(weights=None).save(sys.argv[1])
"""
_PLAIN = """
import sys, time, keras, numpy as np
start = time.perf_counter()
model = keras.saving.load_model(sys.argv[1])
model.predict(np.random.default_rng(0).standard_normal((32, 224, 224, 3)).astype("float32"), verbose=0)
print(time.perf_counter() - start)
"""


def run(folder: Path) -> dict[str, Any]:
    """Seconds of `compare` with layers and edge cases, each verdict, and for scale what Keras alone takes to load and predict."""
    model = folder / "resnet50.keras"
    _called(sys.executable, "-c", _BUILD, str(model))
    command = str(Path(sys.executable).with_name("stethoscope"))
    others = []
    for target, suffix in _TARGETS.items():
        others.append(folder / f"resnet50_{target}.{suffix}")
        _called(command, "convert", str(model), "--to", target, "--out", str(others[-1]), "--json")
    keras_s = float(_called(sys.executable, "-c", _PLAIN, str(model)).splitlines()[-1])
    start = time.perf_counter()
    found = json.loads(_called(command, "compare", str(model), *map(str, others), "--rows", str(ROWS), "--json"))
    compare_s = time.perf_counter() - start
    told = {one["with"]: one for one in found["comparisons"]}
    return {
        "compare_s": round(compare_s, 1),
        "keras_load_and_predict_s": round(keras_s, 1),
        "verdicts": {name: one["verdict"] for name, one in told.items()},
        "layers": {name: len(one["layers"]) for name, one in told.items()},
        "seconds": {name: round(one["wall_s"], 1) for name, one in told.items()},
        "holds": compare_s <= LIMIT_S and all(one["verdict"] in ("equal", "within_tolerance") for one in told.values()),
    }


def _called(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[:3]}: {done.stderr[-500:]}")
    return done.stdout


BENCHMARK = Benchmark(
    "parity_of_four_runtimes",
    "ResNet50 in Keras, ONNX, TFLite and SavedModel compared on 32 rows, every layer, within 60 s",
    run,
)

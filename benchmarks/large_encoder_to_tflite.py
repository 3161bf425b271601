"""An encoder of 109 million parameters to TFLite: the whole command, with what it checks, against plain Python in the same run."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

PRECISIONS = {"float32": "tflite", "float16": "tflite-fp16", "dynamic": "tflite-dynamic"}
"""Targets of ours."""
WAYS = ("keras", "exported")
"""Plain ways to the same file: `from_keras_model`, and Keras' `export` with `from_saved_model`."""
_EVERY_S = 0.25
_DISTINCT = """
import sys
import keras, numpy as np
model = keras.saving.load_model(sys.argv[1])
draws = np.random.default_rng(0)
for variable in model.trainable_variables:
    if len(variable.shape) > 1:
        variable.assign(draws.normal(0, 0.02, variable.shape).astype("float32"))
model.save(sys.argv[2])
"""
_PLAIN = """
import sys
import keras, tensorflow as tf
path, precision, way, out = sys.argv[1:]
model = keras.saving.load_model(path)
if way == "keras":
    model = keras.Model(list(model.inputs), list(model.outputs))  # it refuses inputs in a dict
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
else:
    model.export(out + "_exported", format="tf_saved_model", verbose=False)
    converter = tf.lite.TFLiteConverter.from_saved_model(out + "_exported")
if precision != "float32":
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
if precision == "float16":
    converter.target_spec.supported_types = [tf.float16]
with open(out, "wb") as file:
    file.write(converter.convert())
"""


def compared(sample: Path, folder: Path) -> dict[str, dict[str, Any]]:
    """Seconds, processor seconds and peak memory of the command and of each plain way, for each precision; and their ratios.

    Args:
        sample: the encoder whose weights repeat from block to block, which TFLite would keep once.
        folder: for what is made.
    """
    path = folder / "distinct.keras"
    subprocess.run([sys.executable, "-c", _DISTINCT, str(sample), str(path)], check=True, capture_output=True)
    return {precision: _precision(path, precision, target, folder) for precision, target in PRECISIONS.items()}


def _precision(path: Path, precision: str, target: str, folder: Path) -> dict[str, Any]:
    made = folder / f"{precision}.tflite"
    command = ["-m", "stethoscope.cli.start", "convert", str(path), "--to", target, "--out", str(made), "--json"]
    found: dict[str, Any] = {"ours": _measured(command) | {"size_bytes": made.stat().st_size}}
    for way in WAYS:
        plain = folder / f"{precision}_{way}.tflite"
        measured = _measured(["-c", _PLAIN, str(path), precision, way, str(plain)])
        found[way] = measured | {"size_bytes": plain.stat().st_size}
        found[f"ratios_to_{way}"] = {
            name: round(found["ours"][name] / measured[name], 3) for name in ("wall_s", "processor_s", "peak_bytes")
        }
        plain.unlink()
    made.unlink()
    return found


def _measured(words: Sequence[str]) -> dict[str, Any]:
    """Of a Python process and all that it starts, memory that they share counted once.

    Raises:
        RuntimeError: it failed.
    """
    before, start, peak = _processor_s(), time.perf_counter(), 0
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    with subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    ) as running:
        while running.poll() is None:
            peak = max(peak, _held_bytes(running.pid))
            time.sleep(_EVERY_S)
    if running.returncode != 0:
        raise RuntimeError(f"{' '.join(words)[-300:]}: it ended with {running.returncode}.")
    wall_s = time.perf_counter() - start
    return {"wall_s": round(wall_s, 1), "processor_s": round(_processor_s() - before, 1), "peak_bytes": peak}


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _held_bytes(pid: int) -> int:
    total = 0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with contextlib.suppress(OSError):
                for line in Path(f"/proc/{one.pid}/smaps_rollup").read_text().splitlines():
                    if line.startswith("Pss:"):
                        total += int(line.split()[1]) << 10
    return total

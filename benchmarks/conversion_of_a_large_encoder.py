"""An encoder of 109 million parameters to ONNX and TFLite: time and memory, against the plain ways in the same run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark, sample
from benchmarks.large_encoder_to_tflite import compared

LIMIT_BYTES, LIMIT_S = 4 << 30, 60.0
MOST = 1.1
"""Times what `TFLiteConverter.from_keras_model` takes, in time and in memory."""
TOLERANCE = 1e-4
"""Largest difference of an output from Keras'."""
_PLAIN_NEEDS_BYTES = 17 << 30
_MEMORY_BYTES, _TIMEOUT_S = 8 << 30, 600

_PLAIN = """
import json, sys, time
import keras, numpy as np, onnxruntime, tensorflow as tf, tf2onnx

def memory(name):
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith(name))

model = keras.saving.load_model(sys.argv[1])
draws = np.random.default_rng(0)
feed = {one.name: draws.integers(0, 2, (2, 32)).astype(np.int32) for one in model.inputs}
feed["input_word_ids"] = draws.integers(0, 30000, (2, 32)).astype(np.int32)
expected = model.predict(feed, verbose=0)

def difference(path):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    found = dict(zip(names, session.run(names, feed)))
    return max(float(np.abs(found[name] - expected[name]).max()) for name in expected)

answer = {"ours_off_by": difference(sys.argv[2])}
if len(sys.argv) > 3:
    before = memory("VmRSS:")
    open("/proc/self/clear_refs", "w").write("5")
    start = time.perf_counter()
    specs = [tf.TensorSpec((None, None), tf.int32, name=name) for name in feed]

    @tf.function(input_signature=specs)
    def call(*inputs):
        return model(dict(zip(feed, inputs)))

    tf2onnx.convert.from_function(call, specs, opset=18, output_path=sys.argv[3])
    answer |= {"plain_s": time.perf_counter() - start, "plain_bytes": memory("VmHWM:") - before}
    try:
        answer["plain_off_by"] = difference(sys.argv[3])
    except Exception as error:
        answer["plain_refused"] = " ".join(str(error).split())[:200]
print(json.dumps(answer))
"""


def run(folder: Path) -> dict[str, Any]:
    """Both targets; a claim holds where both do."""
    path = sample("bert_base", folder)
    tflite = compared(path, folder)
    onnx = _onnx(path, folder)
    ratios = [found["ratios_to_keras"][name] for found in tflite.values() for name in ("wall_s", "peak_bytes")]
    return {"tflite": tflite, "onnx": onnx, "holds": bool(onnx["holds"]) and max(ratios) <= MOST}


def _onnx(path: Path, folder: Path) -> dict[str, Any]:
    """Seconds, peak memory added, and how far the result is from Keras; of the plain way where there is memory for it."""
    ours = _ours(path, folder)
    words = [sys.executable, "-c", _PLAIN, str(path), str(folder / "model.onnx")]
    if enough := _free_bytes() > _PLAIN_NEEDS_BYTES:
        words.append(str(folder / "plain.onnx"))
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    )
    other = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"plain_failed": done.stderr[-300:]}
    if not enough:
        other["plain_left_out"] = f"it needs about {_PLAIN_NEEDS_BYTES:,} bytes, of which there were {_free_bytes():,}"
    figures = ours | other
    if "plain_s" in figures:
        figures["time_ratio"] = round(figures["convert_s"] / figures["plain_s"], 3)
        figures["memory_ratio"] = round(figures["convert_peak_bytes"] / figures["plain_bytes"], 3)
    holds = figures["convert_s"] <= LIMIT_S and figures["convert_peak_bytes"] <= LIMIT_BYTES
    return figures | {"holds": holds and figures.get("ours_off_by", 1.0) <= TOLERANCE}


def _ours(path: Path, folder: Path) -> dict[str, Any]:
    from stethoscope.codec import answer_of
    from stethoscope.jobs.job_engine import Engine
    from stethoscope.tasks.convert import Conversion
    from stethoscope.types import Budget, Job, ModelFile

    engine = Engine(folder / "engine", {"light": 1, "tensorflow": 1}, 1 << 62)
    try:
        job = Job(
            "convert",
            {"model": ModelFile.at(path)},
            {"target": "onnx", "rows": 2},
            Budget(_MEMORY_BYTES, _TIMEOUT_S),
            "tensorflow",
        )
        result = engine.wait(engine.submit(job))
        if result.status.value != "ok":
            raise RuntimeError(result.reason)
        for name, file in result.files.items():
            file.rename(folder / name)
    finally:
        engine.stop()
    made = answer_of(result, Conversion)
    kept = ("convert_s", "convert_peak_bytes", "size_bytes", "max_abs_diff")
    return {key: getattr(made, key) for key in kept} | {"job_s": result.wall_s, "job_peak_bytes": result.peak_rss_bytes}


def _free_bytes() -> int:
    import psutil

    return int(psutil.virtual_memory().available)


BENCHMARK = Benchmark(
    "conversion_of_a_large_encoder",
    "109 million parameters to ONNX with at most 4 GiB added, within 60 s, and the answers of Keras; to TFLite in three precisions in at "
    f"most {MOST} times the time and memory of TensorFlow's converter alone",
    run,
)

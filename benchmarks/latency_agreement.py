"""Calls as `stethoscope latency` times them against calls written by hand: onnxruntime, LiteRT, tf.function.

Twice: both in turns in one process, by the lower quartile, which other work on the machine hardly moves; and the p50 of the command against that of
a loop in a process of its own, several times, the best of each.

LATENCY_BENCH_TIMES sets how often the processes are run.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark

MOST_APART, WORST_APART = 1.1, 1.3
"""In turns: the median of all, and each."""
_TIMES, _SECONDS, _THREADS = 3, 0.5, 2
_BATCH_SIZES = (1, 8)
_ROOT = Path(__file__).resolve().parents[1]
_BUILD = """
import sys, keras
keras.utils.set_random_seed(0)
keras.applications.MobileNetV2((96, 96, 3), weights=None).save(sys.argv[1])
"""
_CALL = """
import gc, json, sys, time
import numpy as np
path, size, seconds, threads = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
random = np.random.default_rng(0)
if path.endswith(".onnx"):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = ort.InferenceSession(path, options)
    given = session.get_inputs()[0]
    x = random.random((size, *given.shape[1:]), np.float32)
    def call():
        return session.run(None, {given.name: x})
elif path.endswith(".tflite"):
    from ai_edge_litert.interpreter import Interpreter
    interpreter = Interpreter(path, num_threads=threads)
    given, out = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    x = random.random((size, *given["shape"][1:]), np.float32)
    interpreter.resize_tensor_input(given["index"], x.shape)
    interpreter.allocate_tensors()
    def call():
        interpreter.set_tensor(given["index"], x)
        interpreter.invoke()
        return interpreter.get_tensor(out["index"])
else:
    import keras, tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    model = keras.saving.load_model(path)
    function = tf.function(lambda x: model(x, training=False))
    x = random.random((size, *model.inputs[0].shape[1:]), np.float32)
    def call():
        return function(tf.constant(x)).numpy()
"""
_BY_HAND = """
for _ in range(20):
    call()
gc.disable()
times, end = [], time.perf_counter() + seconds
while time.perf_counter() < end:
    start = time.perf_counter_ns()
    call()
    times.append(time.perf_counter_ns() - start)
print(json.dumps(float(np.median(times)) / 1e9))
"""
_IN_TURNS = """
import tempfile
from pathlib import Path
from stethoscope import devices
from stethoscope.models.formats import detect
from stethoscope.compare import timed_calls
from stethoscope.compare.timed_calls import Timing, take_turns
from stethoscope.types import ModelFile
devices.choose(threads)
file = ModelFile.at(path)
kind = detect(file)
runner = kind.open(file, Path(tempfile.mkdtemp()))
load = timed_calls.loader(kind, file, runner.inputs)
ready = load().ready if load else timed_calls.traced(runner)
ours = ready({runner.inputs[0].name: x})
for _ in range(20):
    call(), ours()
timings = [Timing(ours), Timing(call)]
take_turns(timings, 6 * seconds)
print(json.dumps([float(np.percentile(one.times_ns, 25)) / 1e9 for one in timings]))
"""


def run(folder: Path) -> dict[str, Any]:
    """Ratios of the times by model and batch size: in turns, and of whole processes."""
    repeats = int(os.environ.get("LATENCY_BENCH_TIMES", _TIMES))
    found: dict[str, Any] = {}
    for path in _models(folder):
        for size in _BATCH_SIZES:
            ours, by_hand = _script(_CALL + _IN_TURNS, path, size)
            pairs = [(_ours(path, size), _script(_CALL + _BY_HAND, path, size)) for _ in range(repeats)]
            command, loop = (min(times) for times in zip(*pairs, strict=True)) if pairs else (None, None)
            one = {
                "ours_s": ours,
                "by_hand_s": by_hand,
                "in_turns": round(ours / by_hand, 3),
                "command_s": command,
                "loop_s": loop,
                "of_processes": round(command / loop, 3) if command and loop else None,
            }
            found[f"{path.name}, {size}"] = one
            print(f"  {path.name}, batch {size}: {one['in_turns']}, {one['of_processes']}", file=sys.stderr, flush=True)
    ratios = [one["in_turns"] for one in found.values()]
    processes = [one["of_processes"] for one in found.values() if one["of_processes"]]
    return {
        "models": found,
        "median_in_turns": round(statistics.median(ratios), 3),
        "median_of_processes": round(statistics.median(processes), 3) if processes else None,
        "holds": 1 / MOST_APART <= statistics.median(ratios) <= MOST_APART
        and all(1 / WORST_APART <= one <= WORST_APART for one in ratios),
    }


def _models(folder: Path) -> list[Path]:
    large = folder / "mobilenet.keras"
    subprocess.run([sys.executable, "-c", _BUILD, str(large)], check=True, capture_output=True)
    made = [large]
    for target, suffix in (("onnx", "onnx"), ("tflite", "tflite")):
        out = folder / f"mobilenet.{suffix}"
        _stethoscope("convert", str(large), "--to", target, "--out", str(out), "--json")
        made.append(out)
    built = _ROOT / "sample_models" / "built"
    return [*made, *(built / f"digits_cnn.{suffix}" for suffix in ("keras", "onnx", "tflite"))]


def _stethoscope(*words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "stethoscope.cli.app", *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=_ROOT)
    value: dict[str, Any] = json.loads(done.stdout)
    return value


def _ours(path: Path, size: int) -> float:
    options = ("--batch-sizes", str(size), "--threads", str(_THREADS), "--seconds", str(_SECONDS), "--json")
    return float(_stethoscope("latency", str(path), *options)["rows"][0]["p50_s"])


def _script(text: str, path: Path, size: int) -> Any:
    command = [sys.executable, "-c", text, str(path), str(size), str(_SECONDS), str(_THREADS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=_ROOT)
    return json.loads(done.stdout.splitlines()[-1])


BENCHMARK = Benchmark(
    "latency_agreement", "a call is that of one written by hand, within 10 % (median), 30 % (each)", run
)

"""What statistics of every layer cost beside one plain forward pass, and whether activations are those of independent runs.

Of an encoder in one call; of a ResNet50 the whole command, beside a Python that loads the file and predicts the same rows.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark
from benchmarks.plain_peaks import KEPT

TIME_LIMIT = 1.3
MEMORY_LIMIT = 1.25
DIFFERENCE_LIMIT = 1e-5
ROWS, TOKENS = 8, 128
PAIRS = 7
COMMANDS = 3
SAMPLES = Path(__file__).resolve().parents[1] / "sample_models" / "built"


def run(folder: Path) -> dict[str, Any]:
    """A 109-million-parameter encoder at a batch of 8 × 128 tokens, in turns with its plain call; then three formats."""
    path = folder / "encoder.keras"
    _apart("build", str(path))
    cost = json.loads(_apart("cost", str(path)))
    plain, watched = (json.loads(_apart(f"{name}_peak", str(path)))["peak_bytes"] for name in ("plain", "watched"))
    cost |= {"plain_peak_bytes": plain, "watched_peak_bytes": watched, "memory_ratio": round(watched / plain, 3)}
    picture = _pictures(folder)
    same = json.loads(_apart("same", str(SAMPLES)))
    holds = (
        cost["time_ratio"] <= TIME_LIMIT
        and cost["memory_ratio"] <= MEMORY_LIMIT
        and picture["time_ratio"] <= TIME_LIMIT
        and picture["memory_ratio"] <= MEMORY_LIMIT
        and all(one["max_abs_diff"] <= DIFFERENCE_LIMIT for one in same.values())
    )
    return {"encoder": cost, "resnet50": picture, "against_independent_runs": same, "holds": holds}


PICTURES = 32
PLAIN = (
    KEPT
    + """
import sys, time
import numpy as np, tensorflow, keras
before = kept("RssAnon")
model = keras.models.load_model(sys.argv[1], compile=False)
rows = np.random.default_rng(0).random((int(sys.argv[2]), 224, 224, 3), "float32")
model.predict(rows, batch_size=32, verbose=0)
print(kept("VmHWM") - kept("RssFile") - before)
"""
)


def _pictures(folder: Path) -> dict[str, Any]:
    """Whole commands in turns: seconds, and bytes that each added to a process with the frameworks in it."""
    path = folder / "resnet50.keras"
    code = "import sys, keras; keras.applications.ResNet50(weights=None).save(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True)
    command = str(Path(sys.executable).parent / "stethoscope")
    words = {
        "plain": [sys.executable, "-c", PLAIN, str(path), str(PICTURES)],
        "watched": [command, "activations", str(path), "--rows", str(PICTURES), "--keep", "0", "--json"],
    }
    times, peaks = {name: list[float]() for name in words}, {name: list[int]() for name in words}
    for turn in range(COMMANDS):
        for name in list(words) if turn % 2 else list(words)[::-1]:
            start = time.perf_counter()
            done = subprocess.run(words[name], check=True, capture_output=True, text=True).stdout
            times[name].append(time.perf_counter() - start)
            peaks[name].append(int(done.split()[-1]) if name == "plain" else json.loads(done)["peak_rss_bytes"])
    pairs = zip(times["watched"], times["plain"], strict=True)
    middle = {name: int(statistics.median(found)) for name, found in peaks.items()}
    return {
        "rows": PICTURES,
        "plain_s": round(statistics.median(times["plain"]), 2),
        "watched_s": round(statistics.median(times["watched"]), 2),
        "time_ratio": round(statistics.median(ours / plain for ours, plain in pairs), 3),
        "plain_peak_bytes": middle["plain"],
        "watched_peak_bytes": middle["watched"],
        "memory_ratio": round(middle["watched"] / middle["plain"], 3),
    }


def _apart(what: str, argument: str) -> str:
    """Runs one of the functions below in a process of its own and returns the last line it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.activation_statistics", what, argument],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).resolve().parents[1],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    if done.returncode:
        raise RuntimeError(f"{what} {argument}: {done.stderr[-2000:]}")
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def build(path: str) -> None:
    """Saves the encoder."""
    import keras

    from sample_models.bert import encoder

    keras.utils.set_random_seed(0)
    encoder(blocks=12, hidden=768, heads=12, vocabulary=30_522, positions=512).save(path)


def cost(path: str) -> dict[str, Any]:
    """Time of one batch: the plain call against the one with statistics of all layers, in turns."""
    architecture, calls = _calls(path)
    traced = {name: _timed(call) for name, call in calls.items()}
    for call in calls.values():
        call()
    ratios, processor, times = [], [], {name: list[float]() for name in calls}
    for turn in range(PAIRS):
        pair = {name: _timed(calls[name]) for name in (list(calls) if turn % 2 else list(calls)[::-1])}
        ratios.append(pair["watched"][0] / pair["plain"][0])
        processor.append(pair["watched"][1] / pair["plain"][1])
        for name, (seconds, _) in pair.items():
            times[name].append(seconds)
    reduced = calls["watched"]()
    return {
        "parameters": architecture.parameters,
        "layers": len(reduced),
        "values": int(sum(np.prod(parts["shape"]) for parts in reduced.values())),
        "plain_s": round(statistics.median(times["plain"]), 3),
        "watched_s": round(statistics.median(times["watched"]), 3),
        "time_ratio": round(statistics.median(ratios), 3),
        "processor_ratio": round(statistics.median(processor), 3),
        "time_ratios": [round(ratio, 3) for ratio in sorted(ratios)],
        "first_call_s": {name: round(seconds, 2) for name, (seconds, _) in traced.items()},
    }


def plain_peak(path: str) -> dict[str, Any]:
    """The most memory that the loaded encoder and three plain calls, the first of which traces, add to a process."""
    return {"peak_bytes": _peak_bytes(path, "plain")}


def watched_peak(path: str) -> dict[str, Any]:
    """The same with statistics of all layers in each call."""
    return {"peak_bytes": _peak_bytes(path, "watched")}


def _peak_bytes(path: str, name: str) -> int:
    import keras  # noqa: F401
    import tensorflow  # noqa: F401 - the frameworks' own memory is there before the measurement begins

    from stethoscope.jobs.worker.memory import Meter

    meter = Meter(1 << 50)
    meter.watch()
    call = _calls(path)[1][name]
    # Loading holds the weights twice for a moment; what is asked is the peak of the calls, with the model in memory.
    meter.reset()
    for _ in range(3):
        call()
    return meter.peak_bytes()


def _calls(path: str) -> tuple[Any, dict[str, Callable[[], Any]]]:
    from stethoscope.architecture.open_sizes import Sizes, sizes_to_try
    from stethoscope.data.dummy import dummy_feed

    architecture, runner = _opened(Path(path))
    sizes = next(sizes_to_try(runner.inputs, Sizes.every(TOKENS)))
    feed = dummy_feed(architecture, runner.inputs, ROWS, 0, sizes)
    watching = _watching(architecture, runner)
    return architecture, {"plain": lambda: runner.predict(feed), "watched": lambda: watching.reduce(feed)}


def same(folder: str) -> dict[str, Any]:
    """The largest difference between our activations and those of a runtime called without us, per format."""
    root = Path(folder)
    image = np.random.default_rng(0).random((4, 8, 8, 1)).astype(np.float32)
    found: dict[str, Any] = {}
    for name, independent in (("digits_cnn.keras", _keras), ("digits_cnn.onnx", _onnx), ("digits_cnn.tflite", _tflite)):
        _, runner = _opened(root / name)
        ours = runner.activations({runner.inputs[0].name: image})
        theirs = independent(root / name, image)
        compared = [path for path in theirs if path in ours]
        found[name] = {
            "layers": len(compared),
            "max_abs_diff": max(float(np.abs(ours[path] - theirs[path]).max()) for path in compared),
        }
    return found


def _keras(path: Path, image: Any) -> dict[str, Any]:
    import keras

    model = keras.models.load_model(path, compile=False)
    layers = [layer for layer in model.layers if not isinstance(layer, keras.layers.InputLayer)]
    outputs = keras.Model(model.inputs, [layer.output for layer in layers])(image)
    return {layer.name: np.asarray(value) for layer, value in zip(layers, outputs, strict=True)}


def _onnx(path: Path, image: Any) -> dict[str, Any]:
    import onnx
    import onnxruntime

    model = onnx.load(str(path))
    names = {node.output[0]: node.name for node in model.graph.node}
    known = {value.name for value in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in known)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = [output.name for output in session.get_outputs()]
    values = session.run(wanted, {session.get_inputs()[0].name: image})
    return {names.get(name, name): value for name, value in zip(wanted, values, strict=True)}


def _tflite(path: Path, image: Any) -> dict[str, Any]:
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(path), experimental_preserve_all_tensors=True)
    index = interpreter.get_input_details()[0]["index"]
    interpreter.resize_tensor_input(index, image.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(index, image)
    interpreter.invoke()
    found = {}
    for detail in interpreter.get_tensor_details():
        try:
            found[detail["name"]] = interpreter.get_tensor(detail["index"])
        except ValueError:
            continue
    return found


def _opened(path: Path) -> tuple[Any, Any]:
    from stethoscope.models.formats import detect
    from stethoscope.types import ModelFile

    file = ModelFile.at(path)
    kind = detect(file)
    # An empty folder of its own: opening writes there.
    return kind.describe(file), kind.open(file, Path(tempfile.mkdtemp(prefix="stethoscope-bench-")))


def _watching(architecture: Any, runner: Any) -> Any:
    from stethoscope.activations.reach import reachable
    from stethoscope.activations.watching import Watching

    seen = [layer for layer, reason in reachable(architecture, runner).items() if not reason]
    return Watching(architecture, runner, seen, 8 << 30)


def _timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds on the clock, and of the processors."""
    start, used = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - start, time.process_time() - used


BENCHMARK = Benchmark(
    "activation_statistics",
    "statistics of all layers of a 109 M-parameter encoder: at most 1.3 times the time and 1.25 times the memory of a plain "
    "call; activations within 1e-5 of independent runs in Keras, onnxruntime and LiteRT",
    run,
)


if __name__ == "__main__":
    result = {"build": build, "cost": cost, "plain_peak": plain_peak, "watched_peak": watched_peak, "same": same}[
        sys.argv[1]
    ](sys.argv[2])
    print(json.dumps(result))

"""Models called as a program of one's own calls them: the runtime's default settings, nothing checked per call.

Our runners check and name what goes in and out, and have ONNX Runtime give memory back at once: 50 to 120 microseconds a call,
more than a small model takes. Used in a worker, on files that a runner has opened before: that is what refuses the unsafe ones.

Timing several calls fairly on a machine that is never quite still: each gets a short turn, again and again.

What disturbs a machine for a second then disturbs all of them. A turn begins with calls that are not counted, because threads of
the one before may still be spinning and the caches are full of what it read.

Source: perf_counter_ns and garbage collection off while timing, as Python's timeit does; onnxruntime.ai/docs/performance
(threads spin after a run).

Which runtime runs a file here: its name, its version, and getting it started before anything is timed.
"""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from stethoscope import devices
from stethoscope.models.capabilities import LiveModel
from stethoscope.models.formats.tf_graph import tf_calls
from stethoscope.models.formats.tflite import load
from stethoscope.models.formats.tflite_model import tflite_layers
from stethoscope.models.model_format import Format, RuntimeName
from stethoscope.types import Feed, ModelFile, TensorSpec

_QUIET = 3


class Plain(Protocol):
    """A model that its runtime has loaded."""

    def ready(self, feed: Feed) -> Callable[[], object]:
        """The call on a feed; the first one may set up what these shapes need."""
        ...

    def close(self) -> None:
        """Lets go of the model."""
        ...


def loader(format_: Format, file: ModelFile, inputs: Sequence[TensorSpec]) -> Callable[[], Plain] | None:
    """What loads the model plainly; None where only its runner can call it."""
    known: dict[str, Callable[[ModelFile], Plain]] = {"onnxruntime": _Session, "litert": _Interpreter}
    plain = known.get(format_.runtime)
    if plain is None or not _of_numbers(inputs) or not format_.loads_plainly(file):
        return None
    return lambda: plain(file)


def traced(runner: LiveModel) -> Callable[[Feed], Callable[[], object]] | None:
    """What makes calls of a `tf.function` around a live Keras model, for arrays and to arrays; None where it takes text.

    Args:
        runner: it stays the owner of its model.
    """
    if not _of_numbers(runner.inputs):
        return None
    import tensorflow as tf  # noqa: TID251 - runs in a worker

    names = [spec.name for spec in runner.inputs]
    function = tf.function(runner.live_outputs, reduce_retracing=True)

    def ready(feed: Feed) -> Callable[[], object]:
        arrays = [feed[name] for name in names]
        return lambda: [tf_calls.array(one) for one in function([tf.constant(array) for array in arrays]).values()]

    return ready


def _of_numbers(inputs: Sequence[TensorSpec]) -> bool:
    return not any(spec.dtype in ("", "string", "bfloat16") or "(" in spec.dtype for spec in inputs)


class _Session:
    def __init__(self, file: ModelFile) -> None:
        import onnxruntime as ort  # noqa: TID251 - runs in a worker

        options = ort.SessionOptions()
        options.intra_op_num_threads = devices.chosen()
        options.inter_op_num_threads = 1
        options.log_severity_level = _QUIET
        self._session: Any = ort.InferenceSession(str(file.path), options, providers=["CPUExecutionProvider"])

    def ready(self, feed: Feed) -> Callable[[], object]:
        session = self._session
        values = {name: np.asarray(array, order="C") for name, array in feed.items()}
        return lambda: session.run(None, values)

    def close(self) -> None:
        self._session = None


class _Interpreter:
    def __init__(self, file: ModelFile) -> None:
        model = load(file)
        self._file = file
        self._inputs, self._outputs = tflite_layers.argument_indices(model)
        self._interpreter = self._load(delegates=True)

    def _load(self, *, delegates: bool) -> Any:
        from ai_edge_litert import interpreter as litert  # noqa: TID251 - runs in a worker

        kinds = litert.OpResolverType
        return litert.Interpreter(
            model_path=str(self._file.path),
            num_threads=devices.chosen(),
            experimental_op_resolver_type=kinds.AUTO if delegates else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        )

    def ready(self, feed: Feed) -> Callable[[], object]:
        values = [(self._inputs[name], np.asarray(array, order="C")) for name, array in feed.items()]
        outputs = list(self._outputs.values())
        prepared = False

        def call() -> list[Any]:
            nonlocal prepared
            if not prepared:
                self._prepare(values)
                prepared = True
            interpreter = self._interpreter
            for index, array in values:
                interpreter.set_tensor(index, array)
            interpreter.invoke()
            return [interpreter.get_tensor(index) for index in outputs]

        return call

    def _prepare(self, values: Sequence[tuple[int, Any]]) -> None:
        try:
            self._shape(values)
            for index, array in values:
                self._interpreter.set_tensor(index, array)
            self._interpreter.invoke()
        except RuntimeError as error:
            # XNNPACK gives up on some dynamic shapes that LiteRT's own kernels handle.
            if "XNNPack" not in str(error):
                raise
            self._interpreter = self._load(delegates=False)
            self._shape(values)

    def _shape(self, values: Sequence[tuple[int, Any]]) -> None:
        interpreter = self._interpreter
        current = {detail["index"]: tuple(detail["shape"]) for detail in interpreter.get_input_details()}
        for index, array in values:
            if current.get(index) != array.shape:
                interpreter.resize_tensor_input(index, array.shape)
        interpreter.allocate_tensors()

    def close(self) -> None:
        del self._interpreter


TURNS = 10
"""Turns into which the time of one call is cut."""
SETTLE_S = 0.02
"""Of uncounted calls at the start of a turn; at most this share of it:"""
SETTLE_SHARE = 0.2
FEWEST, LONGEST_S = 3, 20.0
"""A slow call is timed this often, unless that takes longer."""


@dataclass
class Timing:
    """One call and the times it took."""

    call: Callable[[], object]
    times_ns: list[int] = field(default_factory=list)
    failure: Exception | None = None
    """What the call raised; it is not called again then."""

    @property
    def spent_s(self) -> float:
        """Of all counted calls."""
        return sum(self.times_ns) / 1e9

    def is_done(self, seconds: float) -> bool:
        """Whether it needs no further turn."""
        spent = self.spent_s
        return self.failure is not None or (spent >= seconds and (len(self.times_ns) >= FEWEST or spent >= LONGEST_S))


def take_turns(timings: Sequence[Timing], seconds: float, said: Callable[[float], None] = lambda share: None) -> None:
    """Fills in the times of each.

    Args:
        timings: calls that have run at least once: warm.
        seconds: of counted calls for each.
        said: told before each round which share of the time is done.
    """
    turn_s = seconds / TURNS
    while waiting := [one for one in timings if not one.is_done(seconds)]:
        said(sum(min(1.0, one.spent_s / seconds) for one in timings) / len(timings))
        for one in waiting:
            _turn(one, turn_s)


def _turn(timing: Timing, turn_s: float) -> None:
    clock, times, call = time.perf_counter_ns, timing.times_ns, timing.call
    collects = gc.isenabled()
    gc.collect(0)
    gc.disable()
    try:
        settled = clock() + int(1e9 * min(SETTLE_S, SETTLE_SHARE * turn_s))
        # Where one call fills the turn, what came before it weighs nothing.
        while (not times or times[-1] < 1e9 * turn_s) and clock() < settled:
            call()
        end = clock() + int(1e9 * turn_s)
        while True:
            start = clock()
            call()
            stop = clock()
            times.append(stop - start)
            if stop >= end:
                return
    except Exception as error:  # noqa: BLE001 - of the model: told beside the others' times
        timing.failure = error
    finally:
        if collects:
            gc.enable()


_OTHERS: Mapping[RuntimeName, tuple[str, str, str]] = {
    "onnxruntime": ("ONNX Runtime", "onnxruntime", "onnxruntime"),
    "litert": ("LiteRT", "ai_edge_litert.interpreter", "ai-edge-litert"),
}
"""What people call it, its module, its package."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start(runtime: RuntimeName) -> str:
    """Imports a runtime and lets it set itself up; returns what it is called: "ONNX Runtime 1.22.1".

    Only in a worker. A process pays for this once, whatever it runs then: no part of a model's loading.
    """
    if runtime in _OTHERS:
        title, module, package = _OTHERS[runtime]
        importlib.import_module(module)
        return f"{title} {importlib.metadata.version(package)}"
    loaded = importlib.import_module("tensorflow")
    loaded.add(loaded.constant(1.0), 1.0).numpy()
    return f"TensorFlow {loaded.__version__}"


def device(runtime: RuntimeName) -> str:
    """Where a runtime computes in this process: "CPU" or "GPU"."""
    if runtime in _OTHERS:
        return "CPU"
    found = importlib.import_module("tensorflow").config.list_logical_devices("GPU")
    return "GPU" if found else "CPU"

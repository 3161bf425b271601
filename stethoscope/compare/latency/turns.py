"""Timing several calls fairly on a machine that is never quite still: each gets a short turn, again and again.

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

from stethoscope.models.model_format import RuntimeName

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

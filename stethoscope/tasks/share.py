"""Live in a share of the card beside other models: predict again and again under a hard limit, for some seconds."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from stethoscope.errors import OutOfMemory
from stethoscope.framework_errors import Cause, explain, named_by
from stethoscope.memory.configure import configured
from stethoscope.sizes import human_bytes
from stethoscope.task import TaskContext
from stethoscope.types import Feed

SECONDS = 5.0
MAX_SECONDS = 120.0
MAX_KEPT_TIMES = 10_000
RELATIVE, ABSOLUTE = 1e-4, 1e-5
"""Outputs of repeated calls beyond this are different numbers rather than another order of summation."""


@dataclass(frozen=True)
class SharedRun:
    """Calls of one model within its share; what has a default is known once they are done."""

    batch_size: int
    loaded_bytes: int
    calls: int
    settings: tuple[str, ...]
    """What was set up, in sentences."""
    ready_s: float | None = None
    """When calling began and ended, in seconds since 1970."""
    ended_s: float | None = None
    measured_peak_bytes: int | None = None
    time_per_call_s: float | None = None
    """The median."""
    outputs_same: bool = True
    """Whether every call gave what the first gave."""
    digest: str = ""
    """SHA-256 of the first outputs."""
    outputs: Mapping[str, str] = field(default_factory=dict)
    """Files of the job."""


class Share:
    """Runs files["model"] on one batch over and over; the job's budget is its share.

    params: {"settings": RunSettings, "seconds", "seed", "trusted"}; files: "model", optionally "data".
    """

    kind = "share"
    answer = SharedRun

    def run(self, context: TaskContext) -> SharedRun:
        """Calls the model until the time is over.

        Raises:
            OutOfMemory: the share does not hold the batch; says how far it came.
        """
        seconds = min(MAX_SECONDS, max(0.0, float(context.params.get("seconds", SECONDS))))
        seed = int(context.params.get("seed", 0))
        with configured(context) as opened:
            batch_size = opened.settings.batch_size
            loaded = context.memory.added_bytes()
            given, call = opened.ready(context, 0, seed)
            batch_size = given.batching.fixed or batch_size
            batch = given.batching.take(given.feed, batch_size)
            known = SharedRun(batch_size, loaded, 0, tuple(opened.done))
            context.save_partial(known)
            context.memory.enforce()
            context.memory.reset()
            calls, ready_s = 0, time.time()
            end = time.monotonic() + seconds
            times: list[float] = []
            first: Feed = {}
            same = True
            while True:
                context.report("predict", None, f"call {calls + 1:,}")
                start = time.perf_counter()
                outputs = _guarded(context, call, batch, batch_size, calls)
                if len(times) < MAX_KEPT_TIMES:
                    times.append(time.perf_counter() - start)
                calls += 1
                same = same and (not first or _close(first, outputs))
                first = first or outputs
                if time.monotonic() >= end:
                    break
                del outputs
            arrays = {f"output-{place}": array for place, array in enumerate(first.values())}
            return replace(
                known,
                calls=calls,
                ready_s=ready_s,
                ended_s=time.time(),
                measured_peak_bytes=context.memory.peak_bytes(),
                time_per_call_s=float(np.median(times)),
                outputs_same=same,
                digest=_digest(first),
                outputs={name: context.save(name, array) for name, array in arrays.items()},
            )


def _guarded(context: TaskContext, call: Any, batch: Feed, batch_size: int, calls: int) -> Feed:
    limit_bytes = context.budget.memory_bytes
    try:
        found: Feed = call(batch)
        return found
    except Exception as error:
        cause = explain(error)
        if cause is None and context.memory.peak_bytes() >= limit_bytes:
            # Without memory even the error may be lost: "SystemError: error return without exception set".
            cause = Cause("memory ran out.", None, None, "")
        if cause is None:
            raise
        message = (
            f"Call {calls + 1:,} of {batch_size:,} rows: {cause.sentence} Its share is {human_bytes(limit_bytes)}. "
            "Give it a larger share or a smaller batch."
        )
        raise OutOfMemory(message, {"oom": named_by(cause, batch_size)}) from error


def _close(first: Feed, second: Feed) -> bool:
    return all(
        np.array_equal(first[name], second[name])
        if first[name].dtype.kind not in "fc"
        else np.allclose(first[name], second[name], rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
        for name in first
    )


def _digest(outputs: Feed) -> str:
    digest = hashlib.sha256()
    for name, array in outputs.items():
        values = array.astype(str) if array.dtype.kind in "OS" else array
        digest.update(f"{name} {values.dtype} {values.shape}".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


TASK = Share()

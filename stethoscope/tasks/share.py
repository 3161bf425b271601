"""Live in a share of the card beside other models: predict again and again under a hard limit, for some seconds."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from stethoscope.errors import OutOfMemory
from stethoscope.memory.shortage_report import named_by
from stethoscope.out_of_memory import Cause, explain
from stethoscope.sizes import human_bytes
from stethoscope.task import TaskContext
from stethoscope.tasks.configured import configured
from stethoscope.types import Feed

SECONDS = 5.0
MAX_SECONDS = 120.0
MAX_KEPT_TIMES = 10_000
RELATIVE, ABSOLUTE = 1e-4, 1e-5
"""Outputs of repeated calls beyond this are different numbers rather than another order of summation."""


class Share:
    """Runs files["model"] on one batch over and over; the job's budget is its share.

    params: {"settings": RunSettings, "seconds", "seed", "trusted"}; files: "model", optionally "data".
    """

    kind = "share"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns calls, times, peaks, a digest of the first outputs, and whether every call gave the same.

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
            value: dict[str, Any] = {
                "batch_size": batch_size,
                "loaded_bytes": loaded,
                "calls": 0,
                "settings": opened.done,
            }
            context.save_partial(value)
            context.memory.enforce()
            context.memory.reset()
            value["ready_s"] = time.time()
            end = time.monotonic() + seconds
            times: list[float] = []
            first: Feed = {}
            same = True
            while True:
                context.report("predict", None, f"call {value['calls'] + 1:,}")
                start = time.perf_counter()
                outputs = _guarded(context, call, batch, batch_size, value)
                if len(times) < MAX_KEPT_TIMES:
                    times.append(time.perf_counter() - start)
                value["calls"] += 1
                same = same and (not first or _close(first, outputs))
                first = first or outputs
                if time.monotonic() >= end:
                    break
                del outputs
            return value | {
                "ended_s": time.time(),
                "measured_peak_bytes": context.memory.peak_bytes(),
                "time_per_call_s": float(np.median(times)),
                "outputs_same": same,
                "digest": _digest(first),
                "outputs": {f"output-{place}": context.save(f"output-{place}", array) for place, array in enumerate(first.values())},
            }  # fmt: skip


def _guarded(context: TaskContext, call: Any, batch: Feed, batch_size: int, value: Mapping[str, Any]) -> Feed:
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
            f"Call {value['calls'] + 1:,} of {batch_size:,} rows: {cause.sentence} Its share is {human_bytes(limit_bytes)}. "
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

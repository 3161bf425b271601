"""After a training that memory ran out for: half of its batch in a fresh process, and half of that, until one is seen to fit.

Each try builds the training anew and runs its first steps. It ends where time would end it: then nothing was seen to fit.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from stethoscope.codec import decode
from stethoscope.errors import OutOfMemory
from stethoscope.framework_errors import BatchInterval, ShortageReport
from stethoscope.sizes import human_bytes
from stethoscope.task import Before, TaskContext

_TIME_SHARE = 0.7
"""Of the job's time that may be gone when a try is expected to end."""


@dataclass(frozen=True)
class Tried:
    """What the process hands over to the one after it."""

    asked: int
    """Rows in a batch, as the user trains."""
    batch_size: int
    """Of this process."""
    job_began_s: float
    began_s: float
    """When this process began; Unix seconds both."""
    peak_bytes: int = 0
    """The most that the training as it was asked for had added."""


def begin(context: TaskContext, batch_size: int) -> None:
    """Says where another process goes on, should the training in batches of `batch_size` rows run out of memory."""
    now = time.time()
    context.entrust(Tried(batch_size, batch_size, now, now))


def find(context: TaskContext, before: Before) -> NoReturn:
    """Tries half of the batch that ran out.

    Raises:
        OutOfMemory: always; with the batch that was seen to fit where there is one.
    """
    from stethoscope.training.from_job import fitting_rows, setup_from_job
    from stethoscope.training.trainer import Trainer

    last = decode(Tried, before.state)
    now = time.time()
    peak = last.peak_bytes or before.peak_bytes
    expected = now - last.job_began_s + 1.5 * (now - last.began_s)
    size = last.batch_size // 2
    if size < 1 or expected > _TIME_SHARE * context.budget.timeout_s:
        _end(context, last, peak, None)
    context.entrust(replace(last, batch_size=size, began_s=now, peak_bytes=peak))
    context.memory.watch()  # else libraries that tracing touches count as the training's
    asked = context.params.get("fit")
    fit = {**(asked if isinstance(asked, Mapping) else {}), "batch_size": size}
    _, setup, _ = setup_from_job(replace(context, params={**context.params, "fit": fit}), judged=False)
    setup, _ = fitting_rows(setup, context.budget.memory_bytes)
    context.report("train", message=f"after memory ran out: the first steps in batches of {size:,}")
    Trainer(setup).warm_up(setup)
    context.memory.rest()
    if context.memory.peak_bytes() > context.budget.memory_bytes:
        raise MemoryError  # it was over the limit for too short to be ended: the next process tries less
    context.keep_to_myself()
    _end(context, last, peak, BatchInterval(size, last.batch_size - 1))


def _end(context: TaskContext, last: Tried, peak_bytes: int, fits: BatchInterval | None) -> NoReturn:
    context.report("train", message=f"batches of {last.asked:,} rows")
    context.keep_to_myself()
    limit = human_bytes(context.budget.memory_bytes)
    text = f"Training in batches of {last.asked:,} ran out of memory: it had added {human_bytes(peak_bytes)}; the limit is {limit}. "
    if fits is None:
        seen = f"A batch of {last.batch_size:,} ran out too. " if last.batch_size < last.asked else ""
        text += f"{seen}Raise the memory limit."
    else:
        text += f"A batch of {fits.low:,} was seen to fit; else raise the memory limit."
    raise OutOfMemory(
        text,
        {
            "oom": ShortageReport(
                batch_size=last.batch_size if fits is None else last.asked, largest_batch_estimate=fits
            )
        },
    )

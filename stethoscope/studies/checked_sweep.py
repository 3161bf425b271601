"""What the end of a sweep means: of its process while a batch was checked on purpose, and of one in which no batch ran."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stethoscope.codec import answer_of, partial_of, plain
from stethoscope.framework_errors import shortage_of
from stethoscope.memory.points import Otherwise, Point, SweepUnderWay, Swept
from stethoscope.types import JobResult, Status


@dataclass(frozen=True)
class _Answer:
    points: tuple[Point, ...] = ()


def as_ended(result: JobResult) -> JobResult:
    """Where none of the batches asked about fits, a sweep of any kind has no answer to give: memory ran out."""
    found = partial_of(result, _Answer)
    if result.status is not Status.OK or found is None or not found.points:
        return result
    if any(point.status not in (Status.OUT_OF_MEMORY, Status.REFUSED) for point in found.points):
        return result
    ran = [point for point in found.points if point.status is Status.OUT_OF_MEMORY]
    return replace(result, status=Status.OUT_OF_MEMORY, reason=(ran or found.points)[0].reason)


def as_checked(result: JobResult) -> JobResult:
    """What a process that ended during `--check` means.

    The batch just above the largest is expected not to fit: where its limit ended the process, and nothing was left to
    check, the question is answered. Any other end of the process says nothing about that batch, or that a batch which was
    said to fit did not: the check gets that status, and so does the command.
    """
    sweep = partial_of(result, SweepUnderWay)
    running = sweep and sweep.running
    if result.phase != "check" or not sweep or not running or not sweep.checks or result.status is Status.OK:
        return result
    shortage = shortage_of(result) if result.status is Status.OUT_OF_MEMORY else None
    if shortage is not None and shortage.mechanism == "limit":
        if running.above and running.last:
            return replace(result, status=Status.OK, value=plain(answer_of(result, Swept)), reason="", error="")
        return result
    last = replace(sweep.checks[-1], status=result.status, reason=result.reason)
    otherwise = running.otherwise or Otherwise()
    sweep = replace(
        sweep,
        checks=(*sweep.checks[:-1], last),
        largest_batch=otherwise.largest_batch,
        largest_batches=otherwise.largest_batches,
    )
    return replace(result, value={**result.value, **plain(sweep)})

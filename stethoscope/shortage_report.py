"""What a job says when memory ran out for it: for which tensor, in which phase, at whose limit, and what would fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stethoscope.codec import fitting
from stethoscope.out_of_memory import Cause
from stethoscope.types import JobResult, Shape

Mechanism = Literal["limit", "kill", "host"]
"""The job's own limit; a kill from outside, as the kernel's when memory runs out; the machine's memory."""


@dataclass(frozen=True)
class BatchInterval:
    """Where the largest batch that fits lies, in rows."""

    low: int
    high: int


@dataclass(frozen=True)
class HostAccount:
    """Who had the machine's memory; all but `other_jobs` in bytes."""

    available_bytes: int
    floor_bytes: int
    """Kept free: below so much available memory a job is ended."""
    usable_bytes: int
    this_job_bytes: int
    other_jobs: int
    """How many more were running."""
    other_jobs_bytes: int
    app_bytes: int
    """The app and its worker servers."""
    rest_bytes: int
    """Other programs."""


@dataclass(frozen=True)
class Change:
    """A setting to change."""

    setting: str
    to: int | None
    """None where no number can be told."""


@dataclass(frozen=True)
class ShortageReport:
    """The report under "oom" of a job's answer. A worker gives what it knows; the parent fills in the rest."""

    tensor_shape: Shape | None = None
    tensor_bytes: int | None = None
    operator: str = ""
    tensor_from: Literal["error", "expected"] | None = None
    """Whether the framework named the tensor, or it is the largest one expected in this phase."""
    weight_bytes: int | None = None
    """Of a model whose weights alone are too much."""
    mechanism: Mechanism | None = None
    """None while nothing has run out."""
    certain: bool = True
    """Whether memory is known to be the cause; False for a death that may have another."""
    phase: str = ""
    peak_bytes: int = 0
    limit_bytes: int = 0
    batch_size: int | None = None
    largest_batch_estimate: BatchInterval | None = None
    largest_samples_estimate: int | None = None
    """Rows that are expected to fit with their outputs, in batches of this size; None where they are not the trouble."""
    advice: str = ""
    change: tuple[Change, ...] = ()
    host: HostAccount | None = None
    """Where the machine ran out."""


def named_by(cause: Cause, batch_size: int | None = None) -> ShortageReport:
    """What a worker knows from the framework's message."""
    shape = None if cause.tensor_shape is None else tuple(cause.tensor_shape)
    return ShortageReport(tensor_shape=shape, operator=cause.operator, batch_size=batch_size)


def shortage_of(result: JobResult) -> ShortageReport | None:
    """The report of a job that memory ran out for; None without one."""
    return fitting(ShortageReport, result.value["oom"]) if result.value.get("oom") else None

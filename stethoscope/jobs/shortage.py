"""The report of a job that memory ran out for, however it ended: what it held, in which phase, for which tensor, what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stethoscope.codec import fitting
from stethoscope.framework_errors import BatchInterval, Change, HostAccount, Mechanism, ShortageReport
from stethoscope.memory.layer_estimate import filled
from stethoscope.sizes import human_bytes
from stethoscope.types import Job, Shape

LOADING = ("starting", "configure", "read", "load")
TRACING = ("trace",)
RUNNING = ("measure", "predict", "sweep", "check")
JOINING = ("collect", "save")
TRAINING = ("train", "trials", "gradients", "prove", "overfit")
READING = ("data", "profile", "baseline", "features", "subgroups", "whole rows", "time", "judge", "points", "draw")
"""What is done with rows before any model runs, or without one."""
CONVERTING = ("convert", "write", "keep")
_FIT_BATCH = 32
"""Keras' own, where nobody said how many."""
_FEW_SAMPLES = 16
"""Of an overfit test, where nobody said how many; they are one batch."""
_FILE, _INITIALISED = 2, 3
"""While Keras loads: the file's bytes and the variables; and what initialising the largest layer takes besides. Measured: 1,285
MiB for one layer of 256 MiB."""
_CONVERTED = "on the way to TFLite about eight"
"""How often what converts holds the weights at once. Measured: 3.2 GB added for 438 MB, float32 (see docs/benchmarks.md)."""
_MOST_CHARACTERS, _MOST_DIMENSIONS, _MOST_PROBES = 200, 32, 100

_Advice = tuple[str, Change | None]
"""A sentence, and the setting it is about."""


@dataclass(frozen=True)
class _Running:
    """The batch under way, of a sweep."""

    batch_size: int | None = None


@dataclass(frozen=True)
class _Settings:
    dynamic_size: int | None = None
    """Of the open dimensions."""


@dataclass(frozen=True)
class _Known:
    """Of what a worker had answered or kept, whatever its kind of job: what a report is made of."""

    oom: ShortageReport | None = None
    running: _Running | None = None
    settings: _Settings | None = None
    largest_batch: BatchInterval | None = None
    probes: Mapping[int, int] = field(default_factory=dict)
    predicted_peak_bytes: int | None = None


@dataclass(frozen=True)
class Shortage:
    """What is known of it. Sizes in bytes."""

    job: Job
    mechanism: Mechanism
    certain: bool
    """Whether memory is known to be the cause; False for a death that may have another."""
    phase: str
    peak_bytes: int
    known: _Known
    foretold: Mapping[str, Any]
    """The largest tensors the model was expected to need, as `largest_tensors` gives them."""
    host: HostAccount | None = None
    """Who had the machine's memory, where that ran out."""

    def report(self) -> ShortageReport:
        """The report under "oom" of a job's answer."""
        hint = self.known.oom or ShortageReport()
        batch = _positive(hint.batch_size) or self._running_batch()
        report = replace(
            self._with_tensor(hint, batch),
            mechanism=self.mechanism,
            certain=self.certain,
            phase=self.phase,
            peak_bytes=self.peak_bytes,
            limit_bytes=self.job.budget.memory_bytes,
            batch_size=batch,
            largest_batch_estimate=self._fits(hint, batch),
            host=self.host,
        )
        changes = self._changes(report)
        return replace(
            report,
            advice=" ".join(text for text, _ in changes),
            change=tuple(change for _, change in changes if change),
        )

    def _running_batch(self) -> int | None:
        under_way = _positive(self.known.running and self.known.running.batch_size)
        fit = self.job.params.get("fit")
        if self.phase == "overfit":
            return _positive(self.job.params.get("samples")) or _FEW_SAMPLES
        if self.phase in TRAINING and isinstance(fit, Mapping):
            return under_way or _positive(fit.get("batch_size")) or _FIT_BATCH
        settings = self.job.params.get("settings") or {}
        return under_way or _positive(settings.get("batch_size")) or _positive(self.job.params.get("batch_size"))

    def _with_tensor(self, hint: ShortageReport, batch: int | None) -> ShortageReport:
        """The tensor the framework named, else the largest one expected in this phase."""
        shape, operator = _shape(hint.tensor_shape), hint.operator[:_MOST_CHARACTERS]
        if shape and hint.tensor_from == "expected":  # the worker has read the graph
            return replace(hint, tensor_shape=shape, operator=operator, tensor_bytes=_positive(hint.tensor_bytes))
        if shape or operator:
            return replace(hint, tensor_shape=shape, operator=operator, tensor_from="error", tensor_bytes=None)
        weight, output = _mapping(self.foretold.get("weight")), _mapping(self.foretold.get("output"))
        size: int | None
        if self.phase in LOADING and weight:
            shape, size, operator = _shape(weight["shape"]), _positive(weight["bytes"]), weight["operator"]
        elif self.phase not in (*LOADING, *CONVERTING) and output:
            told = self.known.settings.dynamic_size if self.known.settings else None
            open_size = told or self.foretold.get("open_size")
            sides, size = filled(output, 1 if self.phase in TRACING else batch or 1, _positive(open_size))
            shape, operator = _shape(sides), output["operator"]
        else:
            return replace(hint, tensor_shape=None, operator="", tensor_from=None, tensor_bytes=None)
        operator = str(operator)[:_MOST_CHARACTERS]
        return replace(hint, tensor_shape=shape, operator=operator, tensor_from="expected", tensor_bytes=size)

    def _fits(self, hint: ShortageReport, batch: int | None) -> BatchInterval | None:
        """The largest batch; for a machine that ran out, of what was left for this job there."""
        fits = hint.largest_batch_estimate or self.known.largest_batch
        if self.mechanism == "host" and self.host is not None and 1 < len(self.known.probes) <= _MOST_PROBES:
            from stethoscope.memory.fit import PeakFit

            room = self.peak_bytes + self.host.available_bytes - self.host.floor_bytes
            fits = PeakFit(self.known.probes).largest(min(room, self.job.budget.memory_bytes))
        if fits is None or not (batch and self.certain and self.phase in RUNNING):
            return fits
        return BatchInterval(min(fits.low, batch - 1), min(fits.high, batch - 1))

    def _changes(self, report: ShortageReport) -> list[_Advice]:
        changes: list[_Advice] = []
        if self.mechanism != "limit":
            changes.append(self._of_the_machine())
        raising = self.mechanism == "limit"
        if self.phase == "leak":
            text = "Every call keeps some memory that is never freed: a smaller batch or a higher limit only delays the end. "
            return [
                *changes,
                (text + "Look for what the model holds on to: a list, a cache, a variable that grows.", None),
            ]
        if self.phase in READING or (self.phase == "read" and "model" not in self.job.files):
            changes.append(("Give fewer rows.", None))
            return [*changes, self._raise_limit(None)] if raising else changes
        if self.phase in LOADING:
            return changes + self._of_loading(raising)
        if self.phase in CONVERTING:
            weights = _positive(self.foretold.get("weights_bytes"))
            size = f" ({human_bytes(weights)})" if weights else ""
            text = f"A smaller batch does not help: what converts holds the weights{size} several times, {_CONVERTED}."
            more = [self._raise_limit(None)] if raising else []
            return [*changes, (text, None), *more]
        rows = _positive(report.largest_samples_estimate)
        hint = self.known.oom and self.known.oom.largest_batch_estimate
        alone = hint.low if hint else 0
        fits, batch = report.largest_batch_estimate, report.batch_size
        if self.phase in JOINING or (self.phase == "predict" and rows and batch and alone >= batch):
            text = "The batches fit; their outputs together do not. Predict fewer rows at a time"
            text += f": about {rows:,} are estimated to fit." if rows else "."
            return [*changes, (text, Change("samples", rows))]
        if self.phase in TRACING:
            text = "A smaller batch does not help: this was the first call, with as few rows as the model takes. "
            changes.append((text + "Make the input smaller (shorter sequences, smaller images).", None))
        elif fits and fits.low > 0:
            how = "was seen to fit" if self.phase in TRAINING else "is estimated to fit"
            changes.append((f"A batch of {fits.low:,} {how}.", Change("batch_size", fits.low)))
        elif batch and batch > 1 and self.phase == "overfit":
            changes.append((f"Try {batch // 2:,} samples: they are one batch.", Change("samples", batch // 2)))
        elif batch and batch > 1:
            said = " No smaller batch was tried." if self.phase in TRAINING else ""
            changes.append((f"Try a batch of {batch // 2:,}.{said}", Change("batch_size", batch // 2)))
        else:
            changes.append(("Make the input smaller (shorter sequences, smaller images).", None))
        if raising:
            expected = None if self.phase in TRACING else _positive(self.known.predicted_peak_bytes)
            changes.append(self._raise_limit(expected))
        return changes

    def _of_loading(self, raising: bool) -> list[_Advice]:
        weights = _positive(self.foretold.get("weights_bytes"))
        largest = _positive(_mapping(self.foretold.get("weight")).get("bytes")) or 0
        size = f"Its weights alone take {human_bytes(weights)}, and loading needs more. " if weights else ""
        if raising:
            text, item = self._raise_limit(_FILE * weights + _INITIALISED * largest if weights else None)
            return [(size + text, item)]
        return [(f"{size}A smaller batch does not help here; weights of lower precision do.", None)]

    def _raise_limit(self, expected: int | None) -> _Advice:
        limit = self.job.budget.memory_bytes
        wanted = expected + max(expected // 10, 64 << 20) if expected and expected > limit else None
        text = "Raise the memory limit" + (f" to about {human_bytes(wanted)}." if wanted else ".")
        return text, Change("memory_limit_bytes", wanted)

    def _of_the_machine(self) -> _Advice:
        host = self.host
        if host is None:
            text = "End other programs on this machine, or let fewer jobs run at once (STETHOSCOPE_JOB_SLOTS)."
            return text, Change("STETHOSCOPE_JOB_SLOTS", None)
        text = "Run it again when more is free"
        if host.other_jobs:
            text += ", or let fewer jobs run at once (STETHOSCOPE_JOB_SLOTS)"
        if host.rest_bytes > host.this_job_bytes + host.other_jobs_bytes:
            text += "; most of the memory is held by other programs"
        return f"{text}.", Change("STETHOSCOPE_JOB_SLOTS", host.other_jobs) if host.other_jobs else None


def report_on(
    job: Job,
    mechanism: Mechanism,
    phase: str,
    peak_bytes: int,
    value: Mapping[str, Any],
    foretold: Mapping[str, Any],
    *,
    certain: bool = True,
    host: HostAccount | None = None,
) -> ShortageReport:
    """The report, from what the worker had answered or kept (`value`) and the tensors it expected (`foretold`).

    Without what the worker said where that makes no sense, as it may have run a hostile model.
    """
    known = fitting(_Known, value) or _Known()
    shortage = Shortage(job, mechanism, certain, phase, peak_bytes, known, foretold, host)
    try:
        return shortage.report()
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return replace(shortage, known=_Known(), foretold={}).report()


def host_sentence(job: Job, phase: str, host: HostAccount) -> str:
    """Why a job was ended that had not reached its own limit."""
    held, limit = human_bytes(host.this_job_bytes), human_bytes(job.budget.memory_bytes)
    jobs = host.other_jobs
    beside = f" {jobs} other job{'s' * (jobs > 1)} held {human_bytes(host.other_jobs_bytes)}," if jobs else ""
    return (
        f"Stopped while in phase “{phase}” because the machine ran out of memory: {human_bytes(host.available_bytes)} of "
        f"{human_bytes(host.usable_bytes)} were left, and {human_bytes(host.floor_bytes)} are kept free. This job held "
        f"{held} of its {limit},{beside} other programs {human_bytes(host.rest_bytes)}."
    )


def tensor_sentence(report: ShortageReport) -> str:
    """The tensor of a report in words; "" where it is not known."""
    shape, size = report.tensor_shape, report.tensor_bytes
    if not shape and not report.operator:
        return ""
    what = "It was for" if report.tensor_from == "error" else "The largest tensor expected in this phase:"
    dimensions = ", ".join("?" if side is None else str(side) for side in shape or ())
    parts = (report.operator, f"shape ({dimensions})" if shape else "", human_bytes(size) if size else "")
    return f"{what} " + ", ".join(part for part in parts if part)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _shape(value: Sequence[Any] | None) -> Shape | None:
    """A shape that a worker gave; None where it is not one."""
    if value is None or len(value) > _MOST_DIMENSIONS:
        return None
    return tuple(value) if all(size is None or isinstance(size, int) for size in value) else None


def _positive(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None

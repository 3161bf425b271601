"""The report of a job that memory ran out for, however it ended: what it held, in which phase, for which tensor, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from stethoscope.memory.largest_tensor import filled
from stethoscope.sizes import human_bytes
from stethoscope.types import Job

Mechanism = Literal["limit", "kill", "host"]
"""The job's own limit; a kill from outside, as the kernel's when memory runs out; the machine's memory."""
LOADING = ("starting", "configure", "read", "load")
TRACING = ("trace",)
RUNNING = ("measure", "predict", "sweep", "check")
JOINING = ("collect", "save")
_FILE, _INITIALISED = 2, 3
"""While Keras loads: the file's bytes and the variables; and what initialising the largest layer takes besides. Measured: 1,285
MiB for one layer of 256 MiB."""
_MOST_CHARACTERS, _MOST_DIMENSIONS, _MOST_PROBES = 200, 32, 100


@dataclass(frozen=True)
class Shortage:
    """What is known of it. Sizes in bytes."""

    job: Job
    mechanism: Mechanism
    certain: bool
    """Whether memory is known to be the cause; False for a death that may have another."""
    phase: str
    peak_bytes: int
    value: Mapping[str, Any]
    """What the worker had answered or kept."""
    foretold: Mapping[str, Any]
    """The largest tensors the model was expected to need, as `largest_tensors` gives them."""
    host: Mapping[str, Any] | None = None
    """Who had the machine's memory, where that ran out: see `HostMemory.account`."""

    def to_json(self) -> dict[str, Any]:
        """The report under "oom" of a job's answer.

        Returns:
            {"mechanism", "certain", "phase", "peak_bytes", "limit_bytes", "tensor_shape", "tensor_bytes", "operator",
            "tensor_from": "error", "expected" or None, "batch_size", "largest_batch_estimate", "advice", "change": [{"setting",
            "to"}], "host"} and what the worker put there itself.
        """
        told: dict[str, Any] = dict(_mapping(self.value.get("oom")))
        batch = _whole(told.get("batch_size")) or self._running_batch()
        report: dict[str, Any] = {
            **told,
            **self._tensor(told, batch),
            "mechanism": self.mechanism,
            "certain": self.certain,
            "phase": self.phase,
            "peak_bytes": self.peak_bytes,
            "limit_bytes": self.job.budget.memory_bytes,
            "batch_size": batch,
            "largest_batch_estimate": self._fits(told, batch),
            "host": None if self.host is None else dict(self.host),
        }
        changes = self._changes(report)
        return report | {
            "advice": " ".join(text for text, _ in changes),
            "change": [item for _, item in changes if item],
        }

    def _running_batch(self) -> int | None:
        under_way = _whole(_mapping(self.value.get("running")).get("batch_size"))
        if under_way:
            return under_way
        settings = _mapping(self.job.params.get("settings"))
        return _whole(settings.get("batch_size")) or _whole(self.job.params.get("batch_size"))

    def _tensor(self, told: Mapping[str, Any], batch: int | None) -> dict[str, Any]:
        """The tensor the framework named, else the largest one expected in this phase."""
        shape, operator = _shape(told.get("tensor_shape")), str(told.get("operator") or "")[:_MOST_CHARACTERS]
        if shape or operator:
            return {"tensor_shape": shape, "operator": operator, "tensor_from": "error", "tensor_bytes": None}
        weight, output = _mapping(self.foretold.get("weight")), _mapping(self.foretold.get("output"))
        if self.phase in LOADING and weight:
            found = {"tensor_shape": _shape(weight["shape"]), "tensor_bytes": _whole(weight["bytes"])}
            operator = weight["operator"]
        elif self.phase not in LOADING and output:
            open_size = _whole(_mapping(self.value.get("settings")).get("dynamic_size"))
            filled_shape, size = filled(output, 1 if self.phase in TRACING else batch or 1, open_size)
            found = {"tensor_shape": _shape(filled_shape), "tensor_bytes": size}
            operator = output["operator"]
        else:
            return {"tensor_shape": None, "operator": "", "tensor_from": None, "tensor_bytes": None}
        return found | {"operator": str(operator)[:_MOST_CHARACTERS], "tensor_from": "expected"}

    def _fits(self, told: Mapping[str, Any], batch: int | None) -> dict[str, int] | None:
        """The largest batch; for a machine that ran out, of what was left for this job there."""
        found = _mapping(told.get("largest_batch_estimate"))
        swept = _mapping(self.value.get("largest_batch"))
        if not found and swept:
            found = {end: swept[end] for end in ("low", "high")}
        probes = {int(rows): int(peak) for rows, peak in _mapping(self.value.get("probes")).items()}
        if self.mechanism == "host" and self.host is not None and 1 < len(probes) <= _MOST_PROBES:
            from stethoscope.memory.fit import PeakFit

            room = self.peak_bytes + self.host["available_bytes"] - self.host["floor_bytes"]
            found = PeakFit(probes).largest(min(room, self.job.budget.memory_bytes)) or {}
        if not found:
            return None
        most = batch - 1 if batch and self.certain and self.phase in RUNNING else None
        return {end: int(size) if most is None else min(int(size), most) for end, size in found.items()}

    def _changes(self, report: Mapping[str, Any]) -> list[tuple[str, dict[str, Any] | None]]:
        """Sentences of advice, each with the setting it is about."""
        changes: list[tuple[str, dict[str, Any] | None]] = []
        if self.mechanism != "limit":
            changes += self._of_the_machine(report)
        raising = self.mechanism == "limit"
        if self.phase == "leak":
            text = "Every call keeps some memory that is never freed: a smaller batch or a higher limit only delays the end. "
            return [
                *changes,
                (text + "Look for what the model holds on to: a list, a cache, a variable that grows.", None),
            ]
        if self.phase in LOADING:
            return changes + self._of_loading(raising)
        rows = _whole(report.get("largest_samples_estimate"))
        alone = _whole(_mapping(_mapping(self.value.get("oom")).get("largest_batch_estimate")).get("low")) or 0
        fits, batch = _mapping(report["largest_batch_estimate"]), report["batch_size"]
        if self.phase in JOINING or (self.phase == "predict" and rows and batch and alone >= batch):
            text = "The batches fit; their outputs together do not. Predict fewer rows at a time"
            text += f": about {rows:,} are estimated to fit." if rows else "."
            return [*changes, (text, {"setting": "samples", "to": rows})]
        if self.phase in TRACING:
            text = "A smaller batch does not help: this was the first call, with as few rows as the model takes. "
            changes.append((text + "Make the input smaller (shorter sequences, smaller images).", None))
        elif fits.get("low"):
            changes.append(
                (f"A batch of {fits['low']:,} is estimated to fit.", {"setting": "batch_size", "to": fits["low"]})
            )
        elif batch and batch > 1:
            changes.append((f"Try a batch of {batch // 2:,}.", {"setting": "batch_size", "to": batch // 2}))
        else:
            changes.append(("Make the input smaller (shorter sequences, smaller images).", None))
        if raising:
            expected = None if self.phase in TRACING else _whole(self.value.get("predicted_peak_bytes"))
            changes.append(self._raise_limit(expected))
        return changes

    def _of_loading(self, raising: bool) -> list[tuple[str, dict[str, Any] | None]]:
        weights = _whole(self.foretold.get("weights_bytes"))
        largest = _whole(_mapping(self.foretold.get("weight")).get("bytes")) or 0
        size = f"Its weights alone take {human_bytes(weights)}, and loading needs more. " if weights else ""
        if raising:
            text, item = self._raise_limit(_FILE * weights + _INITIALISED * largest if weights else None)
            return [(size + text, item)]
        return [(f"{size}A smaller batch does not help here; weights of lower precision do.", None)]

    def _raise_limit(self, expected: int | None) -> tuple[str, dict[str, Any]]:
        limit = self.job.budget.memory_bytes
        wanted = expected + max(expected // 10, 64 << 20) if expected and expected > limit else None
        text = "Raise the memory limit" + (f" to about {human_bytes(wanted)}." if wanted else ".")
        return text, {"setting": "memory_limit_bytes", "to": wanted}

    def _of_the_machine(self, report: Mapping[str, Any]) -> list[tuple[str, dict[str, Any] | None]]:
        host = self.host
        if host is None:
            text = "End other programs on this machine, or let fewer jobs run at once (STETHOSCOPE_JOB_SLOTS)."
            return [(text, {"setting": "STETHOSCOPE_JOB_SLOTS", "to": None})]
        text = "Run it again when more is free"
        if host["other_jobs"]:
            text += ", or let fewer jobs run at once (STETHOSCOPE_JOB_SLOTS)"
        if host["rest_bytes"] > host["this_job_bytes"] + host["other_jobs_bytes"]:
            text += "; most of the memory is held by other programs"
        item = {"setting": "STETHOSCOPE_JOB_SLOTS", "to": host["other_jobs"]} if host["other_jobs"] else None
        return [(f"{text}.", item)]


def report_on(shortage: Shortage) -> dict[str, Any]:
    """The report; without what the worker said where that makes no sense, as it may have run a hostile model."""
    try:
        return shortage.to_json()
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return replace(shortage, value={}, foretold={}).to_json()


def host_sentence(job: Job, phase: str, host: Mapping[str, Any]) -> str:
    """Why a job was ended that had not reached its own limit."""
    held, limit = human_bytes(host["this_job_bytes"]), human_bytes(job.budget.memory_bytes)
    jobs = host["other_jobs"]
    beside = f" {jobs} other job{'s' * (jobs > 1)} held {human_bytes(host['other_jobs_bytes'])}," if jobs else ""
    return (
        f"Stopped while in phase “{phase}” because the machine ran out of memory: {human_bytes(host['available_bytes'])} of "
        f"{human_bytes(host['usable_bytes'])} were left, and {human_bytes(host['floor_bytes'])} are kept free. This job held "
        f"{held} of its {limit},{beside} other programs {human_bytes(host['rest_bytes'])}."
    )


def tensor_sentence(report: Mapping[str, Any]) -> str:
    """The tensor of a report in words; "" where it is not known."""
    shape, size = report.get("tensor_shape"), report.get("tensor_bytes")
    if not shape and not report.get("operator"):
        return ""
    what = "It was for" if report.get("tensor_from") == "error" else "The largest tensor expected in this phase:"
    dimensions = ", ".join("?" if side is None else str(side) for side in shape or ())
    parts = (report.get("operator"), f"shape ({dimensions})" if shape else "", human_bytes(size) if size else "")
    return f"{what} " + ", ".join(part for part in parts if part)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _shape(value: Any) -> list[int | None] | None:
    """A shape that a worker gave; None where it is not one."""
    if not isinstance(value, list) or len(value) > _MOST_DIMENSIONS:
        return None
    return value if all(size is None or isinstance(size, int) for size in value) else None


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None

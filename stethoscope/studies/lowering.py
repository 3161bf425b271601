"""What would lower the peak most: other settings, each tried in a job of its own, ranked by what was measured."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from stethoscope.codec import answer_of, partial_of
from stethoscope.errors import StethoscopeError
from stethoscope.jobs.job_engine import Engine
from stethoscope.jobs.protocol import JobState
from stethoscope.memory.alternatives import KINDS, Alternative, alternatives, together
from stethoscope.memory.lowering_report import Lowered, Trial
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.formats import all_formats
from stethoscope.studies.study import Kind, Parts
from stethoscope.tasks.describe import Description
from stethoscope.types import Architecture, Budget, Job, JobResult, ModelFile, Status, WorkerKind

_DESCRIBE = Budget(4 << 30, 120)


def _answers(report: Lowered) -> tuple[Status | None, ...]:
    return (report.status, *(trial.status for trial in (report.present, *report.trials)))


LOWERING: Final = Kind[Lowered]("lowering", Lowered.to_json, Lowered.from_json, _answers)


@dataclass(frozen=True)
class LoweringRequest:
    """What to try it on, and how much of what a trial may use."""

    model: ModelFile
    settings: RunSettings = field(default_factory=RunSettings)
    """The present ones."""
    data: ModelFile | None = None
    data_params: Mapping[str, Any] = field(default_factory=dict)
    """How the data is read: {"preparation", "data_options"}."""
    beside: Mapping[str, ModelFile] = field(default_factory=dict)
    """Files that lie beside the model, by role."""
    kinds: tuple[str, ...] = KINDS
    """Which changes to try."""
    samples: int = 0
    """Rows of random input each trial runs; 0 for one batch of the present settings."""
    open_size: int | None = None
    """Size of open dimensions in use now (random input only); None for what the model is first seen to take."""
    seed: int = 0
    trusted: bool = False
    memory_bytes: int = 4 << 30
    """Of each trial."""
    timeout_s: float = 300.0
    """Of each trial."""
    owner: str = ""
    entry_id: str = ""

    def begun(self) -> Lowered:
        """The report before anything has run."""
        return Lowered(Trial(Alternative("present", "together", "as it is", self.settings, self.open_size)))


class Lowering:
    """One search. `on_change` gets the report whenever it has changed; `cancelled` is asked often."""

    def __init__(
        self,
        engine: Engine,
        request: LoweringRequest,
        on_change: Callable[[Lowered], None] = lambda report: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._request, self._on_change = request, on_change
        self._parts = Parts(engine, request.owner, request.entry_id, cancelled)
        self._report = request.begun()
        self._started = time.time()
        self._worker: WorkerKind = "light"
        self._reference: Mapping[str, Path] = {}
        self._open_size: int | None = None

    def run(self) -> Lowered:
        """Runs to the end and returns the report; what goes wrong in a trial is that trial's status."""
        try:
            architecture = self._describe()
            if architecture is not None and self._try_present():
                self._try_all(architecture)
        except StethoscopeError as error:
            self._publish(status=Status.FAILED, reason=str(error))
        if self._report.status is None:
            cancelled = self._parts.cancelled
            self._publish(
                status=Status.CANCELLED if cancelled else Status.OK,
                reason="The search was cancelled." if cancelled else "",
                progress="",
                fraction=1.0,
            )
        return self._report

    def _describe(self) -> Architecture | None:
        request = self._request
        files = {"model": request.model, **request.beside}
        result = self._result(Job("describe", files, {}, _DESCRIBE), "reading the model")
        if result is None:
            return None
        if result.status is not Status.OK:
            self._publish(status=result.status, reason=result.reason)
            return None
        architecture = answer_of(result, Description).architecture
        self._worker = all_formats()[architecture.format_id].worker
        return architecture

    def _try_present(self) -> bool:
        """Measures the present settings; trials make sense when they ran, or ran out of memory."""
        trial = self._tried(self._report.present.alternative)
        if trial is None:
            return False
        self._publish(present=trial)
        if trial.status not in (Status.OK, Status.OUT_OF_MEMORY):
            self._publish(status=trial.status, reason=trial.reason)
            return False
        return True

    def _try_all(self, architecture: Architecture) -> None:
        request = self._request
        found, untried = alternatives(request.settings, architecture, self._open_size, request.kinds)
        self._publish(trials=tuple(Trial(item) for item in found), untried=untried)
        for number, item in enumerate(found):
            self._publish(fraction=(number + 1) / (len(found) + 2))
            trial = self._tried(item)
            if trial is None:
                return
            self._publish_trial(trial)
        combined = together(request.settings, self._winners())
        if combined is not None:
            self._publish_trial(Trial(combined))
            trial = self._tried(combined)
            if trial is not None:
                self._publish_trial(trial)

    def _winners(self) -> list[Alternative]:
        """The best trial of each kind that keeps batch and input as they are."""
        chosen: dict[str, Alternative] = {}
        for trial in self._report.ranked:
            kind = trial.alternative.kind
            # A compiled function and another call style with XLA are the same change.
            if kind in ("call", "xla", "precision") and self._report.lowers(trial):
                group = "precision" if kind == "precision" else "call"
                chosen.setdefault(group, trial.alternative)
        return list(chosen.values())

    def _tried(self, item: Alternative) -> Trial | None:
        """Runs one job; None when cancelled."""
        request = self._request
        params = {
            "settings": item.settings.to_json(),
            "samples": request.samples or request.settings.batch_size,
            "open_size": item.open_size if item.open_size is not None else request.open_size,
            "seed": request.seed,
            "trusted": request.trusted,
            **request.data_params,
        }
        files = {"model": request.model, **request.beside} | ({"data": request.data} if request.data else {})
        job = Job("trial", files, params, Budget(request.memory_bytes, request.timeout_s), self._worker)
        result = self._result(job, item.title)
        return None if result is None else self._trial(item, result)

    def _trial(self, item: Alternative, result: JobResult) -> Trial:
        from stethoscope.tasks.trial import TriedSettings  # not before: a command starts without numpy

        tried = partial_of(result, TriedSettings)
        if item.id == "present":
            self._open_size = tried.open_size if tried else None
        trial = Trial(item, result.status, result.reason, held_bytes=tried.held_bytes if tried else None)
        if result.status is not Status.OK or tried is None:
            return trial
        difference = None
        if item.open_size in (None, self._request.open_size):
            outputs = {name: result.files[file] for name, file in tried.outputs.items()}
            if not self._reference:
                # Where the present settings ran out of memory, the first run that was possible stands in for them.
                self._reference = outputs
            difference = _difference(self._reference, outputs)
        return replace(
            trial,
            peak_bytes=tried.peak_bytes,
            later_peak_bytes=tried.later_peak_bytes,
            time_per_sample_s=tried.time_per_sample_s,
            first_pass_s=tried.first_pass_s,
            max_abs_diff=difference[0] if difference else None,
            relative_diff=difference[1] if difference else None,
        )

    def _result(self, job: Job, title: str) -> JobResult | None:
        """Waits for one job; None when the search was cancelled meanwhile."""
        if self._parts.cancelled:
            return None
        self._publish(progress=title)

        def moved(_name: str, state: JobState) -> None:
            progress = f"{title}: {state.progress.message or state.progress.phase}"
            if progress != self._report.progress:
                self._publish(progress=progress)

        self._parts.start(title, job)
        state = self._parts.ended(moved)[title]
        return None if self._parts.cancelled else state.result

    def _publish_trial(self, trial: Trial) -> None:
        self._report = self._report.with_trial(trial)
        self._publish()

    def _publish(self, **changes: Any) -> None:
        self._report = replace(self._report, wall_s=time.time() - self._started, **changes)
        self._on_change(self._report)


def _difference(reference: Mapping[str, Path], outputs: Mapping[str, Path]) -> tuple[float, float] | None:
    """(max |a − b|, the same as a share of max |a|) over outputs both have; None when nothing can be compared."""
    import numpy as np

    largest, share, compared = 0.0, 0.0, False
    for name in reference.keys() & outputs.keys():
        try:
            a, b = (np.load(path, allow_pickle=False) for path in (reference[name], outputs[name]))
        except (OSError, ValueError) as error:
            raise StethoscopeError(f"Output {name!r}: cannot be read back ({type(error).__name__}).") from error
        if a.shape != b.shape or a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub" or not a.size:
            continue
        gap = float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64))))
        if not math.isfinite(gap):
            return None
        compared = True
        largest = max(largest, gap)
        share = max(share, gap / max(float(np.max(np.abs(a.astype(np.float64)))), 1e-30) if gap else 0.0)
    return (largest, share) if compared else None

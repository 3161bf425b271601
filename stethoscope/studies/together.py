"""Really runs several models at once, each in a contained process under its share of the card."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from stethoscope.codec import answer_of, decode, partial_of, plain
from stethoscope.errors import BadSetting, StethoscopeError
from stethoscope.jobs.job_engine import Engine
from stethoscope.jobs.protocol import JobState
from stethoscope.memory.lowering_report import ModelRun, TogetherReport, at_once, judged
from stethoscope.memory.prediction import Prediction
from stethoscope.memory.run_settings import RunSettings
from stethoscope.memory.sharing import HEADROOM_BYTES, HEADROOM_FRACTION, Split, split
from stethoscope.memory.sharing_programs import SharingCode, sharing_codes
from stethoscope.models.formats import format_of
from stethoscope.studies.study import Kind, Parts
from stethoscope.tasks.describe import Description
from stethoscope.tasks.share import SharedRun
from stethoscope.types import Architecture, Budget, Job, JobResult, ModelFile, Status, WorkerKind

_DESCRIBE = Budget(4 << 30, 120)
_RELATIVE, _ABSOLUTE = 1e-4, 1e-5
_EXCESS = 4
"""The model made to exceed its share asks for this many times as much."""
_SHORTFALL = 0.6
"""Where its memory does not grow with the batch, its share is cut to this part of its peak instead."""
_MOST_SHARE = 0.5
"""Of the card, for the model made to exceed its share."""
_MAX_ROWS = 1 << 20


def _answers(report: TogetherReport) -> tuple[Any, ...]:
    return (report.verdict, *((run.state, run.status) for run in report.runs))


TOGETHER: Final = Kind[TogetherReport]("together", plain, functools.partial(decode, TogetherReport), _answers)


@dataclass(frozen=True)
class Tenant:
    """A model that shares the card."""

    name: str
    """Unique among the tenants."""
    file: ModelFile
    settings: RunSettings = field(default_factory=RunSettings)
    data: ModelFile | None = None
    beside: Mapping[str, ModelFile] = field(default_factory=dict)
    """Further files of an ONNX model, by role."""
    trusted: bool = False


@dataclass(frozen=True)
class TogetherRequest:
    """What to run on which card (on a machine without one: within which memory budget)."""

    tenants: Sequence[Tenant]
    device_bytes: int
    headroom_fraction: float = HEADROOM_FRACTION
    reserved_bytes: int = 0
    own_shares: Mapping[str, int] = field(default_factory=dict)
    exceed: str = ""
    """The tenant to be given more work than its share holds, to show that it ends alone; "" for none."""
    seconds: float = 3.0
    """How long they run beside each other, once all are loaded."""
    seed: int = 0
    owner: str = ""
    entry_id: str = ""
    timeout_s: float = 300.0

    def begun(self) -> TogetherReport:
        """The report before anything has run."""
        return TogetherReport(tuple(ModelRun(tenant.name) for tenant in self.tenants))


class Together:
    """One run. `on_change` gets the report whenever it has changed; `cancelled` is asked often.

    First every model runs alone, which gives its predicted and measured peak and its outputs; then the card is split;
    then all run at once, each in a process that may not add more memory than its share.
    """

    def __init__(
        self,
        engine: Engine,
        request: TogetherRequest,
        on_change: Callable[[TogetherReport], None] = lambda report: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        names = [tenant.name for tenant in request.tenants]
        if not names or len(set(names)) < len(names):
            raise BadSetting(f"Models together: expected different names, got {names}. Choose the models.")
        if request.exceed and request.exceed not in names:
            raise BadSetting(f"The model to exceed its share: expected one of {names}, got {request.exceed!r}.")
        self._request, self._on_change = request, on_change
        self._parts = Parts(engine, request.owner, request.entry_id, cancelled)
        self._report = request.begun()
        self._workers: dict[str, WorkerKind] = {}
        self._fits: dict[str, Mapping[int, int]] = {}
        self._alone: dict[str, JobResult] = {}
        self._architectures: dict[str, Architecture] = {}

    def run(self) -> TogetherReport:
        """Runs to the end and returns the report.

        Raises:
            BadSetting: shares that make no sense.
        """
        try:
            if self._measured_alone():
                self._publish(split=self._split())
                self._publish(codes=self._codes())
                self._run_together()
        finally:
            self._parts.cancel()
        self._publish(done=True)
        return self._report

    def _measured_alone(self) -> bool:
        for tenant in self._request.tenants:
            described = self._wait({tenant.name: self._job(tenant, "describe", {}, _DESCRIBE, "light")})[tenant.name]
            if described.status is not Status.OK:
                return self._stopped(tenant.name, described)
            architecture = answer_of(described, Description).architecture
            self._architectures[tenant.name] = architecture
            self._workers[tenant.name] = format_of(architecture).worker
            self._change(tenant.name, state="alone", batch_size=tenant.settings.batch_size)
            params = self._params(tenant, tenant.settings) | {"samples": 0}
            job = self._job(tenant, "predict", params, self._budget(self._request.device_bytes))
            found = self._wait({tenant.name: job})[tenant.name]
            if found.status is not Status.OK:
                return self._stopped(tenant.name, found)
            alone = answer_of(found, Prediction)
            self._alone[tenant.name] = found
            self._fits[tenant.name] = alone.probes
            self._change(
                tenant.name,
                state="waiting",
                predicted_bytes=alone.predicted_peak_bytes,
                alone_bytes=alone.measured_peak_bytes,
                alone_time_per_call_s=alone.time_per_batch_s,
            )
        return True

    def _split(self) -> Split:
        request = self._request
        needs = {run.name: max(run.predicted_bytes or 0, run.alone_bytes or 0) for run in self._report.runs}
        own = dict(request.own_shares)
        if request.exceed and request.exceed not in own:
            # Its share is what it needs, no more, so that what exceeds it is soon reached.
            need, grows = needs[request.exceed], self._rows_for(request.exceed, 1 << 62) is not None
            wanted = need + max(HEADROOM_BYTES, int(need * request.headroom_fraction)) if grows else need * _SHORTFALL
            own[request.exceed] = max(1 << 20, min(int(wanted), int(_MOST_SHARE * request.device_bytes)))
        return split(
            needs,
            request.device_bytes,
            headroom_fraction=request.headroom_fraction,
            reserved_bytes=request.reserved_bytes,
            own_shares=own,
        )

    def _rows_for(self, name: str, peak_bytes: int) -> int | None:
        """The batch expected to reach a peak; None where memory does not grow with the batch."""
        from stethoscope.memory.fit import PeakFit

        probes = self._fits.get(name) or {}
        fit = PeakFit(probes) if len(probes) > 1 else None
        if fit is None or fit.bytes_per_row <= 0:
            return None
        rows = int((peak_bytes - fit.start_bytes) / fit.bytes_per_row) + 1
        return min(rows, _MAX_ROWS) if fit.predict(_MAX_ROWS) > _EXCESS * self._request.device_bytes else None

    def _codes(self) -> tuple[SharingCode, ...]:
        assert self._report.split is not None
        batches = {tenant.name: tenant.settings.batch_size for tenant in self._request.tenants}
        return sharing_codes(self._report.split.shares, batches, self._architectures)

    def _run_together(self) -> None:
        request, shares = self._request, self._report.split
        assert shares is not None
        jobs: dict[str, Job] = {}
        seconds = request.seconds + max(result.wall_s for result in self._alone.values())
        for tenant in request.tenants:
            share = shares.share_of(tenant.name).share_bytes
            exceeds = tenant.name == request.exceed
            rows = tenant.settings.batch_size
            if exceeds:
                rows = max(rows, self._rows_for(tenant.name, int(_EXCESS * share)) or rows)
            self._change(tenant.name, state="together", share_bytes=share, asked_batch_size=rows, exceeds=exceeds)
            params = self._params(tenant, replace(tenant.settings, batch_size=rows)) | {"seconds": seconds}
            jobs[tenant.name] = self._job(tenant, "share", params, self._budget(share))
        results = self._wait(jobs, together=True)
        started = min((run.started_s for run in self._report.runs if run.started_s is not None), default=0.0)
        for name, result in results.items():
            run, shared = self._report.run_of(name), partial_of(result, SharedRun)
            spans = {
                key: None if value is None else round(value - started, 3)
                for key, value in (("started_s", run.started_s), ("ended_s", run.ended_s))
            }
            same = None if result.status is not Status.OK or run.exceeds else self._same(name, result)
            self._change(
                name,
                state="done",
                status=result.status.value,
                reason=result.reason,
                phase=result.phase,
                peak_bytes=(shared and shared.measured_peak_bytes) or result.peak_rss_bytes,
                calls=shared.calls if shared else 0,
                time_per_call_s=shared.time_per_call_s if shared else None,
                same_as_alone=same if shared is None or shared.outputs_same else False,
                **spans,
            )
        runs = self._report.runs
        verdict, sentence = judged(runs)
        most = at_once([(run.started_s, run.ended_s) for run in runs if run.started_s is not None and run.ended_s])
        if 0 < most < len(runs):
            sentence += (
                f" At most {most} of {len(runs)} were running at one moment: raise STETHOSCOPE_JOB_SLOTS for more."
            )
        self._publish(verdict=verdict, sentence=sentence, at_once=most)

    def _same(self, name: str, result: JobResult) -> bool | None:
        pairs = [(path, result.files.get(file)) for file, path in self._alone[name].files.items()]
        found = [_equal(alone, beside) for alone, beside in pairs if beside is not None]
        return all(found) if found else None

    def _params(self, tenant: Tenant, settings: RunSettings) -> dict[str, Any]:
        return {
            "settings": settings.to_json(),
            "batch_size": settings.batch_size,
            "seed": self._request.seed,
            "trusted": tenant.trusted,
        }

    def _budget(self, memory_bytes: int) -> Budget:
        return Budget(memory_bytes, self._request.timeout_s)

    def _job(
        self, tenant: Tenant, kind: str, params: Mapping[str, Any], budget: Budget, worker: WorkerKind | None = None
    ) -> Job:
        files = {"model": tenant.file, **tenant.beside}
        if tenant.data is not None and kind != "describe":
            files["data"] = tenant.data
        return Job(kind, files, params, budget, worker or self._workers[tenant.name])

    def _wait(self, jobs: Mapping[str, Job], *, together: bool = False) -> dict[str, JobResult]:
        for name, job in jobs.items():
            # Measured anew where it is about what happens at the same moment.
            self._parts.start(name, job, fresh=together)
        results: dict[str, JobResult] = {}
        while len(results) < len(jobs):
            for name, state in self._parts.ended(self._moved).items():
                assert state.result is not None, "it has ended"
                results[name] = state.result
                if together:
                    self._change(name, started_s=state.started_s, ended_s=state.finished_s)
        return results

    def _moved(self, name: str, state: JobState) -> None:
        if self._report.run_of(name).phase != state.progress.phase:
            self._change(name, phase=state.progress.phase)

    def _stopped(self, name: str, result: JobResult) -> bool:
        self._change(name, state="done", status=result.status.value, reason=result.reason, phase=result.phase)
        verdict = "cancelled" if result.status is Status.CANCELLED else "not run"
        sentence = result.reason if name in result.reason else f"{name}: {result.reason}"
        self._publish(verdict=verdict, sentence=f"{sentence} It must run alone before it can share a card.")
        return False

    def _change(self, name: str, **changes: Any) -> None:
        runs = tuple(replace(run, **changes) if run.name == name else run for run in self._report.runs)
        self._publish(runs=runs)

    def _publish(self, **changes: Any) -> None:
        self._report = replace(self._report, **changes)
        self._on_change(self._report)


def _equal(first: Path, second: Path) -> bool:
    import numpy as np

    try:
        one, two = (np.load(path, allow_pickle=False) for path in (first, second))
    except (OSError, ValueError) as error:
        raise StethoscopeError(
            f"The outputs of a run cannot be read ({type(error).__name__}). Run it again."
        ) from error
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    if one.dtype.kind not in "fc":
        return bool(np.array_equal(one, two))
    return bool(np.allclose(one, two, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True))

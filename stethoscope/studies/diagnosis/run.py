"""Runs a diagnosis as a study: submits jobs as they become possible, tries fixes, re-examines the evidence after each."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Finding, Proof, Severity
from stethoscope.checks.fixes.combined import with_known_settings
from stethoscope.checks.judging.examination import examine, ranked
from stethoscope.codec import answer_of, partial_of
from stethoscope.errors import BadSetting, StethoscopeError
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.framework_errors import shortage_of
from stethoscope.jobs.job_engine import Engine
from stethoscope.jobs.protocol import JobState
from stethoscope.models.formats import all_formats
from stethoscope.studies.diagnosis.report import Report, Request, StageReport, report_from_json, report_to_json
from stethoscope.studies.diagnosis.shortages import OUT_OF_MEMORY, finding_of, not_looked_at
from stethoscope.studies.diagnosis.stages import STAGES, Stage, trainable
from stethoscope.studies.study import Cancelled, Kind, Parts, Publish, Studies
from stethoscope.task import task_of
from stethoscope.tasks.prove import ProvedFixes
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status, WorkerKind

MOST_PROOFS = 5


def to_prove(findings: Sequence[Finding]) -> tuple[int, ...]:
    """Indices of the findings whose fix is tried: the most severe with a fix that training can show, LOW and above."""
    found = [
        index
        for index, finding in enumerate(findings)
        if finding.fix is not None and finding.fix.provable and finding.severity >= Severity.LOW
    ]
    return tuple(found[:MOST_PROOFS])


def fixes_json(findings: Sequence[Finding], chosen: Sequence[int]) -> list[list[dict[str, Any]]]:
    """The fixes in the shape of the prove task's parameters."""
    listed = []
    for index in chosen:
        fix = findings[index].fix
        assert fix is not None
        listed.append([fix.to_json()])
    return listed


def with_proofs(findings: Sequence[Finding], chosen: Sequence[int], proofs: Sequence[Proof]) -> tuple[Finding, ...]:
    """The findings with their proofs. A fix that makes no difference lowers its finding by one step, one that harms by two."""
    changed = list(findings)
    for index, proof in zip(chosen, proofs, strict=False):
        changed[index] = judged(changed[index], proof)
    return tuple(sorted(changed, key=lambda finding: -finding.severity))


def judged(finding: Finding, proof: Proof) -> Finding:
    """One finding with its proof, demoted where the fix did not help; what crashes or is certain by definition keeps its place."""
    steps = {"no_difference": 1, "worse": 2}.get(proof.verdict, 0)
    if not steps or (finding.confidence >= 0.99 and finding.severity is Severity.CRITICAL):
        return replace(finding, proof=proof)
    return replace(
        finding,
        proof=proof,
        severity=finding.severity.lowered(steps),
        confidence=min(finding.confidence, 0.5 if steps == 1 else 0.3),
    )


_ONE_RUN = "A model is judged with one run of its logs; `stethoscope curves` compares all of them."


class Diagnosis:
    """One run. `on_change` gets the report whenever it has changed; `cancelled` is asked often."""

    def __init__(
        self,
        engine: Engine,
        request: Request,
        on_change: Callable[[Report], None] = lambda report: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        unknown = request.only - set(all_checks())
        if unknown:
            raise BadSetting(f"Check {min(unknown)!r}: no such check. Known: {', '.join(sorted(all_checks()))}.")
        self._request, self._on_change = request, on_change
        self._parts = Parts(engine, request.owner, request.entry_id, cancelled)
        self._checks = [check for check in all_checks().values() if not request.only or check.id in request.only]
        stages = [stage for stage in STAGES if stage.id != "second" or request.second is not None]
        self._stages = [stage for stage in stages if self._wanted(stage)]
        self._evidence = EvidenceSet(fit=request.fit, missing={Evidence.RUNS: _ONE_RUN})
        self._states = {stage.id: StageReport(stage.id, stage.title) for stage in self._stages}
        self._started = time.time()
        self._report = Report(request.summary(), created_s=self._started)

    def run(self) -> Report:
        """Runs to the end and returns the report; never raises for what goes wrong inside a stage."""
        try:
            self._gather()
            if self._report.status is None and self._request.prove:
                self._prove()
        finally:
            self._parts.cancel()
        if self._report.status is None:
            self._publish(**self._ending())
        return self._report

    def _ending(self) -> dict[str, Any]:
        if self._parts.cancelled:
            return {"status": Status.CANCELLED}
        short = finding_of(self._states.values())
        if short is None:
            return {"status": Status.OK}
        return {"status": Status.OUT_OF_MEMORY, "reason": short.message}

    def _wanted(self, stage: Stage) -> bool:
        """With `only`, a stage runs when a chosen check reads what it gives."""
        if not self._request.only or stage.id in ("describe", "profile"):
            return True
        read = {kind for check in self._checks for kind in (*check.needs, *check.needs_any, *check.uses)}
        return bool(read & set(stage.gives)) or (stage.kind == "score" and Evidence.BASELINE in read)

    def _gather(self) -> None:
        waiting, stages = list(self._stages), {stage.id: stage for stage in self._stages}
        while (waiting or self._parts.under_way) and self._report.status is None:
            if not self._parts.cancelled:
                self._begin_possible(waiting)
            over = self._parts.ended(self._moved)
            if self._parts.cancelled:
                self._cancel()
                return
            for stage_id, state in over.items():
                assert state.result is not None, "it has ended"
                self._absorb(stages[stage_id], state.result)

    def _begin_possible(self, waiting: list[Stage]) -> None:
        """Begins the stages that wait for nothing any more, and takes them from those that wait."""
        ended = {stage_id for stage_id, state in self._states.items() if state.status in ("done", "skipped", "failed")}
        known = ended | ({stage.id for stage in STAGES} - set(self._states))
        for stage in sorted((s for s in waiting if set(s.after) <= known), key=lambda stage: stage.order):
            waiting.remove(stage)
            self._begin(stage)

    def _begin(self, stage: Stage) -> None:
        if stage.id != "describe" and self._evidence.architecture is None:
            self._end(stage, "skipped", "The model could not be read.")
            return
        reason = stage.skip(self._request, self._evidence)
        if reason:
            self._end(stage, "skipped", reason)
            return
        params = stage.params(self._request, self._evidence)
        if "data" in stage.files:
            params |= self._request.data_params
        budget = Budget(self._request.memory_bytes, stage.timeout_s + stage.extra_s(self._request))
        worker = self._worker() if stage.runs_model else "light"
        self._submit(stage.id, Job(stage.kind, self._files(stage), params, budget, worker))

    def _submit(self, stage_id: str, job: Job) -> None:
        try:
            job_id = self._parts.start(stage_id, job)
        except StethoscopeError as error:
            self._states[stage_id] = replace(self._states[stage_id], status="failed", reason=str(error))
            return
        self._states[stage_id] = replace(self._states[stage_id], status="running", job_id=job_id)
        self._publish()

    def _files(self, stage: Stage) -> dict[str, ModelFile]:
        given = {
            "model": self._request.model,
            "data": self._request.data,
            "logs": self._request.logs,
            "second": self._request.second,
        }
        files = {role: file for role in stage.files if (file := given[role]) is not None}
        if "second" in files:
            # The task scores whatever model it is given.
            return {"model": files.pop("second"), **files}
        return files | (self._request.beside if "model" in stage.files else {})

    def _worker(self) -> WorkerKind:
        assert self._evidence.architecture is not None
        return all_formats()[self._evidence.architecture.format_id].worker

    def _absorb(self, stage: Stage, result: JobResult) -> None:
        reason = self._learn(stage, result)
        if stage.id == "describe" and self._evidence.architecture is None:
            self._end(stage, "failed", reason)
            ending = result.status if result.status in (Status.REFUSED, Status.OUT_OF_MEMORY) else Status.FAILED
            self._publish(status=ending, reason=reason)
            return
        if stage.id == "describe" and self._evidence.architecture is not None:
            described = self._evidence.architecture
            self._report = replace(self._report, format_id=described.format_id)
            if all_formats()[described.format_id].only_weights:
                # No check looks at such files: “no finding” would be a verdict on what nobody judged.
                self._end(stage, "failed", described.runnable)
                self._publish(status=Status.FAILED, reason=described.runnable)
                return
        failed = result.status is not Status.OK or bool(reason)
        self._end(stage, "failed" if failed else "done", reason, result.wall_s)

    def _learn(self, stage: Stage, result: JobResult) -> str:
        """Takes in what a stage answered, or had found when it ended early; returns why that is not whole."""
        answer = task_of(stage.kind).answer
        try:
            found = answer_of(result, answer) if result.status is Status.OK else partial_of(result, answer)
        except StethoscopeError as error:
            return str(error)
        if found is not None and (result.status is Status.OK or stage.id != "describe"):
            self._evidence = stage.absorb(self._evidence, found)
        shortage = shortage_of(result) if result.status is Status.OUT_OF_MEMORY else None
        if shortage is None:
            return result.reason
        self._states[stage.id] = replace(self._states[stage.id], shortage=shortage)
        return not_looked_at(shortage)

    def _end(self, stage: Stage, status: Any, reason: str, wall_s: float = 0.0) -> None:
        missing = {kind: reason for kind in stage.gives if reason and not self._evidence.has(kind)}
        self._evidence = replace(self._evidence, missing={**self._evidence.missing, **missing})
        self._states[stage.id] = replace(
            self._states[stage.id], status=status, reason=reason, wall_s=wall_s, progress="", fraction=None
        )
        self._examine()
        self._publish()

    def _examine(self) -> None:
        outcomes = examine(self._evidence, self._checks)
        findings = ranked([self._fixed(finding) for outcome in outcomes for finding in outcome.findings])
        self._report = replace(self._report, outcomes=outcomes, findings=self._headed(findings), facts=self._facts())

    def _headed(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """The findings, under that of the parts that memory ran out for, as they are known now."""
        short = finding_of(self._states.values())
        others = tuple(finding for finding in findings if finding.check_id != OUT_OF_MEMORY)
        return others if short is None else (short, *others)

    def _fixed(self, finding: Finding) -> Finding:
        """The finding, its fix printing the layer's other settings too."""
        if finding.fix is None or self._evidence.architecture is None:
            return finding
        return replace(finding, fix=with_known_settings(finding.fix, self._evidence.architecture))

    def _facts(self) -> dict[str, Any]:
        evidence = self._evidence
        kept = {"training": evidence.training, "overfit": evidence.overfit, "baseline": evidence.baseline}
        return {name: asdict(value) for name, value in kept.items() if value is not None}

    def _prove(self) -> None:
        findings = self._report.findings
        chosen = to_prove(findings)
        stage = StageReport("prove", "Trying the fixes")
        self._states["prove"] = stage
        reason = self._unprovable(bool(chosen))
        if reason:
            self._states["prove"] = replace(stage, status="skipped", reason=reason)
            self._publish()
            return
        request = self._request
        params = {
            "fixes": fixes_json(findings, chosen),
            "seeds": 3,
            "time_s": request.prove_s,
            "fit": {} if request.fit is None else request.fit.to_json(),
            "trusted": request.trusted,
            **request.data_params,
        }
        files = {"model": request.model, **request.beside} | ({"data": request.data} if request.data else {})
        budget = Budget(request.memory_bytes, 60 + 2 * request.prove_s)
        self._submit("prove", Job("prove", files, params, budget, self._worker()))
        state = self._parts.ended(self._moved).get("prove")
        if state is None or state.result is None:
            return
        result = state.result
        reason = result.reason
        try:
            findings = with_proofs(findings, chosen, answer_of(result, ProvedFixes).proofs)
        except StethoscopeError as error:
            reason = reason or str(error)
        shortage = shortage_of(result) if result.status is Status.OUT_OF_MEMORY else None
        reason = reason if shortage is None else not_looked_at(shortage)
        ended = "done" if result.status is Status.OK and not reason else "failed"
        stage = replace(stage, status=ended, reason=reason, wall_s=result.wall_s, shortage=shortage)  # type: ignore[arg-type]
        self._states["prove"] = stage
        self._report = replace(self._report, findings=self._headed(findings))
        self._publish()

    def _unprovable(self, any_fix: bool) -> str:
        if not any_fix:
            return "No finding has a fix whose effect a training can show."
        architecture = self._evidence.architecture
        if architecture is None or not trainable(architecture):
            return "Only Keras models (.keras, .h5) can be trained."
        if self._request.data is None or self._evidence.data is None or not self._evidence.data.targets:
            return "Trying a fix needs data with targets."
        return ""

    def _moved(self, stage_id: str, state: JobState) -> None:
        stage, progress = self._states[stage_id], state.progress
        now = replace(stage, progress=progress.message or progress.phase, fraction=progress.fraction)
        if now != stage:
            self._states[stage_id] = now
            self._publish()

    def _cancel(self) -> None:
        reason = "The diagnosis was cancelled."
        for stage_id, stage in self._states.items():
            if stage.status in ("waiting", "running"):
                self._states[stage_id] = replace(stage, status="skipped", reason=reason)
        self._publish(status=Status.CANCELLED, reason=reason)

    def _publish(self, **changes: Any) -> None:
        wall_s = time.time() - self._started
        self._report = replace(self._report, stages=tuple(self._states.values()), wall_s=wall_s, **changes)
        self._on_change(self._report)


def _answers(report: Report) -> Hashable:
    return (report.status, *(stage.status for stage in report.stages))


def _cut_off(report: Report, status: Status, reason: str) -> Report:
    return replace(report, status=status, reason=reason)


DIAGNOSIS: Final = Kind("diagnosis", report_to_json, report_from_json, _answers, _cut_off, "diagnoses", 50)


def start(studies: Studies, engine: Engine, request: Request) -> str:
    """Starts a diagnosis and returns its id at once; an equal one of this owner that is under way is joined."""

    def work(publish: Publish[Report], cancelled: Cancelled) -> None:
        Diagnosis(engine, request, publish, cancelled).run()

    first = Report(request.summary(), created_s=time.time())
    return studies.start(DIAGNOSIS, request.entry_id, request.owner, work, first, same=repr(request))

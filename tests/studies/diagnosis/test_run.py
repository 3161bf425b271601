"""A diagnosis on real workers: what arrives, what is said of what could not be looked at, and that it can be ended."""

from __future__ import annotations

import pytest

from sample_models import BUILT
from stethoscope.checks import all_checks
from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.errors import BadSetting
from stethoscope.evidence.fit import FitSettings
from stethoscope.evidence.kinds import Evidence
from stethoscope.studies.diagnosis import run
from stethoscope.studies.diagnosis import run as running
from stethoscope.studies.diagnosis.report import Request
from stethoscope.studies.diagnosis.run import DIAGNOSIS, Diagnosis
from stethoscope.studies.study import Studies
from stethoscope.types import ModelFile, Status
from tests.small_models import tiny_onnx
from tests.waiting import until


def request(name: str, *, data: bool = True, fit: FitSettings | None = None, **more) -> Request:
    given = ModelFile.at(BUILT / f"{name}_data.npz") if data else None
    return Request(ModelFile.at(BUILT / f"{name}.keras"), given, fit=fit, memory_bytes=3 << 30, **more)


def test_the_cause_comes_first_and_its_symptoms_under_it(engine):
    report = Diagnosis(engine, request("cancer_softmax_one_unit", fit=FitSettings(epochs=5), train_s=6.0)).run()
    assert report.status is Status.OK
    first = report.findings[0]
    assert (first.check_id, first.severity) == ("softmax-one-unit", Severity.CRITICAL)
    assert first.fix is not None and "sigmoid" in first.fix.code()
    assert not [item for item in report.findings[1:] if item.severity >= Severity.HIGH]
    assert {stage.id: stage.status for stage in report.stages}["train"] == "done"


def test_a_fix_is_tried_and_both_curves_are_kept(engine):
    asked = request("cancer_softmax_one_unit", fit=FitSettings(epochs=5), prove=True, train_s=6.0, prove_s=30.0)
    proof = Diagnosis(engine, asked).run().findings[0].proof
    assert proof is not None and proof.verdict == "helps", proof
    assert len(proof.before) == len(proof.after) == len(proof.seeds) >= 2
    assert min(proof.after) > max(proof.before)
    assert proof.curves is not None and {line.group for line in proof.curves.lines} == {"before", "after"}


def test_what_was_not_given_is_skipped_with_the_reason(engine, tmp_path):
    report = Diagnosis(engine, Request(ModelFile.at(tiny_onnx(tmp_path / "m.onnx")))).run()
    assert report.status is Status.OK
    stages = {stage.id: stage for stage in report.stages}
    assert stages["profile"].status == "skipped" and "--data" in stages["profile"].reason
    skipped = [outcome for outcome in report.outcomes if outcome.status is Status.SKIPPED]
    assert skipped and all(outcome.reason for outcome in skipped)
    assert {outcome.check_id for outcome in report.outcomes} == set(all_checks())


def test_a_file_that_is_no_model_ends_with_the_reason(engine, tmp_path):
    path = tmp_path / "m.keras"
    path.write_bytes(b"not a model")
    report = Diagnosis(engine, Request(ModelFile.at(path))).run()
    assert report.status is Status.FAILED
    assert "m.keras" in report.reason


def test_only_the_chosen_checks_run_and_only_what_they_need(engine):
    report = Diagnosis(engine, request("wine_unscaled", only=frozenset({"softmax-one-unit"}))).run()
    assert [outcome.check_id for outcome in report.outcomes] == ["softmax-one-unit"]
    assert {stage.id for stage in report.stages} == {"describe", "profile"}
    with pytest.raises(BadSetting, match="no-such-check"):
        Diagnosis(engine, request("wine_unscaled", only=frozenset({"no-such-check"})))


def test_a_check_that_breaks_is_failed_and_the_others_stand(engine, monkeypatch):
    def breaks(_evidence):
        yield Finding(Fault.DATA, Severity.LOW, 0.5, "", "Found before it broke.")
        raise IndexError("list index out of range")

    known = {**all_checks(), "breaks": Check(breaks, frozenset({Evidence.ARCHITECTURE}), id="breaks", title="Breaks")}
    monkeypatch.setattr(running, "all_checks", lambda: known)
    report = Diagnosis(engine, request("cancer_softmax_one_unit", data=False)).run()
    outcomes = {outcome.check_id: outcome for outcome in report.outcomes}
    assert outcomes["breaks"].status is Status.FAILED and "out of range" in outcomes["breaks"].reason
    assert {"softmax-one-unit", "breaks"} <= {finding.check_id for finding in report.findings}


def test_data_that_does_not_fit_costs_only_what_needs_it(engine, tmp_path):
    bad = tmp_path / "data.npz"
    bad.write_bytes(b"PK\x03\x04 cut off")
    asked = Request(ModelFile.at(BUILT / "cancer_softmax_one_unit.keras"), ModelFile.at(bad), fit=FitSettings())
    report = Diagnosis(engine, asked).run()
    assert report.status is Status.OK
    assert report.findings[0].check_id == "softmax-one-unit"
    assert {stage.id: stage.status for stage in report.stages}["profile"] == "failed"


def test_it_is_cancelled_and_keeps_what_it_found(engine):
    started = []

    def cancelled() -> bool:
        jobs = [state for state in engine.jobs(active=True) if state.kind == "train"]
        started.extend(jobs)
        return bool(jobs)

    asked = request("digits_deep_sigmoid", fit=FitSettings(epochs=500), train_s=30.0)
    report = Diagnosis(engine, asked, cancelled=cancelled).run()
    assert started and report.status is Status.CANCELLED
    until(lambda: not engine.jobs(active=True))


def test_a_diagnosis_is_kept_and_survives_a_restart(engine, tmp_path):
    studies = Studies(tmp_path)
    asked = request("cancer_softmax_one_unit", data=False, entry_id="entry-one", owner="me")
    first = run.start(studies, engine, asked)
    until(lambda: studies.find(DIAGNOSIS, first, "entry-one").done)
    (kept,) = Studies(tmp_path).kept(DIAGNOSIS, "entry-one")
    assert (kept.id, kept.owner, kept.report.status) == (first, "me", Status.OK)
    assert kept.report.findings[0].fix is not None

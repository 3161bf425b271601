"""Studies run beside the pages, are cancelled, are kept, and are found again, those of workspaces of before too."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from stethoscope.errors import BadSetting
from stethoscope.studies.diagnosis.report import Report, report_to_json
from stethoscope.studies.diagnosis.run import DIAGNOSIS
from stethoscope.studies.study import Kind, Studies, Study
from stethoscope.types import Status
from tests.waiting import until

SWEEP = Kind[Mapping[str, Any]]("sweep", dict, dict, lambda report: report.get("step"))
LEAK = Kind[Mapping[str, Any]]("leak", dict, dict, lambda report: None)


def started(studies: Studies, work: Any, **more: Any) -> str:
    return studies.start(SWEEP, "model", "me", work, {}, **more)


def ended(studies: Studies, study_id: str) -> Study[Mapping[str, Any]]:
    study = until(lambda: (kept := studies.find(SWEEP, study_id, "model")) and kept.done and kept)
    assert study
    return study


def test_a_study_is_seen_while_it_runs_and_kept_when_it_ended(tmp_path):
    studies, go_on = Studies(tmp_path), threading.Event()

    def work(publish, cancelled):
        publish({"step": 1})
        go_on.wait(10)
        publish({"step": 2})

    study_id = started(studies, work)
    assert until(lambda: studies.latest(SWEEP, "model").report == {"step": 1})
    assert studies.under_way(SWEEP, "model").id == study_id
    go_on.set()
    assert ended(studies, study_id).report == {"step": 2}
    assert studies.under_way(SWEEP, "model") is None
    again = Studies(tmp_path)
    assert again.find(SWEEP, study_id, "model").report == {"step": 2}
    assert again.latest(SWEEP, "model").id == study_id
    assert again.latest(LEAK, "model") is None


def test_what_was_answered_before_the_server_stopped_is_shown_with_the_reason(tmp_path):
    studies, go_on = Studies(tmp_path), threading.Event()

    def work(publish, cancelled):
        publish({"step": 1})
        publish({"step": 1, "progress": "half"})
        go_on.wait(10)

    study_id = started(studies, work)
    until(lambda: studies.find(SWEEP, study_id, "model").report.get("progress"))
    study = Studies(tmp_path).find(SWEEP, study_id, "model")
    assert study.done and study.cancelled and "restarted" in study.reason
    assert study.report == {"step": 1}, "progress alone is not kept"
    go_on.set()
    assert ended(studies, study_id).reason == ""


def test_an_equal_one_under_way_is_joined(tmp_path):
    studies, go_on = Studies(tmp_path), threading.Event()
    first = started(studies, lambda publish, cancelled: go_on.wait(10), same="words")
    assert started(studies, lambda publish, cancelled: None, same="words") == first
    assert started(studies, lambda publish, cancelled: None) != first
    go_on.set()
    ended(studies, first)


def test_a_cancelled_study_keeps_what_it_found(tmp_path):
    studies = Studies(tmp_path)

    def work(publish, cancelled):
        publish({"step": 3})
        until(cancelled)

    study_id = started(studies, work)
    studies.cancel(study_id)
    study = ended(studies, study_id)
    assert study.cancelled
    assert study.report == {"step": 3}


@pytest.mark.parametrize(("error", "said"), [(BadSetting("No."), "No."), (ValueError("x"), "report id")])
def test_what_goes_wrong_is_a_sentence(tmp_path, error, said):
    def work(publish, cancelled):
        raise error

    studies = Studies(tmp_path)
    assert said in ended(studies, started(studies, work)).reason


def test_a_study_of_another_model_or_kind_is_not_shown(tmp_path):
    studies = Studies(tmp_path)
    study_id = started(studies, lambda publish, cancelled: None)
    ended(studies, study_id)
    assert studies.find(SWEEP, study_id, "other") is None
    assert studies.find(LEAK, study_id, "model") is None
    assert studies.find(SWEEP, "../../etc/passwd", "model") is None


def test_only_the_newest_are_kept_and_all_can_be_forgotten(tmp_path):
    studies = Studies(tmp_path)
    for _ in range(22):
        ended(studies, started(studies, lambda publish, cancelled: None))
    until(lambda: studies.under_way(SWEEP, "model") is None)
    assert len(list(studies.kept(SWEEP, "model"))) == 20
    studies.forget("model")
    assert studies.latest(SWEEP, "model") is None


def test_studies_of_workspaces_of_before_open(tmp_path):
    (tmp_path / "studies" / "model").mkdir(parents=True)
    (tmp_path / "diagnoses" / "model").mkdir(parents=True)
    before = {
        "id": "1700000000000-abcdefgh",
        "kind": "sweep",
        "entry_id": "model",
        "owner": "me",
        "created_s": 1.7e9,
        "value": {"step": 2},
        "done": True,
        "cancelled": False,
        "reason": "",
    }
    (tmp_path / "studies" / "model" / f"{before['id']}.json").write_text(json.dumps(before))
    reports = {"1700000000001-abcdefghijkl": Report({}, status=Status.OK), "1700000000002-abcdefghijkl": Report({})}
    for diagnosis_id, report in reports.items():
        kept = {"id": diagnosis_id, "owner": "me", "report": report_to_json(report)}
        (tmp_path / "diagnoses" / "model" / f"{diagnosis_id}.json").write_text(json.dumps(kept))
    studies = Studies(tmp_path)
    study = studies.find(SWEEP, "1700000000000-abcdefgh", "model")
    assert (study.owner, study.report, study.done, study.reason) == ("me", {"step": 2}, True, "")
    cut_off, whole = studies.kept(DIAGNOSIS, "model")
    assert (whole.owner, whole.report.status, whole.reason) == ("me", Status.OK, "")
    assert cut_off.report.status is Status.CANCELLED and "restarted" in cut_off.report.reason

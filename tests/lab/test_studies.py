"""Studies run beside the pages, are cancelled, and are kept."""

from __future__ import annotations

import threading
import time

import pytest

from stethoscope.errors import BadSetting
from stethoscope.lab.studies import Studies, Study
from tests.waiting import until


def ended(studies: Studies, study_id: str, entry_id: str = "model") -> Study:
    study = until(lambda: (kept := studies.find(study_id, entry_id)) and kept.done and kept)
    assert study
    return study


def test_a_study_is_seen_while_it_runs_and_kept_when_it_ended(tmp_path):
    studies, go_on = Studies(tmp_path), threading.Event()

    def work(publish, cancelled):
        publish({"step": 1})
        go_on.wait(10)
        publish({"step": 2})

    study_id = studies.start("sweep", "model", "me", work)
    while not studies.latest("sweep", "model").value:
        time.sleep(0.01)
    assert studies.latest("sweep", "model").value == {"step": 1}
    go_on.set()
    assert ended(studies, study_id).value == {"step": 2}
    again = Studies(tmp_path)
    assert again.find(study_id, "model").value == {"step": 2}
    assert again.latest("sweep", "model").id == study_id
    assert again.latest("leak", "model") is None


def test_a_cancelled_study_keeps_what_it_found(tmp_path):
    studies = Studies(tmp_path)

    def work(publish, cancelled):
        publish({"found": 3})
        while not cancelled():
            time.sleep(0.01)

    study_id = studies.start("sweep", "model", "me", work)
    studies.cancel(study_id)
    study = ended(studies, study_id)
    assert study.cancelled
    assert study.value == {"found": 3}


@pytest.mark.parametrize(("error", "said"), [(BadSetting("No."), "No."), (ValueError("x"), "report id")])
def test_what_goes_wrong_is_a_sentence(tmp_path, error, said):
    def work(publish, cancelled):
        raise error

    studies = Studies(tmp_path)
    assert said in ended(studies, studies.start("sweep", "model", "me", work)).reason


def test_a_study_of_another_model_is_not_shown(tmp_path):
    studies = Studies(tmp_path)
    study_id = studies.start("sweep", "model", "me", lambda publish, cancelled: None)
    ended(studies, study_id)
    assert studies.find(study_id, "other") is None
    assert studies.find("../../etc/passwd", "model") is None


def test_only_the_newest_are_kept_and_all_can_be_forgotten(tmp_path):
    studies = Studies(tmp_path)
    ids = [studies.start("sweep", "model", "me", lambda publish, cancelled: None) for _ in range(22)]
    for study_id in ids[-3:]:
        ended(studies, study_id)
    time.sleep(0.2)
    assert len(list((tmp_path / "model").glob("*.json"))) <= 20
    studies.forget("model")
    assert studies.latest("sweep", "model") is None

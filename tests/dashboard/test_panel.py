"""Studies on pages: shown as they grow, cancelled by whom they are of, kept, and reopened by links of before."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

from dashboard import identity
from stethoscope.jobs.store import Entry
from stethoscope.memory.alternatives import Alternative
from stethoscope.memory.lowering_report import Lowered, Trial
from stethoscope.memory.run_settings import RunSettings
from stethoscope.studies.diagnosis.report import Report, StageReport, report_to_json
from stethoscope.studies.diagnosis.run import DIAGNOSIS
from stethoscope.studies.lowering import LOWERING
from stethoscope.studies.study import studies
from stethoscope.types import Status
from tests.dashboard.visiting import ME, OTHER, add, address, badges, keys, open_page, reopened, said, settle, visitor
from tests.small_models import tiny_onnx
from tests.waiting import until

PRESENT = Trial(Alternative("present", "together", "as it is", RunSettings()), Status.OK, peak_bytes=64 << 20)
QUESTION = {"question": "What lowers it"}


class Held:
    """A study whose work goes on when it is told to."""

    def __init__(self, entry: Entry) -> None:
        self.entry_id, self._published, self._go_on = entry.id, threading.Event(), threading.Event()
        self.id = studies().start(LOWERING, entry.id, ME, self._work, Lowered(PRESENT))
        self._published.wait(10)

    def _work(self, publish, cancelled):
        publish(Lowered(PRESENT, progress="half the batch: tracing"))
        self._published.set()
        until(lambda: cancelled() or self._go_on.is_set())
        if not cancelled():
            publish(Lowered(PRESENT, status=Status.OK))

    def end(self) -> None:
        self._go_on.set()
        until(lambda: studies().under_way(LOWERING, self.entry_id) is None)


def test_a_study_is_shown_while_it_runs_and_by_its_link_when_it_ended(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    open_page(app, "memory", entry, **QUESTION)
    held = Held(entry)
    app.run()
    assert f"cancel-page-{held.id}" in keys(app)
    assert app.button("study-lowering").disabled
    assert address(app, "study") == held.id
    held.end()
    assert "Nothing better" in badges(settle(app))
    assert not app.button("study-lowering").disabled
    assert "Nothing better" in badges(reopened(app, "memory"))


def test_a_cancelled_study_says_so_and_nobody_else_can_cancel_it(app, tmp_path, monkeypatch):
    entry = add(tmp_path, tiny_onnx)
    open_page(app, "memory", entry, **QUESTION)
    held = Held(entry)
    app.run()
    with monkeypatch.context() as as_other:
        as_other.setattr(identity, "owner_of", lambda _cookies: OTHER)
        other = visitor("memory", model=entry.id, study=held.id, **QUESTION)
        assert f"cancel-page-{held.id}" not in keys(other)
    app.button(f"cancel-page-{held.id}").click()
    app.run()
    assert "Cancelled" in badges(settle(app))


def test_a_diagnosis_is_started_kept_and_reopened_by_its_link(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    open_page(app, "diagnosis", entry)
    app.button("diagnose").click()
    settle(app)
    named = str(address(app, "diagnosis"))
    study = studies().find(DIAGNOSIS, named, entry.id)
    assert study is not None and study.report.status is Status.OK
    assert study.owner == ME and badges(app)
    assert badges(reopened(app, "diagnosis")) == badges(app)
    overview = visitor("overview", model=entry.id)
    assert "Not diagnosed" not in badges(overview)


def test_diagnoses_of_workspaces_of_before_open_by_their_links(app, workspace, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    place = workspace / "diagnoses" / entry.id
    place.mkdir(parents=True)
    whole = Report({}, stages=(StageReport("describe", "Reading", "done"),), status=Status.OK, created_s=1.7e9)
    for diagnosis_id, report in {
        "1700000000001-abcdefghijkl": whole,
        "1700000000002-abcdefghijkl": replace(whole, status=None),
    }.items():
        kept = {"id": diagnosis_id, "owner": ME, "report": report_to_json(report)}
        (place / f"{diagnosis_id}.json").write_text(json.dumps(kept))
    open_page(app, "diagnosis", entry, diagnosis="1700000000001-abcdefghijkl")
    assert "Nothing found" in badges(app)
    cut_off = visitor("diagnosis", model=entry.id)
    assert address(cut_off, "diagnosis") is None
    assert "Cancelled" in badges(cut_off) and "restarted" in said(cut_off)
    gone = visitor("diagnosis", model=entry.id, diagnosis="1600000000000-abcdefghijkl")
    assert "not kept" in said(gone) and address(gone, "diagnosis") is None

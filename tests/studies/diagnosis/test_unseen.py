"""What a diagnosis could not look at, by reason, the same for page, command line and report."""

from __future__ import annotations

import re

from stethoscope.checks.findings import Outcome
from stethoscope.studies.diagnosis import report_files
from stethoscope.studies.diagnosis.report import LeftOut, Report, StageReport, unseen
from stethoscope.types import Status

REPORT = Report(
    request={},
    outcomes=(
        Outcome("dead-relu", Status.OK),
        Outcome("loss-flat", Status.SKIPPED, reason="No data."),
        Outcome("overfitting", Status.FAILED, reason="It broke."),
        Outcome("loss-slow", Status.SKIPPED, reason="No data."),
        Outcome("copied-runs", Status.SKIPPED, reason="One run."),
    ),
    stages=(
        StageReport("model", "Reading the model", "done"),
        StageReport("data", "Reading the data", "skipped", "No data."),
        StageReport("training", "A short training", "failed", "It crashed."),
        StageReport("weights", "Weights", "done", "Half of them."),
        StageReport("prove", "Trying the fixes", "skipped", "No data."),
    ),
    status=Status.OK,
)


def test_what_was_not_looked_at_is_listed_by_reason():
    found = unseen(REPORT)
    assert [stage.id for stage in found.stages] == ["data", "training"]
    assert found.noted == (
        LeftOut("No data.", ("Reading the data", "Trying the fixes")),
        LeftOut("It crashed.", ("A short training",)),
        LeftOut("Half of them.", ("Weights",)),
    )
    assert found.skipped == (LeftOut("No data.", ("loss-flat", "loss-slow")), LeftOut("One run.", ("copied-runs",)))
    assert found.skipped_count == 3
    assert [one.check_id for one in found.broken] == ["overfitting"]
    assert [one.check_id for one in found.not_run] == ["loss-flat", "overfitting", "loss-slow", "copied-runs"]
    assert found.ran == ("dead-relu",)


def test_nothing_is_unseen_where_all_ran():
    found = unseen(Report(request={}, outcomes=(Outcome("dead-relu", Status.OK),), stages=REPORT.stages[:1]))
    assert not (found.stages or found.noted or found.skipped or found.broken or found.not_run)


def test_the_report_file_lists_them():
    page = report_files.as_html(REPORT)
    assert re.findall(r"(\d+) checks? ran, (\d+)", page) == [("1", "4")]
    assert all(one.check_id in page and one.reason in page for one in unseen(REPORT).not_run)


def test_the_command_line_and_the_page_say_so(capsys):
    from streamlit.testing.v1 import AppTest

    from stethoscope.cli.check import diagnosis

    diagnosis(REPORT)
    printed = " ".join(capsys.readouterr().out.split())
    (counts,) = re.findall(r"\d+ checks? ran[^.]*broke", printed)
    assert re.findall(r"\d+", counts) == ["1", "3", "1"]
    for left_out in unseen(REPORT).noted:
        assert f"{', '.join(left_out.names)}: {left_out.reason}" in printed
    assert all(f"{one.check_id}: {one.reason}" in printed for one in unseen(REPORT).broken)

    def page():
        from dashboard.behaviour.diagnosis_parts import _skipped, _verdict
        from tests.studies.diagnosis.test_unseen import REPORT

        _verdict(REPORT)
        _skipped(REPORT)

    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    assert [re.findall(r"\d+", box.label) for box in app.expander] == [["1", "3"]]
    shown = [str(element.value).replace("\\", "") for element in app.markdown]
    assert [text.partition("Not run:** ")[2] for text in shown if "Not run" in text] == [
        left_out.reason for left_out in unseen(REPORT).skipped
    ]
    titles = ", ".join(stage.title[0].lower() + stage.title[1:] for stage in unseen(REPORT).stages)
    assert any(titles in text for text in shown)
    assert "It broke" in app.warning[0].value

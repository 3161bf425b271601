"""One finding for all parts of a diagnosis that memory ran out for, wherever it is shown."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import typer

from stethoscope.checks.findings import Severity
from stethoscope.cli import check as cli_check
from stethoscope.framework_errors import BatchInterval, Change, ShortageReport
from stethoscope.studies.diagnosis.report import Report, StageReport, report_from_json, report_to_json
from stethoscope.studies.diagnosis.shortages import finding_of, leading, not_looked_at
from stethoscope.types import Status

MIB = 1 << 20
SHORT = ShortageReport(
    mechanism="limit",
    phase="train",
    peak_bytes=300 * MIB,
    limit_bytes=200 * MIB,
    batch_size=64,
    largest_batch_estimate=BatchInterval(16, 31),
    advice="A batch of 16 was seen to fit.",
    change=(Change("batch_size", 16), Change("memory_limit_bytes", None)),
)
LOOKING = replace(SHORT, phase="activations", batch_size=None, peak_bytes=250 * MIB, change=())
STAGES = (
    StageReport("describe", "Reading the model", "done"),
    StageReport("examine", "Weights and activations", "failed", not_looked_at(LOOKING), shortage=LOOKING),
    StageReport("train", "A short training", "failed", not_looked_at(SHORT), shortage=SHORT),
)


def report() -> Report:
    finding = finding_of(STAGES)
    return Report({"model": "m"}, (finding,), stages=STAGES, status=Status.OUT_OF_MEMORY, reason=finding.message)


def test_training_comes_first_and_every_part_is_named():
    finding = finding_of(STAGES)
    assert (finding.where, finding.severity, finding.fault.value) == ("fit", Severity.HIGH, "memory")
    assert all(title in finding.message for title in ("a short training", "weights and activations"))
    assert "batch_size=16" in finding.fix.code() and not finding.fix.provable
    number, table = finding.evidence
    assert (number.value, number.threshold) == (300.0, 200.0)
    assert [row[1:3] for row in table.rows] == [("train", 64), ("activations", None)]
    assert leading(STAGES) == SHORT
    assert finding_of(STAGES[:1]) is None and leading(STAGES[:1]) is None


def test_it_is_read_as_it_was_written():
    written = json.loads(json.dumps(report_to_json(report())))
    again = report_from_json(written)
    assert again.stages == STAGES and again.status is Status.OUT_OF_MEMORY
    assert again.findings == report().findings


@pytest.mark.parametrize(("level", "code"), [(Severity.HIGH, 1), (Severity.CRITICAL, 2)])
def test_the_gate_never_opens(capsys, level, code):
    with pytest.raises(typer.Exit) as ended:
        cli_check.exit_for(report(), level)
    assert ended.value.exit_code == code
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert cli_check.to_json(report())["oom"]["batch_size"] == 64


def test_the_page_shows_it_and_what_was_not_looked_at():
    from streamlit.testing.v1 import AppTest

    def page():
        from dashboard.behaviour import diagnosis_parts
        from stethoscope.types import Architecture
        from tests.studies.diagnosis.test_shortages import report

        empty = Architecture("keras", "", 0, 0, (), (), ())
        diagnosis_parts.answer(report(), empty, "short", "stethoscope check m")

    shown = AppTest.from_function(page).run()
    assert not shown.exception
    assert [one.value for one in shown.warning if "a short training" in one.value]
    assert any("batch_size=16" in one.value for one in shown.code)

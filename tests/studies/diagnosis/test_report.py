from __future__ import annotations

import json

from stethoscope.checks.findings import (
    Bars,
    Curves,
    Fault,
    Finding,
    Histogram,
    Line,
    Mark,
    Number,
    Outcome,
    Proof,
    Severity,
    Symptom,
    Table,
)
from stethoscope.checks.fixes.layers import ReplaceActivation
from stethoscope.studies.diagnosis import report_files
from stethoscope.studies.diagnosis.report import Report, StageReport, report_from_json, report_to_json
from stethoscope.studies.diagnosis.run import judged
from stethoscope.types import Status

CURVES = Curves("Loss", "Epoch", "Loss", (Line("seed 0", (1.0, 2.0), (0.7, float("nan")), "before"),))
FINDING = Finding(
    check_id="softmax-one-unit",
    fault=Fault.ACTIVATION,
    severity=Severity.CRITICAL,
    confidence=1.0,
    where="dense_3",
    message="<b>dense_3</b> applies softmax to one unit.",
    evidence=(
        Number("units", 1, threshold=2),
        CURVES,
        Bars("Ranges", "maximum", ("a", "b"), (1.0, 1e6), (Mark(10.0, "limit"),), log=True),
        Histogram("Values", "value", (0.0, 1.0, 2.0), (3, 4)),
        Table("Classes", ("class", "rows"), ((0, 10), ("b", None))),
        Symptom("loss-flat", "The loss does not fall."),
    ),
    fix=ReplaceActivation("dense_3", "sigmoid", was="softmax", layer_type="Dense", units=1),
    proof=Proof("helps", "accuracy 0.51 → 0.97", "accuracy", (0.5,), (0.97,), 0.47, 0.0, (0,), CURVES),
    source="a paper",
    title="Softmax over a single unit",
)
REPORT = Report(
    {"model": "m.keras", "data": "d.npz", "fit": {"epochs": 5}},
    (FINDING,),
    (Outcome("softmax-one-unit", Status.OK, (FINDING,)), Outcome("loss-flat", Status.SKIPPED, reason="No data.")),
    (StageReport("describe", "Reading the model", "done", wall_s=0.1),),
    Status.OK,
    created_s=1.0,
    wall_s=2.0,
    format_id="keras",
)


def test_a_report_survives_json():
    again = report_from_json(json.loads(json.dumps(report_to_json(REPORT), allow_nan=False)))
    assert report_to_json(again) == report_to_json(REPORT)
    assert again.findings[0].fix == FINDING.fix


def test_the_findings_have_the_keys_of_the_contract():
    value = report_to_json(REPORT)
    keys = {"check_id", "fault", "severity", "confidence", "where", "message", "evidence", "fix", "proof", "source"}
    assert keys <= set(value["findings"][0])
    assert value["findings"][0]["severity"] == "critical"
    assert {"check_id", "status", "reason"} <= set(value["outcomes"][0])


def test_the_page_escapes_what_comes_from_files_and_shows_fix_and_proof():
    page = report_files.as_html(REPORT)
    assert "<b>dense_3</b>" not in page and "&lt;b&gt;dense_3" in page
    assert "layers.Dense(1" in page and "accuracy 0.51 → 0.97" in page
    assert page.count("<svg") >= 3
    assert "http" not in page.replace("http://www.w3.org", "")


def test_sarif_names_rule_level_and_place():
    run = json.loads(report_files.as_sarif(REPORT))["runs"][0]
    assert run["results"][0]["level"] == "error"
    assert run["results"][0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "dense_3"
    assert run["tool"]["driver"]["rules"][0]["id"] == "softmax-one-unit"


def test_a_fix_that_does_not_help_demotes_its_finding():
    doubtful = Finding(Fault.LOSS, Severity.HIGH, 0.7, "loss", "m")
    assert judged(doubtful, Proof("helps", "")).severity is Severity.HIGH
    assert judged(doubtful, Proof("no_difference", "")).severity is Severity.MEDIUM
    assert judged(doubtful, Proof("worse", "")).severity is Severity.LOW
    assert judged(FINDING, Proof("no_difference", "")).severity is Severity.CRITICAL

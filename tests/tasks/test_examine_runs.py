"""A log judged by itself: whatever is in it, every check comes to an outcome."""

from __future__ import annotations

import json

import numpy as np

from stethoscope.checks.findings import Finding, Severity
from stethoscope.codec import decode, plain
from stethoscope.evidence.kinds import Evidence
from stethoscope.logs.series import RunLog, Series
from stethoscope.tasks import examine_runs as log_report
from stethoscope.tasks.examine_runs import LogReport, checks_of_logs, examine_runs
from stethoscope.types import Status
from tests.tables import each


def run(name, unit="epoch", parameters=None, **columns):
    series = {}
    for tag, listed in columns.items():
        values = np.asarray(listed, np.float64)
        series[tag] = Series(tag, np.arange(len(values)), np.full(len(values), np.nan), values)
    return RunLog(name, "test", unit, series, parameters=parameters or {})


FALLING = np.exp(-np.arange(20) / 4) + 0.1


def test_each_run_is_judged_and_the_finding_names_it():
    flat = np.full(20, 0.693)
    report = examine_runs([run("good", loss=FALLING), run("bad", loss=flat)])
    (finding,) = report.findings
    assert (finding.check_id, finding.run, finding.severity) == ("loss-flat", "bad", Severity.MEDIUM)
    assert [(mark.run, mark.tag) for mark in finding.marks] == [("bad", "loss")]
    assert report.examined == 2
    assert {one.status for one in report.outcomes} == {Status.OK}


def test_a_finding_of_a_log_keeps_its_run_and_marks_in_json():
    (finding,) = examine_runs([run("bad", loss=np.full(20, 0.693))]).findings
    written = json.loads(json.dumps(plain(finding), allow_nan=False))
    assert decode(Finding, written) == finding
    old = {key: value for key, value in written.items() if key not in ("run", "marks")}
    assert decode(Finding, old).marks == ()


def test_checks_of_a_log_need_nothing_else():
    alone, across = checks_of_logs()
    assert {"loss-flat", "loss-jump", "nonfinite-training"} <= {check.id for check in alone}
    assert {check.id for check in across} == {check.id for check in across if check.needs == {Evidence.RUNS}}
    assert "softmax-hidden" not in {check.id for check in alone}


def test_what_is_not_judged_is_said(monkeypatch):
    monkeypatch.setattr(log_report, "MAX_EXAMINED", 2)
    report = examine_runs([run(f"r{at}", loss=np.full(20, 0.693)) for at in range(5)])
    assert report.examined == 2
    assert {finding.run for finding in report.findings if finding.run} == {"r3", "r4"}
    assert "3 older of 5 runs" in report.left_out
    assert len(report.runs) == 5


def test_what_other_runs_say_of_one_is_the_cause_of_what_it_shows():
    broken = [*FALLING[:8], *[np.nan] * 12]
    runs = [run("calm", loss=FALLING, parameters={"lr": 0.1}), run("wild", loss=broken, parameters={"lr": 1.0})]
    finding, *_ = examine_runs(runs).findings
    assert (finding.check_id, finding.run) == ("learning-rate-runs", "wild")
    assert "nonfinite-training" not in [one.check_id for one in examine_runs(runs).findings]
    assert "nonfinite-training" in [item.check_id for item in finding.evidence if item.kind == "symptom"]


def test_a_log_without_loss_or_metric_is_listed_and_not_judged():
    report = examine_runs([run("a", memory=FALLING)])
    assert report.examined == 0
    assert report.outcomes[0].status == Status.SKIPPED
    assert report.runs[0].tags[0].tag == "memory"


VALUES = (
    lambda n, x: np.exp(-x / 5) + 0.1,
    lambda n, x: np.zeros(n),
    lambda n, x: np.full(n, np.nan),
    lambda n, x: np.random.default_rng(n).normal(size=n) * 1e300,
    lambda n, x: np.where(x % 3 == 1, np.nan, np.exp(-x / 9)),
    lambda n, x: np.where(x % 5 == 2, np.inf, 1.0),
    lambda n, x: -np.exp(-x / 5),
    lambda n, x: 2.0 ** np.minimum(x, 1020),
    lambda n, x: 1 - np.exp(-x / 5),
    lambda n, x: 5e-324 * x,
)


@each("points", [1, 3, 6, 20, 250])
@each("first", range(len(VALUES)))
def test_no_check_breaks_on_whatever_was_logged(points, first):
    x = np.arange(points)
    runs = []
    for second in range(len(VALUES)):
        columns = {"loss": VALUES[first](points, x), "val_loss": VALUES[second](points, x)}
        columns["accuracy"] = VALUES[second](max(1, points // 2), x[: max(1, points // 2)])
        columns["lr"] = VALUES[first](points, x)
        settings = {"batch_size": (8, "a", True, float("nan"), float("inf"))[second % 5]}
        runs.append(run(f"r{second}", ("epoch", "step")[second % 2], settings, **columns))
    with np.errstate(all="ignore"):
        report = examine_runs(runs)
    assert not [one.reason for one in report.outcomes if one.status is Status.FAILED]
    assert plain(decode(LogReport, json.loads(json.dumps(plain(report), allow_nan=False)))) == plain(report)

"""What runs show beside each other."""

from __future__ import annotations

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Fault, Severity
from stethoscope.checks.judging.examination import examine
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.evidence.training import LoggedRun, RunsEvidence, SharedPoints
from stethoscope.types import Status
from tests.checks.training_evidence import FALLING, SETTLED, log


def found(check_id, *runs):
    (outcome,) = examine(EvidenceSet(runs=RunsEvidence(runs)), [all_checks()[check_id]])
    assert outcome.status == Status.OK, outcome.reason
    return outcome.findings


def run(name, loss=SETTLED, shared=(), **parameters):
    return LoggedRun(name, parameters=parameters, curve=log(loss), shared=shared)


def test_equal_runs_are_named_together():
    copy = (SharedPoints("a", ("loss",), 30, whole=True),)
    again = (SharedPoints("b", ("loss",), 30, whole=True),)
    (finding,) = found("copied-runs", run("a"), run("b", shared=copy), run("c", shared=again), run("d"))
    assert finding.severity == Severity.MEDIUM
    assert finding.message.startswith("a, b, c")
    assert [mark.run for mark in finding.marks] == ["a", "b", "c"]


def test_a_setting_without_effect_is_named():
    copy = (SharedPoints("a", ("loss",), 30, whole=True),)
    (finding,) = found("copied-runs", run("a", dropout=0.1), run("b", shared=copy, dropout=0.5))
    assert "differ in dropout" in finding.message


def test_the_same_beginning_is_a_remark():
    begun = (SharedPoints("a", ("loss",), 12, whole=False),)
    (finding,) = found("copied-runs", run("a"), run("b", shared=begun))
    assert finding.severity == Severity.LOW
    assert not found("copied-runs", run("a"), run("b"))


def test_batches_that_learn_differently():
    little = tuple(1.0 - 0.01 * at for at in range(30))
    (finding,) = found("batch-size-runs", run("a", batch_size=32), run("b", little, batch_size=1024))
    assert (finding.fault, finding.fix.to_json()["params"]["batch_size"]) == (Fault.BATCH_SIZE, 32)
    assert "32 times as large" in finding.message
    assert found("batch-size-runs", run("bs=32/log.csv"), run("bs=1024/log.csv", little))
    broken = (*SETTLED[:20], float("nan"))
    (finding,) = found("batch-size-runs", run("a", batch_size=32), run("b", broken, batch_size=1))
    assert "batches of 1 break" in finding.message


def test_runs_that_differ_in_more_or_end_alike_are_not_compared():
    little = tuple(1.0 - 0.01 * at for at in range(30))
    assert not found("batch-size-runs", run("a", batch_size=32, lr=0.1), run("b", little, batch_size=1024, lr=1e-6))
    assert not found("batch-size-runs", run("a", batch_size=32), run("b", batch_size=64))
    assert not found("batch-size-runs", run("a", FALLING), run("b"))


def test_a_rate_breaks_a_run_only_where_it_lies_above_all_that_do_not():
    broken = (*SETTLED[:20], float("nan"))
    assert [one.run for one in found("learning-rate-runs", run("a", broken, lr=1.0), run("b", lr=0.1))] == ["a"]
    below = found("learning-rate-runs", run("a", broken, lr=0.01), run("b", lr=0.1))
    same = found("learning-rate-runs", run("a", broken, lr=0.1), run("b", lr=0.1), run("c", lr=0.01))
    other = found("learning-rate-runs", run("a", broken, lr=1.0, units=8), run("b", lr=0.1, units=16))
    assert not [one for one in (*below, *same, *other) if one.severity > Severity.LOW]


def test_rates_that_were_tried_are_set_beside_each_other():
    broken = (*SETTLED[:20], float("nan"))
    little = tuple(1.0 - 0.01 * at for at in range(30))
    runs = (run("a", broken, lr=1.0), run("b", lr=0.1), run("c", little, lr=0.001))
    high, finding = found("learning-rate-runs", *runs)
    assert (high.run, high.severity, high.fault) == ("a", Severity.CRITICAL, Fault.LEARNING_RATE)
    assert high.fix.to_json()["params"] | {"learning_rate": 0.1, "was": 1.0} == high.fix.to_json()["params"]
    assert (finding.severity, finding.fix.to_json()["params"]["learning_rate"]) == (Severity.LOW, 0.1)
    assert "1 breaks" in finding.message
    assert "0.001 ends at" in finding.message
    assert "tried: try" not in finding.message
    (finding,) = found("learning-rate-runs", run("x/lr=1e-3/log.csv", little), run("x/lr=0.1/log.csv"))
    assert "try 0.3" in finding.message

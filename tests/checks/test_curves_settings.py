"""Rate, epochs, batch size and optimizer: the change that helps is named, others are not."""

from __future__ import annotations

import math

import pytest

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Severity
from stethoscope.checks.judging.examination import examine
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.types import Status
from tests.checks.training_evidence import FALLING, SETTLED, run, training, trial
from tests.tables import each

SETTINGS = ("learning-rate-low", "learning-rate-high", "too-few-epochs", "batch-size", "optimizer-choice")


def verdicts(evidence):
    checks = [all_checks()[name] for name in SETTINGS]
    outcomes = examine(EvidenceSet(training=evidence), checks)
    assert all(outcome.status == Status.OK for outcome in outcomes), outcomes
    return {outcome.check_id: outcome.findings[0] for outcome in outcomes if outcome.findings}


def named(evidence):
    return {name for name, finding in verdicts(evidence).items() if finding.severity >= Severity.MEDIUM}


def test_the_rate_whose_increase_helps_is_too_small():
    finding = verdicts(training(trial("rate-up", 0.8, 1e-2), learning_rate=1e-5))["learning-rate-low"]
    assert finding.severity == Severity.MEDIUM
    assert "1e-05" in finding.message
    assert "0.80" in finding.message
    assert finding.fix.to_json()["params"]["learning_rate"] == 1e-2


def test_epochs_are_named_when_more_of_them_help():
    evidence = training(trial("longer", 0.8, 120))
    assert named(evidence) == {"too-few-epochs"}
    assert verdicts(evidence)["too-few-epochs"].fix.to_json()["params"] == {"epochs": 120, "was": 30}


def test_epochs_were_enough_where_another_activation_gains_more_in_as_many():
    longer = trial("longer", 0.8, 120)
    assert named(training(longer, trial("relu-hidden", 0.85))) == set()
    assert named(training(longer, trial("relu-hidden", 0.7))) == {"too-few-epochs"}
    assert named(training(trial("rate-up", 0.8, 1e-2), trial("relu-hidden", 0.85))) == {"learning-rate-low"}


@pytest.mark.parametrize(
    "changes",
    [{"base": run(0.2, stopped="time")}, {"epochs_asked": None}],
    ids=["time cut it short", "nobody said how many"],
)
def test_epochs_are_not_named_when_the_run_cannot_tell(changes):
    assert named(training(trial("longer", 0.8, 120), **changes)) == set()


def test_epochs_are_not_named_when_the_loss_had_settled():
    luck = trial("longer", 0.8, 120, runs=(run(0.8, SETTLED + (SETTLED[-1],) * 30),))
    assert named(training(luck, base=run(0.2, SETTLED))) == set()


def test_two_that_help_alike_are_both_named_and_a_lesser_one_is_a_remark():
    both = training(trial("rate-up", 0.8, 1e-2), trial("longer", 0.75, 120))
    assert named(both) == {"learning-rate-low", "too-few-epochs"}
    lesser = training(trial("rate-up", 0.8, 1e-2), trial("longer", 0.5, 120))
    assert named(lesser) == {"learning-rate-low"}
    assert verdicts(lesser)["too-few-epochs"].severity == Severity.LOW


@each(
    ("base", "after"),
    [(0.92, 0.99), (0.8, 0.88), (0.2, 0.4), (0.75, 0.8)],
    ids=["good already", "a little more", "too little of the rest", "hardly"],
)
def test_a_program_that_could_gain_a_little_is_left_alone(base, after):
    assert verdicts(training(trial("longer", after, 99), trial("rate-up", after, 1e-2), base=run(base))) == {}


def test_scaling_that_helps_as_much_takes_the_blame():
    found = verdicts(training(trial("rate-down", 0.8, 1e-4), trial("scale-inputs", 0.8)))
    assert found["learning-rate-high"].severity == Severity.LOW
    assert named(training(trial("rate-down", 0.8, 0.1), trial("scale-inputs", 0.8), learning_rate=1.0)) == {
        "learning-rate-high"
    }


def test_a_rate_that_makes_the_loss_nan_is_critical_when_a_smaller_one_works():
    broken = run(math.nan, (1.0, 50.0, math.nan), stopped="non-finite", nonfinite_step=30)
    finding = verdicts(training(trial("rate-down-100", 0.9, 0.03), base=broken, learning_rate=3.0, optimizer="SGD"))[
        "learning-rate-high"
    ]
    assert finding.severity == Severity.CRITICAL
    assert "step 30" in finding.message


def test_a_gain_on_training_rows_alone_is_learning_by_heart():
    base = run(0.1, val_skill=0.1)
    assert named(training(trial("longer", 0.9, 120, val_skill=0.12), base=base)) == set()
    assert named(training(trial("longer", 0.9, 120, val_skill=0.8), base=base)) == {"too-few-epochs"}


def test_high_needs_rows_that_were_not_trained_on():
    memorised = verdicts(training(trial("longer", 0.9, 120), base=run(0.0)))["too-few-epochs"]
    shown = verdicts(training(trial("longer", 0.9, 120, val_skill=0.9), base=run(0.0, val_skill=0.0)))["too-few-epochs"]
    assert (memorised.severity, shown.severity) == (Severity.MEDIUM, Severity.HIGH)


def test_the_optimizer_is_named_only_when_no_rate_of_its_own_does():
    assert named(training(trial("adam", 0.9, 1e-3), optimizer="Adadelta")) == {"optimizer-choice"}
    assert named(training(trial("adam", 0.9, 1e-3), trial("rate-up", 0.88, 0.1), optimizer="SGD")) == {
        "learning-rate-low"
    }


def test_a_rate_far_below_the_default_is_blamed_before_the_optimizer():
    found = verdicts(training(trial("adam", 0.9, 1e-3), optimizer="SGD", learning_rate=1e-6))
    assert set(found) == {"learning-rate-low"}
    assert found["learning-rate-low"].fix.to_json()["params"]["learning_rate"] == 0.01


def test_the_batch_is_named_only_when_it_explains_more():
    huge = {"batch_size": 2000, "train_rows": 2500, "steps_per_epoch": 2}
    assert named(training(trial("batch-32", 0.9, 32), trial("longer", 0.4, 90), **huge)) == {"batch-size"}
    both = training(trial("batch-32", 0.9, 32), trial("longer", 0.85, 90), **huge)
    assert named(both) == {"batch-size", "too-few-epochs"}
    ordinary = {"batch_size": 100, "train_rows": 500, "steps_per_epoch": 5}
    assert named(training(trial("batch-32", 0.9, 32), trial("longer", 0.85, 90), **ordinary)) == {"too-few-epochs"}


def test_without_the_short_run_they_are_skipped():
    outcomes = examine(EvidenceSet(), [all_checks()[name] for name in SETTINGS])
    assert {outcome.status for outcome in outcomes} == {Status.SKIPPED}


def test_a_run_that_crashed_says_nothing():
    assert verdicts(training(trial("longer", 0.9, 9), base=run(0.1, FALLING), crashed="shapes")) == {}

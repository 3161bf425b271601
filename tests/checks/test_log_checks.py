"""What a log alone shows: each shape named, and its sound neighbours left alone."""

from __future__ import annotations

import math
import random

import pytest

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Fault, Severity
from stethoscope.checks.judging.examination import examine
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.logs.curves import CurveEvidence, Restart, Signal
from stethoscope.types import Status
from tests.checks.training_evidence import FALLING, FLAT, SETTLED, log

RISING = tuple(0.97 - 0.47 * math.exp(-at / 4) for at in range(30))
TAGS = {"loss": "train/loss", "val_loss": "val/loss"}


def found(check_id, curve):
    (outcome,) = examine(EvidenceSet(logs=curve), [all_checks()[check_id]])
    assert outcome.status == Status.OK, outcome.reason
    return outcome.findings


def batches(loss, **more):
    steps = tuple(float(at) for at in range(len(loss)))
    return CurveEvidence("run", "log", "step", steps=steps, loss=tuple(loss), tags=TAGS, **more)


def noisy(values, size, seed=3):
    generator = random.Random(seed)
    return tuple(value * math.exp(generator.gauss(0, size)) for value in values)


def test_nan_is_named_with_its_step_and_what_grew_before():
    steps = tuple(float(at) for at in range(50))
    norms = Signal(steps, (*(1.0,) * 45, 30.0, 900.0, 1e6, math.inf, math.nan))
    curve = batches((*(0.5,) * 47, 40.0, math.nan, math.nan), signals={"grad_norm/dense": norms})
    (finding,) = found("nonfinite-training", curve)
    assert (finding.severity, finding.fault) == (Severity.CRITICAL, Fault.LEARNING_RATE)
    assert "from step 48 on" in finding.message
    assert "grad_norm/dense from 1 to 1e+06" in finding.message
    assert [(mark.tag, mark.at) for mark in finding.marks] == [("train/loss", 48.0)]


def test_nan_out_of_nothing_is_not_blamed_on_the_rate():
    (finding,) = found("nonfinite-training", log((*SETTLED[:10], math.nan, math.nan)))
    assert (finding.fault, "Nothing grew" in finding.message) == (Fault.NUMERICAL, True)
    (finding,) = found("nonfinite-training", log((math.nan,) * 8))
    assert "never was one" in finding.message


def test_one_bad_batch_and_bad_validation_rows_are_less_than_the_end_of_a_training():
    (finding,) = found("nonfinite-training", log((*SETTLED[:10], math.nan, *SETTLED[10:])))
    assert (finding.severity, finding.fault) == (Severity.HIGH, Fault.DATA)
    (finding,) = found("nonfinite-training", log(SETTLED, val_loss=(math.nan,) * 30))
    assert (finding.severity, "validation rows" in finding.message) == (Severity.HIGH, True)


def test_flat_with_its_score_at_chance():
    (finding,) = found("loss-flat", log((2.6, *(2.31,) * 14), metric=(0.1,) * 15, metric_name="accuracy"))
    assert (finding.severity, finding.marks) == (Severity.MEDIUM, ())
    assert not found("loss-flat", log((0.31,) * 15, metric=(0.97,) * 15, metric_name="accuracy"))
    assert found("loss-flat", batches(noisy((2.3,) * 600, 0.05)))


def test_a_rate_too_small_is_told_by_what_was_logged():
    slow = tuple(1.5 - 0.01 * at for at in range(20))
    (finding,) = found("learning-rate-low", log(slow, learning_rate=(1e-6,) * 20))
    assert finding.fix.to_json()["params"]["learning_rate"] == 1e-3
    assert not found("learning-rate-low", log(slow, learning_rate=(1e-3,) * 20))
    (finding,) = found("loss-slow", log(slow, learning_rate=(1e-4,) * 20))
    assert finding.fix.to_json()["params"] == {"learning_rate": 1e-3, "was": 1e-4, "optimizer": ""}


def test_thrown_off_by_the_first_updates_and_stuck():
    stuck = log((4.0, *(1.39,) * 19), metric=(0.25,) * 20, metric_name="accuracy", learning_rate=(0.3,) * 20)
    (finding,) = found("learning-rate-high", stuck)
    assert finding.fix.to_json()["params"]["learning_rate"] == 0.003
    assert not found("learning-rate-high", log(FLAT, metric=(0.5,) * 30, metric_name="accuracy"))


def test_validation_that_never_follows_is_not_learning_by_heart():
    apart = log(
        SETTLED,
        metric=RISING,
        val_metric=(0.5,) * 30,
        metric_name="accuracy",
        val_loss=tuple(1 + 0.05 * at for at in range(30)),
    )
    (finding,) = found("validation-gap", apart)
    assert (finding.severity, finding.fault) == (Severity.MEDIUM, Fault.PREPROCESSING)
    by_heart = log(
        SETTLED,
        metric=RISING,
        val_metric=tuple(min(0.75, value) for value in RISING),
        metric_name="accuracy",
        val_loss=tuple(0.6 + 0.02 * abs(at - 6) for at in range(30)),
    )
    assert not found("validation-gap", by_heart)
    assert found("overfitting", by_heart)


def test_normalisation_that_lags_behind_for_some_epochs_is_no_gap():
    held = tuple(0.2 + 2 * math.exp(-at / 3) for at in range(30))
    scores = tuple(0.95 - 0.4 * math.exp(-at / 3) for at in range(30))
    sound = log(SETTLED, metric=RISING, val_metric=scores, metric_name="accuracy", val_loss=held)
    assert not found("validation-gap", sound)


def test_better_validation_needs_more_than_a_little_dropout():
    held = tuple(0.12 + 0.4 * math.exp(-at / 4) for at in range(30))
    poor = tuple(0.78 - 0.3 * math.exp(-at / 4) for at in range(30))
    (finding,) = found("validation-better", log(SETTLED, metric=poor, val_metric=RISING, metric_name="accuracy"))
    assert finding.severity == Severity.MEDIUM
    assert found("validation-better", log(SETTLED, val_loss=held))
    near = tuple(value - 0.02 for value in RISING)
    assert not found("validation-better", log(SETTLED, metric=near, val_metric=RISING, metric_name="accuracy"))


def test_a_schedule_that_ends_before_the_training():
    rates = tuple(0.01 * 0.3**at for at in range(30))
    early = tuple(0.6 + 0.4 * math.exp(-at) for at in range(30))
    (finding,) = found("loss-plateau", log(early, learning_rate=rates))
    assert (finding.severity, finding.fault) == (Severity.MEDIUM, Fault.LEARNING_RATE)
    cosine = tuple(0.005 * (1 + math.cos(math.pi * at / 29)) for at in range(30))
    slowly = tuple(value - 0.001 * at for at, value in enumerate(early))
    assert not found("loss-plateau", log(slowly, learning_rate=cosine))
    (finding,) = found("loss-plateau", log(early))
    assert "no weight moves" in finding.message
    waiting = (*(0.69,) * 12, *(0.69 * math.exp(-at / 3) for at in range(12)))
    (finding,) = found("loss-plateau", log(waiting))
    assert finding.severity == Severity.LOW


def test_a_jump_is_put_down_to_what_changed_with_it():
    jumped = (*SETTLED[:12], *(value + 0.8 for value in SETTLED[:12]))
    (finding,) = found("loss-jump", log(jumped, learning_rate=(*(1e-3,) * 12, *(0.1,) * 12)))
    assert (finding.fault, finding.fix.to_json()["params"]["learning_rate"]) == (Fault.LEARNING_RATE, 1e-3)
    (finding,) = found("loss-jump", log(jumped))
    assert (finding.fault, "epoch 12" in finding.message) == (Fault.DATA, True)
    assert not found("loss-jump", log(FALLING))


def test_rows_in_order_are_seen_in_single_batches():
    saw = [(0.1 + 2 * math.exp(-(at % 9) / 3)) * math.exp(-at / 900) for at in range(720)]
    (finding,) = found("loss-jump", batches(noisy(saw, 0.1)))
    assert finding.fix.to_json()["kind"] == "set-shuffle"
    assert "sorted by class" in finding.message
    assert not found("loss-jump", batches(noisy([math.exp(-at / 300) for at in range(720)], 0.5)))


@pytest.mark.parametrize(("after", "severity"), [(1.0, Severity.MEDIUM), (0.45, Severity.LOW)])
def test_a_restart_matters_when_what_was_learned_is_lost(after, severity):
    curve = log(SETTLED, restarts=(Restart(8.0, 15.0, 0.42, after),))
    (finding,) = found("restarted-run", curve)
    assert finding.severity == severity
    assert not found("restarted-run", log(SETTLED))


def test_missing_steps_and_long_silence():
    steps = (*range(10), *range(20, 40))
    holes = CurveEvidence("run", "log", "epoch", tuple(map(float, steps)), SETTLED, tags=TAGS)
    (finding,) = found("stalled-writer", holes)
    assert [(mark.at, mark.until) for mark in finding.marks] == [(9.0, 20.0)]
    pause = tuple(at * 2.0 + (600 if at > 12 else 0) for at in range(30))
    (finding,) = found("stalled-writer", log(SETTLED, wall_time=pause))
    assert "10 minutes" in finding.message
    lives = log(SETTLED, wall_time=tuple(map(float, range(30))), silent_s=7200.0)
    (finding,) = found("stalled-writer", lives)
    assert "2.0 hours" in finding.message
    assert not found("stalled-writer", log(SETTLED, wall_time=tuple(map(float, range(30))), silent_s=20.0))
    (finding,) = found("stalled-writer", log(SETTLED[:12], val_loss=SETTLED, val_steps=tuple(map(float, range(30)))))
    assert "at epoch 11" in finding.message
    uneven = tuple(at * 2.0 + (at % 3) for at in range(30))
    assert not found("stalled-writer", log(SETTLED, wall_time=uneven))


def test_swings_that_last_and_swings_that_calm_down():
    restless = tuple(0.3 + 0.25 * (at % 4 == 1) + 0.2 * (at % 5 == 2) for at in range(30))
    (finding,) = found("loss-oscillating", log((1.5, *restless)))
    assert "up and down" in finding.message
    calm = (1.5, *restless[:8], *(0.3 * math.exp(-at / 4) for at in range(20)))
    assert not found("loss-oscillating", log(calm))
    assert not found("loss-oscillating", batches(noisy([0.2 + math.exp(-at / 100) for at in range(600)], 0.4)))


def test_a_network_that_settles_far_from_good():
    settled = tuple(1.3 + 0.4 * math.exp(-at / 3) for at in range(30))
    poor = tuple(0.4 - 0.2 * math.exp(-at / 3) for at in range(30))
    (finding,) = found("underfitting", log(settled, metric=poor, val_metric=poor, metric_name="accuracy"))
    assert finding.severity == Severity.MEDIUM
    assert not found("underfitting", log(SETTLED, metric=RISING, val_metric=RISING, metric_name="accuracy"))
    little = tuple(0.85 + 0.15 * math.exp(-at / 3) for at in range(30))
    (finding,) = found("underfitting", log(little, val_loss=little))
    assert "fallen by" in finding.message
    assert not found("underfitting", log(SETTLED, val_loss=SETTLED))
    by_heart = log(settled, metric=RISING, val_metric=poor, metric_name="accuracy")
    assert not found("underfitting", by_heart)


def test_a_loss_that_turns_and_rises_for_good():
    turned = tuple(0.3 + 0.01 * (at - 8) ** 2 / 3 for at in range(30))
    (finding,) = found("loss-diverging", log(turned, learning_rate=tuple(0.01 * 1.3**at for at in range(30))))
    assert "learning rate grows" in finding.message
    assert finding.marks == ()
    assert not found("loss-diverging", log(noisy(SETTLED, 0.1)))

"""Symptoms in gradients, weights and curves."""

from __future__ import annotations

import dataclasses
import math

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Fault, Severity
from stethoscope.checks.fixes.layer_settings import SetInitialiser, Unfreeze
from stethoscope.checks.judging.examination import examine, ranked
from stethoscope.data.study.profiles import ArrayProfile, DataEvidence
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.evidence.training import GradientError, Scores
from stethoscope.evidence.trials import DEAD, FROZEN, SATURATED, BlockedLayer, OverfitEvidence, gravest_first
from stethoscope.types import Status
from tests.checks.training_evidence import FALLING, FLAT, SETTLED, layer, log, run, training, trial
from tests.tables import each


def found(check_id, **evidence):
    (outcome,) = examine(EvidenceSet(**evidence), [all_checks()[check_id]])
    assert outcome.status == Status.OK, outcome.reason
    return outcome.findings


def overfitted(verdict, *blocked):
    return OverfitEvidence(
        samples=8,
        steps=300,
        loss=(1.0, 0.9),
        loss_steps=(0, 300),
        initial_loss=1.0,
        final_loss=0.9,
        floor=0.0,
        fitted_fraction=0.25,
        verdict=verdict,
        blocked=blocked,
        own_learning_rate=0.01,
    )


SIGMOIDS = (
    layer("first", 1e-6, "sigmoid"),
    layer("second", 1e-4, "sigmoid"),
    layer("third", 1e-3, "sigmoid"),
    layer("last", 1e-2, "softmax"),
)


def test_vanishing_is_a_cause_when_relu_helps():
    (finding,) = found("vanishing-gradient", training=training(trial("relu-hidden", 0.9), layers=SIGMOIDS))
    assert (finding.severity, finding.fault, finding.where) == (Severity.MEDIUM, Fault.ACTIVATION, "first")
    assert "10,000 times smaller" in finding.message
    assert [one["params"]["layer"] for one in finding.fix.to_json()["params"]["fixes"]] == [
        "first",
        "second",
        "third",
    ] or ([one.layer for one in finding.fix.fixes] == ["first", "second", "third"])


def test_vanishing_is_a_remark_when_relu_was_tried_in_vain():
    useless = dataclasses.replace(trial("relu-hidden", 0.2), helps=False)
    (finding,) = found("vanishing-gradient", training=training(useless, layers=SIGMOIDS))
    assert finding.severity == Severity.LOW


def test_small_gradients_of_a_network_that_has_learned_are_no_fault():
    assert not found("vanishing-gradient", training=training(layers=SIGMOIDS, base=run(0.97)))
    assert not found("vanishing-gradient", training=training(layers=tuple(layer(f"l{at}", 1e-2) for at in range(5))))


def test_gradients_that_grow_while_the_loss_runs_away():
    away = tuple(2.0**at for at in range(12))
    growing = layer("first", (1.0, 1.1, 1.2, 5.0, 200.0, 4000.0))
    (finding,) = found("exploding-gradient", training=training(layers=(growing,), base=run(0.0, away)))
    assert finding.fault == Fault.OPTIMIZER
    calm = trial("rate-down", 0.05, 1e-4)
    (finding,) = found("exploding-gradient", training=training(calm, layers=(growing,), base=run(0.0, away)))
    assert finding.fault == Fault.LEARNING_RATE
    assert not found("exploding-gradient", training=training(layers=(growing,), base=run(0.5, SETTLED)))


def test_updates_too_small_to_change_a_weight():
    still = tuple(layer(name, 0.1, update_ratio=(1e-12,) * 6) for name in ("hidden", "last"))
    (finding,) = found("update-ratio", training=training(layers=still, base=run(0.0, FLAT), learning_rate=1e-12))
    assert (finding.severity, finding.fault) == (Severity.HIGH, Fault.LEARNING_RATE)
    blocked = tuple(layer(name, 0.0, update_ratio=(0.0,) * 6) for name in ("hidden", "last"))
    assert not found("update-ratio", training=training(layers=blocked, base=run(0.0, FLAT)))
    assert not found("update-ratio", training=training(layers=(layer("hidden", 0.1),)))


def test_a_trainable_layer_that_does_not_move():
    side = layer("side", 0.0, relative_change=0.0)
    (finding,) = found("unchanged-weights", training=training(layers=(side, layer("last", 0.1))))
    assert (finding.where, finding.fault) == ("side", Fault.ARCHITECTURE)
    # What keeps the gradient away lies right behind the last of several; what is dead stands before what follows from it.
    before = layer("before", 0.0, relative_change=0.0)
    (finding,) = found("unchanged-weights", training=training(layers=(before, side, layer("last", 0.1))))
    assert finding.where == "side"
    dead = [layer(name, 0.0, relative_change=0.0, dead_fraction=(1.0,)) for name in ("one", "two")]
    (finding,) = found("unchanged-weights", training=training(layers=(*dead, layer("last", 0.1))))
    assert (finding.where, finding.fault) == ("one", Fault.INITIALISATION)
    frozen = layer("side", 0.0, relative_change=0.0, trainable=False)
    assert not found("unchanged-weights", training=training(layers=(frozen, layer("last", 0.1))))


def test_nan_names_its_step_its_layer_and_what_came_before():
    broken = run(math.nan, (1.0, 1.0, math.nan), stopped="non-finite", nonfinite_step=21)
    layers = (layer("first", 0.1, nonfinite_step=22), layer("second", 0.1, nonfinite_step=21))
    (finding,) = found("nonfinite-training", training=training(layers=layers, base=broken))
    assert (finding.severity, finding.where, finding.fault) == (Severity.CRITICAL, "second", Fault.NUMERICAL)
    assert "step 21" in finding.message
    data = DataEvidence("data", inputs={"x": ArrayProfile("x", (9, 2), "float32", nan=3)})
    (finding,) = found("nonfinite-training", training=training(base=broken), data=data)
    assert (finding.fault, "3 values of x" in finding.message) == (Fault.DATA, True)
    assert not found("nonfinite-training", training=training())


def test_a_rate_that_explains_nan_takes_it_as_evidence():
    broken = run(math.nan, (1.0, 90.0, math.nan), stopped="non-finite", nonfinite_step=21)
    evidence = EvidenceSet(training=training(trial("rate-down", 0.9, 1e-2), base=broken, learning_rate=0.1))
    outcomes = examine(evidence, [all_checks()[name] for name in ("nonfinite-training", "learning-rate-high")])
    (only,) = ranked([finding for outcome in outcomes for finding in outcome.findings])
    assert only.check_id == "learning-rate-high"
    assert only.evidence[-1].check_id == "nonfinite-training"


def test_a_flat_loss_says_what_the_overfit_test_saw():
    flat = training(base=run(0.0, FLAT))
    assert found("loss-flat", training=flat)[0].severity == Severity.MEDIUM
    (finding,) = found(
        "loss-flat", training=flat, overfit=overfitted("cannot", BlockedLayer("hidden", "all units are dead"))
    )
    assert (finding.severity, finding.fault) == (Severity.HIGH, Fault.INITIALISATION)
    (finding,) = found("loss-flat", training=flat, overfit=overfitted("fits"))
    assert (finding.severity, finding.fault) == (Severity.LOW, Fault.DATA)
    assert not found("loss-flat", training=training(base=run(0.95, FLAT)))
    assert not found("loss-flat", training=training())
    assert found("loss-flat", logs=log(FLAT))


@each("check_id", ["loss-flat", "loss-zero", "loss-slow", "loss-diverging", "loss-oscillating", "overfitting"])
def test_curve_checks_need_a_log_or_a_run(check_id):
    (outcome,) = examine(EvidenceSet(), [all_checks()[check_id]])
    assert outcome.status == Status.SKIPPED
    assert not found(check_id, logs=log(SETTLED))


def test_a_growing_loss():
    away = tuple(2.0**at for at in range(12))
    (exploding,) = found("loss-diverging", logs=log(away))
    assert (exploding.severity, exploding.title) == (Severity.HIGH, "The loss explodes")
    assert found("loss-diverging", logs=log(tuple(1 + 0.2 * at for at in range(12))))[0].severity == Severity.MEDIUM
    assert found("loss-diverging", logs=log((1.0, 2.0, 5.0, 9.0, math.nan)))[0].severity == Severity.HIGH
    assert found("loss-diverging", training=training(base=run(0.0, away)))[0].severity == Severity.HIGH
    assert not found("loss-diverging", training=training())


def test_a_swinging_loss():
    waves = tuple(1 + 0.6 * (-1) ** at for at in range(20))
    (finding,) = found("loss-oscillating", logs=log(waves))
    assert finding.severity == Severity.MEDIUM
    assert not found("loss-oscillating", logs=log(FALLING))
    assert not found("loss-oscillating", training=training(base=run(0.95, waves)))


def test_zero_loss_with_wrong_predictions():
    zeros = (0.0,) * 5
    (finding,) = found("loss-zero", logs=log(zeros, metric=(0.5,) * 5, metric_name="accuracy"))
    assert finding.fault == Fault.LABELS
    (finding,) = found("loss-zero", logs=log(zeros, metric=(1.0,) * 5, metric_name="accuracy"))
    assert (finding.severity, "nothing to learn" in finding.message) == (Severity.MEDIUM, True)
    assert not found("loss-zero", logs=log((1.0, 0.3, *zeros), metric=(0.6, 0.9, *(1.0,) * 5), metric_name="accuracy"))
    base = dataclasses.replace(run(0.0, zeros), final=Scores(0.0, 0.5, 0.0))
    assert found("loss-zero", training=training(base=base))


def test_a_slow_loss():
    slow = tuple(1 - 0.004 * at for at in range(30))
    assert found("loss-slow", logs=log(slow))[0].severity == Severity.MEDIUM
    assert not found("loss-slow", logs=log(FALLING))
    assert found("loss-slow", training=training(base=run(0.1, slow)))
    assert not found("loss-slow", training=training(base=run(0.1, slow[:3])))


def test_overtraining_and_overfitting():
    held = tuple(0.5 + (at - 6) ** 2 / 60 for at in range(30))
    turned = log(FALLING, val_loss=held)
    (finding,) = found("overtraining", logs=turned)
    assert (finding.severity, finding.fault) == (Severity.MEDIUM, Fault.EPOCHS)
    assert "epoch 6" in finding.message
    assert not found("overtraining", logs=log(FALLING, val_loss=SETTLED))
    apart = log(SETTLED, metric=(0.99,) * 30, val_metric=(0.6,) * 30, metric_name="accuracy")
    assert found("overfitting", logs=apart)[0].fault == Fault.REGULARISATION
    together = log(SETTLED, metric=(0.99,) * 30, val_metric=(0.95,) * 30, metric_name="accuracy")
    assert not found("overfitting", logs=together)


def test_a_network_too_small():
    settled = run(0.1, SETTLED)
    (finding,) = found("underfitting", training=training(trial("wider", 0.95), base=settled))
    assert (finding.fault, finding.severity) == (Fault.ARCHITECTURE, Severity.MEDIUM)
    assert not found("underfitting", training=training(trial("wider", 0.9), trial("longer", 0.9), base=settled))
    assert not found("underfitting", training=training(trial("longer", 0.9), base=settled))


def test_a_few_rows_that_cannot_be_learned():
    (finding,) = found("fit-small-batch", overfit=overfitted("cannot", BlockedLayer("hidden", "all units are dead")))
    assert (finding.severity, finding.where) == (Severity.HIGH, "hidden")
    assert found("fit-small-batch", overfit=overfitted("partly"))[0].severity == Severity.LOW
    assert found("fit-small-batch", overfit=overfitted("diverges"))[0].fault == Fault.LEARNING_RATE
    assert not found("fit-small-batch", overfit=overfitted("fits"))


def test_a_dead_layer_is_named_and_mended_before_a_frozen_one():
    blocked = gravest_first(
        (BlockedLayer("first", FROZEN), BlockedLayer("second", DEAD), BlockedLayer("last", SATURATED))
    )
    overfit = dataclasses.replace(
        overfitted("cannot", *blocked), reason=f"0 of 8 are right. {blocked[0].path}: {DEAD}."
    )
    (finding,) = found("fit-small-batch", overfit=overfit)
    assert (finding.where, finding.fault) == ("second", Fault.INITIALISATION)
    assert isinstance(finding.fix, SetInitialiser) and finding.fix.layers == ("second",)
    flat = training(base=run(0.0, FLAT))
    (finding,) = found("loss-flat", training=flat, overfit=overfit)
    assert f"second ({DEAD})" in finding.message
    assert finding.fault == Fault.INITIALISATION


def test_a_frozen_layer_is_named_when_nothing_graver_blocks():
    (finding,) = found("fit-small-batch", overfit=overfitted("cannot", BlockedLayer("base", FROZEN)))
    assert finding.where == "base"
    assert isinstance(finding.fix, Unfreeze)


def test_vanishing_is_named_where_the_gradient_is_smallest():
    linear_first = (layer("entry", 1e-4, ""), layer("second", 1e-7, "sigmoid"), *SIGMOIDS[2:])
    (finding,) = found("vanishing-gradient", training=training(trial("relu-hidden", 0.9), layers=linear_first))
    assert finding.where == "second"
    assert finding.message.startswith("second gets gradients")


def test_a_gradient_that_is_not_the_slope():
    wrong = training(gradient_errors=(GradientError("hidden", 0.0, 0.4, 1.0), GradientError("last", 0.2, 0.2, 0.01)))
    (finding,) = found("numerical-gradient", training=wrong)
    assert (finding.where, finding.fault) == ("hidden", Fault.NUMERICAL)
    assert not found("numerical-gradient", training=training())

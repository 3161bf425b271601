"""What runs upon a trend: an even fall cut off, swings that return, validation ahead of training, and chance that is none of it."""

from __future__ import annotations

import math
from dataclasses import replace

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Fault, Severity
from stethoscope.checks.judging.examination import examine
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.logs.curves import Restart
from tests.checks.architectures import points, tensor, weights
from tests.checks.test_log_checks import batches, found, noisy
from tests.checks.training_evidence import log
from tests.tables import each

EVEN = tuple(0.74 * math.exp(-0.02 * at) for at in range(30))
HELD = tuple(value + 0.02 for value in EVEN)
GOOD = tuple(0.3 + 1.5 * math.exp(-at / 4) for at in range(30))


def test_a_training_that_ends_in_the_middle_of_an_even_fall():
    (finding,) = found("loss-slow", log(EVEN, val_loss=HELD, learning_rate=(1e-4,) * 30))
    assert (finding.severity, finding.fault) == (Severity.MEDIUM, Fault.EPOCHS)
    assert "hardly slowed" in finding.message
    assert finding.fix.to_json()["params"]["learning_rate"] == 3e-4
    assert found("loss-slow", log(EVEN))


@each(
    "curve",
    [
        log(GOOD, val_loss=GOOD),
        log(tuple(1.2 * math.exp(-0.06 * at) for at in range(30))),
        log(EVEN, val_loss=tuple(0.5 + 0.2 * math.exp(-at / 4) for at in range(30))),
        log(EVEN, metric=tuple(0.5 + 0.45 * at / 30 for at in range(30)), metric_name="accuracy"),
        log(EVEN, learning_rate=tuple(1e-4 * (at + 1) for at in range(30))),
        log(noisy(EVEN, 0.1)),
    ],
    ids=["settled", "nearly done", "validation has settled", "scores well", "warms up", "noisy"],
)
def test_what_has_slowed_or_is_nearly_done_is_no_slow_training(curve):
    assert not found("loss-slow", curve)


def said(check_id, evidence):
    (outcome,) = examine(evidence, [all_checks()[check_id]])
    return outcome.findings


def _zigzag(height):
    return tuple(math.exp(-at / 9) * (1 + height * (at % 3 == 1)) for at in range(36))


def test_swings_upon_a_falling_trend_are_named_where_validation_swings_too():
    (finding,) = found("loss-oscillating", log(_zigzag(0.6), val_loss=_zigzag(0.6)))
    assert "up and down" in finding.message
    assert not found("loss-oscillating", log(_zigzag(0.6), val_loss=_zigzag(0.0)))
    assert not found("loss-oscillating", log(_zigzag(0.1), val_loss=_zigzag(0.1)))
    calm = (*_zigzag(0.6)[:12], *(0.25 * math.exp(-at / 9) for at in range(24)))
    assert not found("loss-oscillating", log(calm, val_loss=calm))


@each("count", [24, 60, 150])
@each("seed", range(6))
def test_single_batches_that_differ_by_chance_do_not_swing_and_do_not_jump(count, seed):
    curve = batches(noisy([0.3 + 2 * math.exp(-6 * at / count) for at in range(count)], 0.35, seed))
    assert not found("loss-oscillating", curve)
    assert not found("loss-jump", curve)


def test_slow_waves_of_single_batches_are_more_than_chance():
    waves = noisy([1 + 0.6 * math.sin(at / 6) for at in range(150)], 0.05)
    assert found("loss-oscillating", batches(waves))
    named = replace(batches(_zigzag(0.6)), tags={"loss": "train/loss_epoch"})
    assert found("loss-oscillating", named)


def test_validation_that_leaps_for_an_epoch_is_no_jump_and_one_that_stays_is():
    leaps = (*GOOD[:8], 2.9, 1.2, *GOOD[10:])
    stays = (*GOOD[:8], *(value + 2 for value in GOOD[8:]))
    assert not found("loss-jump", log(GOOD, val_loss=leaps))
    assert found("loss-jump", log(GOOD, val_loss=stays))


def test_a_log_of_nan_beside_a_sound_model_says_where_it_comes_from():
    broken = log((*GOOD[:20], math.nan, math.nan))
    model = EvidenceSet(architecture=points(), logs=broken)
    (finding,) = said("nonfinite-training", model)
    assert finding.severity == Severity.CRITICAL
    assert finding.message.startswith("In the log, ")
    assert "log.csv: the loss is NaN" in finding.message and "epoch 20" in finding.message
    (finding,) = said("nonfinite-training", replace(model, weights=weights(tensor("kind"))))
    assert finding.severity == Severity.HIGH
    assert "itself are numbers" in finding.message


def test_validation_is_clearly_better_where_score_and_loss_agree():
    train, held = (0.9,) * 12, (0.99,) * 12
    loss = (0.9, *(0.27,) * 11)
    (finding,) = found(
        "validation-better", log(loss, val_loss=(0.06,) * 12, metric=train, val_metric=held, metric_name="accuracy")
    )
    assert finding.severity == Severity.MEDIUM
    (finding,) = found(
        "validation-better", log(loss, val_loss=(0.2,) * 12, metric=train, val_metric=held, metric_name="accuracy")
    )
    assert finding.severity == Severity.LOW


def _long(size: float, seed: int) -> tuple[float, ...]:
    """Losses of 1,200 steps that begin anew, at 2.0, at step 500; each scattered by a share of itself."""
    falls = [0.2 + 1.8 * math.exp(-at / 90) for at in range(700)]
    return noisy([*falls[:500], *falls], size, seed)


@each(("size", "seed"), [(0.0, 0), (0.01, 1), (0.05, 2), (0.05, 3)])
def test_a_jump_in_a_long_log_is_told_with_what_was_logged(size, seed):
    values = _long(size, seed)
    (finding,) = found("loss-jump", batches(values))
    (mark,) = finding.marks[:1]
    assert mark.at == 500
    assert f"to {values[500]:.3g} at step 500" in finding.message
    begun = Restart(step=500.0, reached=499.0, before=values[499], after=values[500])
    assert not found("loss-jump", batches(values, restarts=(begun,)))

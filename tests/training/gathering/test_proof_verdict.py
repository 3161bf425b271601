"""What two sets of runs prove: luck, crashes and scores that cannot be compared are no proof."""

from __future__ import annotations

import math
from typing import Any

import pytest

from stethoscope.evidence.training import RunCurve, Scores
from stethoscope.training.compare import _QUANTILES, Runs, judged
from tests.frameworks import stats
from tests.tables import each

NAN = math.nan


def runs(*skills: float, loss: Any = 1.0, val_loss: float | None = None, **more: Any) -> Runs:
    losses = loss if isinstance(loss, tuple) else (loss,) * len(skills)
    curves = [
        RunCurve(seed, 2, 1.0, (1, 2), (2.0, one), (), (), final=Scores(one, skill, skill, val_loss))
        for seed, (skill, one) in enumerate(zip(skills, losses, strict=True))
    ]
    return Runs(curves, rows=1_000, epochs=1.0, **more)


@each(
    ("before", "after", "verdict"),
    [
        (runs(0.1, 0.2, 0.15), runs(0.9, 0.95, 0.9), "helps"),
        (runs(0.9, 0.95, 0.9), runs(0.1, 0.2, 0.15), "worse"),
        (runs(0.1), runs(0.9), "helps"),
        (runs(0.3), runs(0.36), "no_difference"),
        (runs(0.0, 0.9, 0.1), runs(0.9, 0.2, 0.9), "no_difference"),
        # No run of one side reaches the other, however much they scatter.
        (runs(0.0, 0.0, 0.0), runs(0.1, 0.1, 0.9), "helps"),
        (runs(0.2, 0.2), runs(0.2, 0.9), "no_difference"),
    ],
)
def test_a_score_decides_where_it_differs_by_more_than_luck(before, after, verdict):
    found = judged(before, after, same_loss=True)
    assert found.verdict == verdict
    assert found.effect == pytest.approx(
        sum(after.scores) / len(after.scores) - sum(before.scores) / len(before.scores)
    )


def test_luck_is_named_as_such():
    assert "seed to seed" in judged(runs(0.0, 0.9, 0.1), runs(0.9, 0.2, 0.9), same_loss=True).message


def test_the_quantiles_are_those_of_student():
    expected = [stats.t.ppf(0.95, pairs - 1) for pairs in range(2, 11)]
    assert list(_QUANTILES) == pytest.approx(expected, abs=0.006)


@each(
    ("before", "after", "same_loss", "verdict"),
    [
        (runs(0.5, 0.5, loss=1.0), runs(0.5, 0.5, loss=0.5), True, "helps"),
        (runs(0.5, 0.5, loss=0.5), runs(0.5, 0.5, loss=1.0), True, "worse"),
        (runs(0.5, 0.5, loss=1.0), runs(0.5, 0.5, loss=0.9), True, "no_difference"),
        (runs(0.5, 0.5, loss=1.0), runs(0.5, 0.5, loss=(0.5, 0.9)), True, "no_difference"),
        (runs(0.5, 0.5, loss=1.0), runs(0.5, 0.5, loss=0.5), False, "no_difference"),
        (runs(0.0, 0.0, loss=1.0), runs(0.0, 0.0, loss=0.1), True, "no_difference"),
        (runs(0.5, 0.5, loss=NAN), runs(0.5, 0.5, loss=0.5), True, "no_difference"),
        (runs(0.5, loss=1.0), runs(0.5, loss=0.1), True, "no_difference"),
        (runs(0.5, 0.5, loss=1.0, val_loss=0.4), runs(0.5, 0.5, loss=0.1, val_loss=0.4), True, "no_difference"),
    ],
)
def test_a_lower_loss_decides_where_something_is_learned_and_scores_are_equal(before, after, same_loss, verdict):
    found = judged(before, after, same_loss=same_loss)
    assert found.verdict == verdict
    assert ("lower in" in found.message) is (verdict != "no_difference")


def test_the_loss_that_decides_is_that_of_validation_rows_where_there_are_some():
    before, after = runs(0.5, 0.5, val_loss=1.0), runs(0.5, 0.5, val_loss=0.25)
    assert "1.00 → 0.25" in judged(before, after, same_loss=True).message


@each(
    ("before", "after", "verdict", "said"),
    [
        (runs(0.5), Runs(too_slow="Too slow."), "skipped", "Too slow."),
        (runs(0.5), Runs(crash="shapes"), "worse", ": shapes"),
        (Runs(crash="labels"), Runs(crash="shapes"), "no_difference", "either: shapes"),
        (Runs(crash="It stops."), runs(0.8), "helps", "accuracy 0.80"),
        (Runs(crash="It stops."), runs(NAN), "no_difference", "loss of NaN"),
        (runs(0.5, metric="r2"), runs(0.9), "skipped", "of different kinds"),
        (runs(0.5), runs(0.9, held_out=True), "skipped", "of different kinds"),
        (runs(NAN, NAN), runs(NAN, NAN), "no_difference", "neither"),
    ],
)
def test_runs_that_cannot_be_compared(before, after, verdict, said):
    found = judged(before, after, same_loss=True)
    assert found.verdict == verdict and said in found.message


def test_nothing_finite_has_no_effect():
    found = judged(runs(NAN, NAN), runs(NAN, NAN), same_loss=True)
    assert (found.effect, found.spread) == (None, None)


def test_a_lower_score_is_right_where_the_answer_was_given_away():
    before, after = runs(0.99, 0.98, 0.99), runs(0.6, 0.62, 0.61)
    assert judged(before, after, same_loss=True).verdict == "worse"
    honest = judged(before, after, same_loss=True, honest=True)
    assert honest.verdict == "skipped" and "true one" in honest.message


def test_runs_cut_short_say_so():
    found = judged(runs(0.1, 0.1, epochs_share=0.5), runs(0.9, 0.9), same_loss=True)
    assert found.verdict == "helps" and "1 epochs" in found.message


def test_curves_without_scores_in_between_are_losses_by_step():
    curves = judged(runs(0.1), runs(0.9), same_loss=True).curves
    assert (curves.x_label, curves.y_label) == ("step", "loss")
    assert [(line.name, line.x, line.y) for line in curves.lines] == [
        ("before, seed 0", (1.0, 2.0), (2.0, 1.0)),
        ("after, seed 0", (1.0, 2.0), (2.0, 1.0)),
    ]


def test_only_seeds_of_both_sides_are_compared():
    found = judged(runs(0.1, 0.1, 0.9), runs(0.5, 0.5), same_loss=True)
    assert found.seeds == (0, 1) and found.before == (0.1, 0.1)

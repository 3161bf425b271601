"""Control limits of accuracy hold where nearly all is right, and are as wide as few known rows leave them."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.drift.over_time import (
    _correct,
    _interval,
    _limits_of_mean,
    _limits_of_share,
    correctness,
    over_time,
    split_by_time,
)
from stethoscope.drift.reading import LogColumns
from stethoscope.errors import BadInput
from tests.drift.sides import side
from tests.frameworks import stats
from tests.tables import each


def test_nearly_always_right_is_no_alarm():
    """Of 30 rows of which 1 % are wrong two are wrong in 4 % of all stretches: that is within the limits."""
    lower, upper = _limits_of_share(0.99, 0.0, 5_000, 30)
    assert upper == 1.0 and stats.binom.cdf(round(lower * 30) - 1, 30, 0.99) < 0.002


def test_few_known_rows_widen_the_limits():
    few, many = (_limits_of_share(0.9, 0.3, known, 2_000) for known in (100, 100_000))
    assert few[0] < 0.82 < many[0] < 0.9 < many[1] < 0.93 < few[1]
    few, many = (_limits_of_mean(2.0, 1.0, known, 900) for known in (50, 100_000))
    assert few[0] < many[0] and np.isclose(many[1], 2.1, atol=0.002) and few[1] > 2.4


LOG = LogColumns(time="when", prediction="said", label="true")


@each(
    ("said", "true", "kind", "values"),
    [
        ([1.0, 0.0, 2.0], [1.0, 1.0, 2.0], "category", [1, 0, 1]),
        ([1.5, 0.0, 2.0], [1.0, 1.0, 2.0], "number", [0.5, 1.0, 0.0]),
        ([1.0, np.nan, 2.0], [1.0, 1.0, np.nan], "category", [1]),
        (["cat", "", "dog"], ["cat", "dog", "cat"], "category", [1, 0]),
        # A label column of words beside numbers: read as they are written.
        ([1.0, 0.0, np.nan], ["1", "1", "0"], "category", [1, 0]),
        ([np.nan], [1.0], None, None),
        (["", ""], ["cat", "dog"], None, None),
    ],
)
def test_what_was_right_is_told_for_rows_that_have_both(said, true, kind, values):
    found = _correct(side(said=said, true=true), LOG)
    assert (None if found is None else found[0]) == kind
    if found is not None:
        assert found[1].astype(float).tolist() == values


def test_correctness_is_a_feature_of_both_sides_of_one_kind_only():
    right, off = side(said=[1.0, 0.0], true=[1.0, 1.0]), side(said=[1.5, 0.0], true=[1.0, 1.0])
    assert correctness(right, right, LOG).reference.tolist() == ["right", "wrong"]
    assert correctness(off, off, LOG).current.tolist() == [0.5, 1.0] and correctness(off, off, LOG).kind == "number"
    assert correctness(right, off, LOG) is None
    assert correctness(right, side(said=[1.0]), LOG) is None
    assert correctness(right, right, LogColumns(prediction="said")) is None


def test_the_interval_of_a_mean_is_that_of_the_normal_distribution():
    values = np.random.default_rng(0).normal(3, 2, 400)
    assert _interval(values) == pytest.approx(stats.norm.interval(0.95, values.mean(), values.std() / 20))


def timed(moments, **columns):
    made = side(when=np.arange(float(len(moments))), **columns)
    made.fields["when"].moments = np.asarray(moments, float)
    return made


def test_without_two_moments_nothing_is_divided_by_time():
    with pytest.raises(BadInput, match="'when', got 1"):
        split_by_time(timed([5.0, np.nan]), "when")
    first, second = split_by_time(timed([30.0, 10.0, 20.0, np.nan, 40.0]), "when")
    assert (first.used, second.used) == (2, 2)


def test_errors_of_quantities_are_followed_over_time():
    draws = np.random.default_rng(0)
    moments, truth = np.arange(400.0) * 86_400, draws.normal(0, 5, 400)
    good, bad = (timed(moments, said=truth + draws.normal(0, spread, 400), true=truth) for spread in (1.0, 3.0))
    found = over_time(good, bad, LOG, [], 0.05)
    assert found.measure == "absolute error"
    late = [one for one in found.stretches if one.side == "current"]
    assert all(one.out_of_control for one in late) and all(one.value > one.upper_limit for one in late)
    calm = over_time(good, good, LOG, [], 0.05)
    assert not any(one.out_of_control for one in calm.stretches)


def test_without_moments_or_labels_there_is_less_to_say():
    plain = timed(np.arange(100.0), said=np.zeros(100))
    assert over_time(plain, side(said=np.zeros(3)), LOG, [], 0.05) is None
    unlabelled = over_time(plain, plain, LogColumns(time="when"), [], 0.05)
    assert unlabelled.measure is None and all(one.value is None for one in unlabelled.stretches)

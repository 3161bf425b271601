"""Control limits of accuracy hold where nearly all is right, and are as wide as few known rows leave them."""

from __future__ import annotations

import numpy as np

from stethoscope.drift.over_time import _limits_of_mean, _limits_of_share
from tests.frameworks import stats


def test_nearly_always_right_is_no_alarm():
    """Of 30 rows of which 1 % are wrong two are wrong in 4 % of all stretches: that is within the limits."""
    lower, upper = _limits_of_share(0.99, 0.0, 5_000, 30)
    assert upper == 1.0 and stats.binom.cdf(round(lower * 30) - 1, 30, 0.99) < 0.002


def test_few_known_rows_widen_the_limits():
    few, many = (_limits_of_share(0.9, 0.3, known, 2_000) for known in (100, 100_000))
    assert few[0] < 0.82 < many[0] < 0.9 < many[1] < 0.93 < few[1]
    few, many = (_limits_of_mean(2.0, 1.0, known, 900) for known in (50, 100_000))
    assert few[0] < many[0] and np.isclose(many[1], 2.1, atol=0.002) and few[1] > 2.4

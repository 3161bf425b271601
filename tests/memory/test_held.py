"""The slope holds under noise that remembers, under jumps and outliers; its interval contains the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.errors import BadInput
from stethoscope.memory.held import slope
from tests.exploring import examples


@examples(100)
@given(st.floats(-1e6, 1e6), st.floats(-1e9, 1e9), st.integers(3, 60))
def test_a_straight_line_has_its_slope(per_step, start, count):
    found = slope([start + per_step * step for step in range(count)])
    slack = 1e-6 * (abs(per_step) + abs(start) + 1)
    assert abs(found.per_step - per_step) <= slack
    assert found.low - slack <= per_step <= found.high + slack
    assert found.points == count


def test_agrees_with_scipy_on_independent_noise():
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(3).standard_normal(40).cumsum() * 0 + np.random.default_rng(4).standard_normal(40)
    middle, _, low, high = stats.theilslopes(values, alpha=0.95)
    found = slope(values)
    assert found.per_step == pytest.approx(middle)
    # Only wider, where neighbours resemble each other.
    assert found.low == pytest.approx(low, abs=0.01)
    assert found.high == pytest.approx(high, abs=0.01)


def test_one_jump_is_no_slope():
    assert slope([0.0] * 50 + [1e6] * 50).low <= 0


def test_outliers_do_not_move_it():
    values = [100.0 * step for step in range(60)]
    values[10], values[40] = 1e9, -1e9
    assert slope(values).per_step == pytest.approx(100, rel=0.01)


def test_a_constant_series_has_none():
    found = slope([5.0] * 30)
    assert (found.per_step, found.low, found.high) == (0, 0, 0)


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_the_interval_contains_the_truth(memory):
    random, missed, rounds = np.random.default_rng(0), 0, 300
    for _ in range(rounds):
        noise = [0.0]
        for _ in range(59):
            noise.append(memory * noise[-1] + random.standard_normal())
        found = slope([2.0 * step + 5 * value for step, value in enumerate(noise)])
        missed += not found.low <= 2.0 <= found.high
    assert missed <= 0.08 * rounds


def test_a_long_series_is_averaged():
    assert slope(np.arange(5000.0)).per_step == pytest.approx(1.0)


def test_too_few_values_are_refused():
    with pytest.raises(BadInput, match="at least 3"):
        slope([1.0, 2.0])

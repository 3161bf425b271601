"""What a person would call the shape of a curve."""

from __future__ import annotations

import math
import random

import pytest

from stethoscope.checks.curves.shapes import (
    fall,
    first_nonfinite,
    is_flat,
    noise,
    runs_away,
    slope,
    still_falling,
    swing,
    turning_point,
)
from tests.tables import each


def noisy(values, size, seed=1):
    generator = random.Random(seed)
    return [value + generator.gauss(0, size) for value in values]


STRAIGHT = [1 - 0.02 * at for at in range(40)]
CONVERGED = [0.2 + math.exp(-at / 3) for at in range(40)]
VALLEY = [1 + (at - 12) ** 2 / 100 for at in range(40)]


def test_slope_and_noise_are_those_that_were_put_in():
    assert slope(STRAIGHT) == pytest.approx(-0.02)
    assert slope(noisy(STRAIGHT, 0.05)) == pytest.approx(-0.02, abs=0.003)
    assert slope([*STRAIGHT[:39], 1e9]) == pytest.approx(-0.02, abs=0.002)
    assert noise(noisy([0.0] * 400, 0.3)) == pytest.approx(0.3, rel=0.2)
    assert noise(STRAIGHT) == pytest.approx(0, abs=1e-12)


@each("values", [STRAIGHT, noisy(STRAIGHT, 0.03), [3.0, 2.0, 1.0], [5, 4, 3, 2]])
def test_still_falling(values):
    assert still_falling(values)


@each("values", [CONVERGED, noisy(CONVERGED, 0.02), [1.0] * 20, noisy([1.0] * 30, 0.1), VALLEY, [1.0]])
def test_not_falling_any_more(values):
    assert not still_falling(values)


def test_flat_is_neither_falling_nor_rising():
    assert is_flat([0.693] * 20)
    assert is_flat(noisy([0.693] * 60, 0.01))
    assert not is_flat(STRAIGHT)
    assert not is_flat([1, 2])
    assert is_flat([0.0] * 5)


def test_swings_have_a_period_and_an_amplitude():
    wave = [1 + 0.5 * (-1) ** at for at in range(30)]
    assert swing(wave).turning_share == 1
    assert swing(wave).period == 2
    assert swing(wave).amplitude == pytest.approx(0.5, rel=0.1)
    assert swing(STRAIGHT).turning_share == 0
    assert math.isinf(swing(STRAIGHT).period)


def test_the_turning_point_is_where_the_valley_is():
    turn = turning_point(VALLEY)
    assert turn is not None
    assert turn.index == 12
    assert turn.rise > 1
    assert turning_point(CONVERGED) is None
    assert turning_point(noisy(CONVERGED, 0.01)) is None
    assert turning_point([1, 2]) is None


def test_running_away():
    assert runs_away([1, 2, 4, 8, 16, 32])
    assert runs_away([1.0, 0.9, math.nan])
    assert not runs_away(CONVERGED)
    assert not runs_away(noisy([1.0] * 30, 0.2))
    assert not runs_away([1, 5, 0.5, 0.4, 0.3, 0.2])
    assert first_nonfinite([1, 2, math.inf]) == 2
    assert first_nonfinite([1, 2]) is None


def test_fall_is_a_share_of_the_start():
    assert fall([2.0, 1.0]) == pytest.approx(0.5)
    assert fall([1.0, 3.0]) == pytest.approx(-2)
    assert fall([]) == 0

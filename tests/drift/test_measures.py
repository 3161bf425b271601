"""What a formula says could be found is found four times out of five."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.drift.measures import mix, shift
from stethoscope.drift.two_samples import Ordered, anderson_darling, same_mix

RUNS = 600


@pytest.mark.parametrize(("alpha", "rows"), [(0.05, (200, 200)), (0.002, (150, 600))])
def test_a_shift(alpha, rows):
    generator, size = np.random.default_rng(3), shift(alpha, *rows)
    found = [
        anderson_darling(Ordered.of(generator.normal(size=rows[0]), generator.normal(size, 1, rows[1]))).p_value
        <= alpha
        for _ in range(RUNS)
    ]
    assert np.mean(found) == pytest.approx(0.8, abs=0.05)


def test_a_mix():
    generator, shares = np.random.default_rng(3), np.array([0.5, 0.3, 0.2])
    points, _ = mix(0.01, 400, 300, 3, 0.5)
    # A share of both sides together: half of the change lies on each side of it.
    first, second = (_moved(shares, points * part) for part in (-300 / 700, 400 / 700))
    found = [
        same_mix(generator.multinomial(400, first), generator.multinomial(300, second)).p_value <= 0.01
        for _ in range(RUNS)
    ]
    assert np.mean(found) == pytest.approx(0.8, abs=0.05)


def _moved(shares, points):
    rest = shares[1:] * (1 - points / shares[1:].sum())
    return np.array([shares[0] + points, *rest])


def test_nothing_can_be_shown():
    assert shift(0.05, 0, 10) is None
    assert mix(0.05, 3, 3, 2, 0.5) is None and mix(0.05, 10, 10, 1, 1.0) is None


def test_what_must_also_be_large_enough_to_count():
    """With a least size that size decides, however many rows there are: a shift of half a standard deviation has a PSI near 0.25."""
    assert shift(0.05, 50_000, 50_000, 0.25) == pytest.approx(0.5, abs=0.05) and shift(0.05, 50_000, 50_000) < 0.03
    assert shift(0.05, 50, 50, 0.01) >= shift(0.05, 50, 50)
    assert mix(0.05, 50_000, 50_000, 3, 0.5, 0.1)[1] == pytest.approx(0.1**0.5, abs=0.02)

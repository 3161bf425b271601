"""How memory grows with a length."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stethoscope.memory.growth import growth, sizes_below
from tests.memory.estimates import ESTIMATE


def over(peak):
    return [
        replace(ESTIMATE, size=size, peak_bytes=peak(size), call_peak_bytes=peak(size)) for size in sizes_below(512)
    ]


@pytest.mark.parametrize(
    ("peak", "law"),
    [
        (lambda size: 1000 + 3 * size, "proportional"),
        (lambda size: 1000 + 3 * size + size * size, "square"),
        (lambda size: 100_000 + size // 64, "hardly"),
    ],
)
def test_a_square_is_told_from_a_line(peak, law):
    found = growth(over(peak))
    assert found.law == law
    assert [point.size for point in found.points] == [128, 256, 512]


def test_the_share_of_the_square_is_that_of_the_growth():
    assert growth(over(lambda size: 50 + size * size)).square_share == 1.0
    assert growth(over(lambda size: 50 + 512 * size + size * size)).square_share == pytest.approx(0.5, abs=0.01)
    assert growth(over(lambda size: size)[:2]) is None


def test_smaller_batches_show_the_slope():
    assert sizes_below(1) == [1]
    assert sizes_below(3) == [1, 3]
    assert sizes_below(64) == [16, 32, 64]

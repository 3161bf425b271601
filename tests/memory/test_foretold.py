"""What estimates alone foretell of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stethoscope.memory.foretold import Foretold
from tests.memory.estimates import ESTIMATE, MIB


def foretold(limit_rows=(2, 4, 8)):
    calls = [replace(ESTIMATE, batch_size=rows, call_peak_bytes=(20 + 10 * rows) * MIB) for rows in limit_rows]
    return Foretold.of(calls, calls[-1], 1024.0)


def test_the_line_goes_through_the_batches_and_not_below_loading():
    fit = foretold().fit
    assert (fit.predict(8), fit.predict(16)) == pytest.approx((100 * MIB, 180 * MIB))
    assert fit.loading_peak_bytes == 40 * MIB
    found = fit.largest(500 * MIB)
    assert found.low < 48 < found.high


def test_the_margin_is_the_error_of_estimates():
    assert foretold().margin_bytes == int(6 * MIB + 0.08 * 100 * MIB)
    assert foretold().largest.shape == (8, 12, 512, 512)
    assert foretold().run.timeline == ()

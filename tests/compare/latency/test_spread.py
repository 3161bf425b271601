"""Times as percentiles, and only those that so many calls can tell."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.latency.spread import Spread


def test_percentiles_are_those_of_numpy():
    times = np.random.default_rng(0).integers(1_000, 1_000_000, 500)
    found = Spread.of(times.tolist())
    assert found.calls == 500
    expected = np.percentile(times / 1e9, (50, 90, 99))
    assert (found.p50_s, found.p90_s, found.p99_s) == pytest.approx(tuple(expected))
    assert found.mean_s == pytest.approx(times.mean() / 1e9)
    assert found.reason == ""


def test_a_percentile_that_too_few_calls_would_guess_is_left_out_with_the_reason():
    few = Spread.of([1_000] * 99)
    assert few.p90_s == 1e-6
    assert few.p99_s is None
    assert few.reason.startswith("p99 ") and "100 calls; 99 fitted" in few.reason
    fewer = Spread.of([1_000, 3_000])
    assert fewer.p50_s == 2e-6
    assert fewer.p90_s is None
    assert fewer.reason.startswith("p90 ") and "10 calls and p99" in fewer.reason

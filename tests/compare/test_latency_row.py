"""A row of the answer, and what is said about several."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stethoscope.compare.latency_row import Row, Spread, about_threads

ROW = Row("a", "model", "keras", "TensorFlow 2.21.0", "function", "CPU", 8, 4)


def test_a_timed_row_has_its_numbers_and_rows_per_second_of_the_median():
    found = ROW.timed(Spread.of([1_000_000] * 200))
    assert (found.calls, found.p50_s, found.p99_s, found.reason) == (200, 1e-3, 1e-3, "")
    assert found.rows_per_s == 4_000


def test_runtimes_with_different_threads_are_told_apart():
    tensorflow = replace(ROW, p50_s=1.0)
    onnx = replace(ROW, runtime="ONNX Runtime 1.31.1", threads=2, p50_s=1.0)
    assert "TensorFlow 2.21.0 with 8, ONNX Runtime 1.31.1 with 2" in next(about_threads([tensorflow, onnx]))
    assert not list(about_threads([tensorflow, replace(onnx, p50_s=None)]))
    assert not list(about_threads([tensorflow, replace(onnx, threads=8)]))


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

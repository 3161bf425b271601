"""A row of the answer, and what is said about several."""

from __future__ import annotations

from dataclasses import replace

from stethoscope.compare.latency.row import Row, about_threads
from stethoscope.compare.latency.spread import Spread

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

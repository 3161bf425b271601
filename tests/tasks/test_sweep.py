"""A sweep predicts before it measures, does not start what cannot fit, and keeps what it has."""

from __future__ import annotations

import pytest

from sample_models import BUILT
from stethoscope.codec import answer_of
from stethoscope.tasks.sweep import Swept
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status

MIB = 1 << 20


def swept(engine, file: str, memory_bytes: int = 800 << 20, worker: str = "tensorflow", **params) -> JobResult:
    files = {"model": ModelFile.at(BUILT / file)}
    return engine.wait(engine.submit(Job("sweep", files, params, Budget(memory_bytes, 180), worker)), 200)


def test_points_are_predicted_and_measured(engine):
    result = swept(engine, "memory_hungry.keras", 2048 * MIB, batch_sizes=[1, 4, 16])
    assert result.status is Status.OK, result.reason
    answer = answer_of(result, Swept)
    points = answer.points
    assert [point.batch_size for point in points] == [1, 4, 16]
    assert [point.calibration for point in points] == [True, False, False]
    for point in points:
        assert point.predicted_peak_bytes == pytest.approx(point.measured_peak_bytes, rel=0.15)
        assert point.time_per_sample_s > 0
    assert points[2].measured_peak_bytes > points[1].measured_peak_bytes
    assert answer.knee.batch_size in (1, 4, 16)


def test_what_cannot_fit_is_not_started_and_the_largest_batch_holds(engine):
    result = swept(engine, "memory_hungry.keras", 400 * MIB, batch_sizes=[1, 2, 4096], check=True)
    # Just above the limit a framework may end the process instead of raising; the points are kept either way.
    assert result.status in (Status.OK, Status.OUT_OF_MEMORY), result.reason
    answer = answer_of(result, Swept)
    last = answer.points[-1]
    assert last.status is Status.REFUSED
    assert "Not started" in last.reason
    assert last.measured_peak_bytes is None
    assert 1 <= answer.largest_batch.low <= answer.largest_batch.high < 4096
    below, *_, above = answer.checks
    assert below.status is Status.OK
    assert above.batch_size > below.batch_size
    assert above.status is Status.OUT_OF_MEMORY


def test_sequence_lengths_are_swept(engine):
    result = swept(engine, "bert_small.keras", batch_sizes=[2], sizes=[16, 64])
    assert result.status is Status.OK, result.reason
    short, long = answer_of(result, Swept).points
    assert (short.size, long.size) == (16, 64)
    assert long.measured_peak_bytes > short.measured_peak_bytes


def test_sizes_of_a_model_without_open_dimensions_are_refused(engine):
    result = swept(engine, "digits_cnn.keras", batch_sizes=[2], sizes=[16])
    assert result.status is Status.FAILED
    assert "open dimensions" in result.reason


def test_other_formats_are_swept_too(engine):
    result = swept(engine, "digits_cnn.onnx", worker="light", batch_sizes=[1, 8])
    assert result.status is Status.OK, result.reason
    assert all(point.measured_peak_bytes for point in answer_of(result, Swept).points)

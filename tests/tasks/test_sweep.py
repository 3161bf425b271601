"""A sweep predicts before it measures, does not start what cannot fit, and keeps what it has."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sample_models import BUILT
from stethoscope.codec import answer_of
from stethoscope.memory.points import Swept
from stethoscope.memory.run_settings import RunSettings
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status

MIB = 1 << 20


POOL = RunSettings(call="predict", allocator="pool").to_json()
PLAIN = """
import sys
import numpy as np, keras
def rows(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name)) << 10
path, batch = sys.argv[1], int(sys.argv[2])
started, libraries = rows("RssAnon"), rows("RssFile")
model = keras.saving.load_model(path)
x = np.random.default_rng(0).random((batch, *model.input_shape[1:]), dtype="float32")
model.predict(x, batch_size=batch, verbose=0)
print(rows("VmHWM") - rows("RssFile") - started)
"""
"""What a user runs: peak memory that a process adds, loading included, after its imports."""


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


def test_a_peak_is_that_of_a_process_like_the_users_own(engine):
    result = swept(engine, "memory_hungry.keras", 4096 * MIB, batch_sizes=[1, 4, 16], settings=POOL, estimate=False)
    assert result.status is Status.OK, result.reason
    points = answer_of(result, Swept).points
    assert [point.status for point in points] == [Status.OK] * 3
    last = points[-1]
    words = [sys.executable, "-c", PLAIN, str(BUILT / "memory_hungry.keras"), str(last.batch_size)]
    plain_bytes = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert last.measured_peak_bytes == pytest.approx(plain_bytes, rel=0.1)
    assert last.predicted_peak_bytes == pytest.approx(plain_bytes, rel=0.15)
    assert 0 < last.lean_peak_bytes < 1.05 * last.measured_peak_bytes


def test_the_largest_batch_ran_and_the_one_above_did_not(engine):
    result = swept(engine, "memory_hungry.keras", 500 * MIB, batch_sizes=[1, 4096], check=True, settings=POOL)
    assert result.status is Status.OK, result.reason
    answer = answer_of(result, Swept)
    assert answer.points[-1].status is Status.REFUSED
    ran = {point.batch_size for point in (*answer.points, *answer.checks) if point.status is Status.OK}
    assert answer.largest_batch.low in ran
    above = max(answer.checks, key=lambda point: point.batch_size)
    assert (above.batch_size, above.status) == (answer.largest_batch.high + 1, Status.OUT_OF_MEMORY)
    assert answer.estimate is not None


def test_other_formats_have_a_process_for_each_batch_too(engine):
    settings = RunSettings(allocator="pool").to_json()
    result = swept(engine, "digits_cnn.onnx", worker="light", batch_sizes=[1, 8], settings=settings)
    assert result.status is Status.OK, result.reason
    assert all(point.measured_peak_bytes for point in answer_of(result, Swept).points)

"""An estimate is made without running the model, for several batch sizes at once, and a sweep is held against it."""

from __future__ import annotations

import pytest

from stethoscope.codec import answer_of
from stethoscope.memory.points import Swept
from stethoscope.tasks.estimate import EstimatedPeaks
from stethoscope.types import Status
from tests.tasks.test_samples import submit


def test_an_estimate_is_near_what_a_sweep_measures(engine):
    result = submit(engine, "sweep", "memory_hungry", 4 << 30, batch_sizes=[2, 8])
    assert result.status is Status.OK, result.reason
    swept = answer_of(result, Swept)
    assert not swept.estimate.cannot
    for point in swept.points:
        assert point.estimated_peak_bytes == pytest.approx(point.measured_peak_bytes, rel=0.15)
    alone = submit(engine, "estimate", "memory_hungry", batch_sizes=[2, 8])
    assert alone.status is Status.OK, alone.reason
    estimates = answer_of(alone, EstimatedPeaks).estimates
    assert [one.peak_bytes for one in estimates] == [point.estimated_peak_bytes for point in swept.points]
    assert alone.peak_rss_bytes < swept.points[0].measured_peak_bytes / 2  # nothing was run
    assert "refine_1024" in {tensor.layer for tensor in estimates[0].alive}


@pytest.mark.parametrize(
    "name", ["digits_cnn_onnx", "digits_cnn_tflite", "digits_cnn_frozen", "cancer_keras2", "reviews_lstm"]
)
def test_every_kind_of_file_has_an_estimate(engine, name):
    result = submit(engine, "estimate", name, batch_sizes=[1, 64], trusted=True)
    assert result.status is Status.OK, result.reason
    made = answer_of(result, EstimatedPeaks)
    assert not made.cannot
    small, large = made.estimates
    assert small.live_bytes < large.live_bytes
    for one in (small, large):
        assert sum(one.parts().values()) == one.peak_bytes
        assert one.timeline


def test_sizes_and_precision_count(engine):
    settings = {"batch_size": 8, "precision": "mixed_bfloat16"}
    plain = submit(engine, "estimate", "bert_small", batch_sizes=[8], sizes=[16, 64])
    half = submit(engine, "estimate", "bert_small", batch_sizes=[8], sizes=[64], settings=settings)
    short, long = answer_of(plain, EstimatedPeaks).estimates
    assert (short.size, long.size) == (16, 64)
    assert short.live_bytes < long.live_bytes
    assert answer_of(half, EstimatedPeaks).estimates[0].live_bytes < long.live_bytes

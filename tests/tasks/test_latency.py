"""The latency job: models of several formats timed on the same rows in a contained worker."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from sample_models import BUILT
from stethoscope.codec import answer_of
from stethoscope.tasks.latency import Latencies
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.small_models import tiny_onnx

SECONDS = 0.03


def timed(engine, paths, worker="light", data=None, memory=2 << 30, **params):
    roles = ["model", *(f"other-{place}" for place in range(1, len(paths)))]
    files = {role: ModelFile.at(path) for role, path in zip(roles, paths, strict=True)}
    files |= {"data": ModelFile.at(data)} if data else {}
    asked = {"seconds": SECONDS, "batch_sizes": [1, 4], **params}
    return engine.wait(engine.submit(Job("latency", files, asked, Budget(memory, 200), worker)), 300)


@pytest.fixture
def tiny(tmp_path):
    return tiny_onnx(tmp_path / "tiny.onnx")


def test_two_runtimes_have_a_row_for_each_batch_size(engine):
    known = answer_of(timed(engine, [BUILT / "digits_cnn.onnx", BUILT / "digits_cnn.tflite"], threads=1), Latencies)
    assert [(row.role, row.batch_size) for row in known.rows] == [
        ("model", 1),
        ("model", 4),
        ("other-1", 1),
        ("other-1", 4),
    ]
    for row in known.rows:
        assert 0 < row.p50_s <= row.p90_s
        assert row.p99_s is None or row.p99_s >= row.p90_s
        assert row.rows_per_s == pytest.approx(row.batch_size / row.p50_s)
        assert (row.threads, row.device, row.call) == (1, "CPU", "run")
        assert row.first_call_s > 0
    assert [row.runtime.split(" 1.")[0].split(" 2.")[0] for row in known.rows][1:3] == ["ONNX Runtime", "LiteRT"]
    for one, name in zip(known.models, ("digits_cnn.onnx", "digits_cnn.tflite"), strict=True):
        assert one.size_bytes == (BUILT / name).stat().st_size
        assert one.parameters == 21_546
        assert one.load_s > 0
        assert one.peak_bytes >= 0
    assert known.source == "dummy"
    assert known.together
    assert known.threads == 1


def test_a_keras_model_has_a_row_for_each_call_style_and_data_is_used(engine):
    calls = ["function", "call", "predict_on_batch"]
    result = timed(
        engine,
        [BUILT / "digits_cnn.keras", BUILT / "digits_cnn_int8.tflite"],
        "tensorflow",
        BUILT / "digits_sample.npz",
        calls=calls,
        batch_sizes=[2],
    )
    assert result.status is Status.OK, result.reason
    rows = answer_of(result, Latencies).rows
    assert [row.call for row in rows] == [*calls, "run"]
    assert all(row.p50_s > 0 for row in rows)
    assert rows[0].runtime.startswith("TensorFlow 2.")
    assert answer_of(result, Latencies).source == "digits_sample.npz"


def test_a_model_with_a_fixed_batch_has_a_row_of_its_own_size(engine, tiny, tmp_path):
    fixed = tiny_onnx(tmp_path / "fixed.onnx", rows=3)
    known = answer_of(timed(engine, [tiny, fixed]), Latencies)
    assert [(row.model, row.batch_size) for row in known.rows] == [
        ("tiny.onnx", 1),
        ("tiny.onnx", 4),
        ("fixed.onnx", 3),
    ]
    assert all(row.p50_s for row in known.rows)


@pytest.mark.parametrize("place", [0, 1])
def test_a_model_that_fails_has_its_reason_and_the_others_their_times(engine, tiny, tmp_path, place):
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(tiny.read_bytes()[:60])
    paths = [tiny]
    paths.insert(place, broken)
    result = timed(engine, paths)
    assert result.status is Status.OK, result.reason
    bad = [row for row in answer_of(result, Latencies).rows if row.model == "broken.onnx"]
    good = [row for row in answer_of(result, Latencies).rows if row.model == "tiny.onnx"]
    assert bad and good
    assert all(row.p50_s is None and "broken.onnx" in row.reason for row in bad)
    assert all(row.p50_s for row in good)
    assert "broken.onnx" in answer_of(result, Latencies).models[place].reason


def test_models_of_other_inputs_are_timed_on_their_own_and_that_is_said(engine, tiny, tmp_path):
    known = answer_of(timed(engine, [tiny, BUILT / "digits_cnn.onnx"], batch_sizes=[1]), Latencies)
    assert all(row.p50_s for row in known.rows)
    assert any("digits_cnn.onnx takes" in note for note in known.notes)
    np.savez(tmp_path / "rows.npz", x=np.ones((6, 4), np.float32))
    known = answer_of(
        timed(engine, [tiny, BUILT / "digits_cnn.onnx"], data=tmp_path / "rows.npz", batch_sizes=[1]), Latencies
    )
    assert [row.p50_s is not None for row in known.rows] == [True, False]


def test_models_too_large_for_the_budget_together_are_timed_one_after_the_other(engine, tiny, tmp_path):
    model = onnx.load(tiny)
    model.graph.initializer.append(numpy_helper.from_array(np.zeros(5 << 20, np.float32), "unused"))
    onnx.save(model, tmp_path / "large.onnx")
    result = timed(engine, [tmp_path / "large.onnx", tiny, tmp_path / "large.onnx"], memory=300 << 20, batch_sizes=[1])
    assert result.status is Status.OK, result.reason
    assert not answer_of(result, Latencies).together
    assert all(row.p50_s for row in answer_of(result, Latencies).rows)
    assert answer_of(timed(engine, [tiny, tiny], batch_sizes=[1]), Latencies).together


def test_one_model_that_cannot_be_timed_is_the_end_of_the_job_with_its_reason(engine, tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"nothing")
    result = timed(engine, [tmp_path / "broken.onnx"])
    assert result.status is Status.FAILED
    assert "broken.onnx" in result.reason


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"batch_sizes": [0]}, "Batch sizes: expected"),
        ({"seconds": -1}, "Seconds: expected"),
        ({"calls": ["fast"]}, "Call 'fast'"),
        ({"threads": 0}, "intra_threads"),
        ({"device": "gpu"}, "Device: expected cpu"),
    ],
)
def test_settings_that_make_no_sense_are_refused(engine, tiny, params, said):
    result = timed(engine, [tiny], **params)
    assert result.status is Status.FAILED
    assert said in result.reason

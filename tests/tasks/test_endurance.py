"""A model that keeps what it computes is found, in the call style that shows it; a healthy one is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stethoscope.codec import answer_of, partial_of
from stethoscope.framework_errors import shortage_of
from stethoscope.jobs.job_engine import Engine
from stethoscope.memory.run_settings import RunSettings
from stethoscope.tasks.endurance import EnduranceReport
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status
from tests.deterministic import begin, save
from tests.small_models import tiny_onnx


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """leak.keras keeps a tensor for each eager call, growing/ a row more for each call, healthy.keras nothing."""
    import keras
    import tensorflow as tf

    folder, layers = tmp_path_factory.mktemp("models"), keras.layers
    begin()
    hoard = layers.Lambda(lambda x: (globals().setdefault("hoard", []).append(x * 2.0), x)[1])
    save(keras.Sequential([keras.Input((256,)), hoard, layers.Dense(3)]), folder / "leak.keras")
    healthy = keras.Sequential(
        [
            keras.Input((12, 12, 3)),
            layers.Conv2D(8, 3),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(4),
        ]
    )
    save(healthy, folder / "healthy.keras")

    class Growing(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            shape = tf.TensorShape((None, 256))
            self.kept = tf.Variable(tf.zeros((0, 256)), shape=shape, trainable=False)

        @tf.function(input_signature=[tf.TensorSpec((None, 256), tf.float32, name="x")])
        def __call__(self, x: Any) -> Any:
            self.kept.assign(tf.concat([self.kept, x], 0))
            return {"y": x * 2.0}

    growing = Growing()
    tf.saved_model.save(growing, str(folder / "growing"), signatures=growing.__call__)
    return folder


def run(engine: Engine, path: Path, call: str, **params: Any) -> JobResult:
    settings = RunSettings(batch_size=8, call=call)
    given = {"settings": settings.to_json(), "trusted": True, "test_s": 120, "calls": 60, **params}
    job = Job("endurance", {"model": ModelFile.at(path)}, given, Budget(4 << 30, 280), "tensorflow")
    return engine.wait(engine.submit(job))


def test_a_layer_that_keeps_tensors_is_found(engine, models):
    result = run(engine, models / "leak.keras", "call", tests=["leak"])
    assert result.status is Status.OK, result.reason
    report = answer_of(result, EnduranceReport)
    leak = report.leak
    assert leak.verdict == "leak"
    # 8 rows of 256 floats, and the Python object around them.
    assert 8 * 256 * 4 < leak.low <= leak.bytes_per_call <= leak.high < 8 * 256 * 4 + 4096
    assert leak.calls == 60 == len(leak.series["resident_bytes"])
    assert report.latency is None
    assert report.retracing is None


def test_the_same_layer_keeps_nothing_in_a_function(engine, models):
    result = run(engine, models / "leak.keras", "function", tests=["leak"])
    assert answer_of(result, EnduranceReport).leak.verdict == "steady"


def test_a_variable_that_grows_is_found(engine, models):
    leak = answer_of(run(engine, models / "growing", "function", tests=["leak"]), EnduranceReport).leak
    assert leak.verdict == "leak"
    assert leak.bytes_per_call == pytest.approx(8 * 256 * 4, rel=0.2)


@pytest.mark.parametrize("call", ["function", "call", "predict_on_batch", "predict"])
def test_a_healthy_model_leaks_in_no_call_style(engine, models, call):
    result = run(engine, models / "healthy.keras", call, tests=["leak"], calls=40)
    assert result.status is Status.OK, result.reason
    leak = answer_of(result, EnduranceReport).leak
    assert leak.verdict in ("steady", "framework"), leak.message


def test_the_first_call_is_slower_than_later_ones(engine, models):
    result = run(engine, models / "healthy.keras", "function", tests=["latency", "retracing"])
    report = answer_of(result, EnduranceReport)
    latency, retracing = report.latency, report.retracing
    assert latency.cold_over_warm > 3
    assert latency.cold_s > latency.warm_row.median_s > 0
    assert latency.time_per_sample_s == pytest.approx(latency.warm.median_s / 8)
    assert retracing.verdict == "retraced"
    assert retracing.stops is True


def test_a_graph_file_is_timed_and_tested_too(engine, tmp_path):
    path = tiny_onnx(tmp_path / "tiny.onnx")
    settings = RunSettings(batch_size=4)
    job = Job("endurance", {"model": ModelFile.at(path)}, {"settings": settings.to_json()}, Budget(1 << 30, 100))
    result = engine.wait(engine.submit(job))
    assert result.status is Status.OK, result.reason
    report = answer_of(result, EnduranceReport)
    assert report.leak.verdict == "steady"
    assert report.latency.warm.median_s > 0
    assert report.retracing.verdict == "not traced"


@pytest.mark.parametrize("params", [{"tests": ["leaks"]}, {"calls": 3}])
def test_what_makes_no_sense_is_said(engine, models, params):
    result = run(engine, models / "healthy.keras", "function", **params)
    assert result.error == "BadSetting"


def test_a_leak_into_the_limit_says_what_was_gathered(engine, models):
    settings = RunSettings(batch_size=4096, call="call")
    given = {"settings": settings.to_json(), "trusted": True, "tests": ["leak"], "calls": 200, "test_s": 100}
    job = Job("endurance", {"model": ModelFile.at(models / "leak.keras")}, given, Budget(400 << 20, 200), "tensorflow")
    result = engine.wait(engine.submit(job))
    assert result.status is Status.OUT_OF_MEMORY, result.reason
    # It ends with an error of its own, or is ended from outside where the framework was quicker than its limit.
    if "equal calls" not in result.reason:
        assert result.phase == "leak"
        assert len(partial_of(result, EnduranceReport).leak.series["resident_bytes"]) >= 12
    assert shortage_of(result).mechanism == "limit"
    assert shortage_of(result).advice

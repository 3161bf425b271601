"""A prediction under settings, through real contained jobs: each is configured before TensorFlow's first operation."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.codec import answer_of
from stethoscope.framework_errors import shortage_of
from stethoscope.memory.prediction import Prediction
from stethoscope.memory.run_settings import CALLS, RunSettings
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status
from tests import deterministic
from tests.tasks.test_samples import submit


def predicted(engine, name: str = "digits_cnn", samples: int = 10, **settings) -> JobResult:
    chosen = RunSettings(**({"batch_size": 4} | settings))
    return submit(engine, "predict", name, settings=chosen.to_json(), samples=samples)


def output(result: JobResult) -> np.ndarray:
    assert result.status is Status.OK, result.reason
    (only,) = answer_of(result, Prediction).outputs.values()
    return np.load(result.files[only.path])


def test_every_call_style_predicts_the_same_and_says_what_it_cost(engine):
    found = {call: predicted(engine, call=call) for call in CALLS}
    plain = output(found["function"])
    for call, result in found.items():
        np.testing.assert_allclose(output(result), plain, atol=1e-5, err_msg=call)
        made = answer_of(result, Prediction)
        assert (made.settings.call, made.settings.batch_size, made.batches) == (call, 4, 3)
        assert made.predicted_peak_bytes > 0
        assert made.measured_peak_bytes > 0
        assert (made.traces is None) is (call == "call")


def test_a_batch_size_alone_is_enough(engine):
    result = submit(engine, "predict", "digits_cnn", batch_size=3, samples=3)
    assert result.status is Status.OK
    made = answer_of(result, Prediction)
    assert (made.settings.batch_size, made.settings.call) == (3, "function")
    assert made.configured == ()
    assert made.precision_difference == {}


def test_threads_and_logical_devices_are_set_before_the_first_operation(engine):
    result = predicted(engine, intra_threads=1, inter_threads=1, device="cpu", logical_devices=(0, 0))
    assert result.status is Status.OK, result.reason
    configured = " ".join(answer_of(result, Prediction).configured)
    assert "1 thread within" in configured
    assert "2 logical devices" in configured


@pytest.mark.parametrize("name", ["bert_small", "reviews_lstm", "cancer_keras2", "digit_pairs"])
def test_a_lower_precision_runs_and_says_how_far_it_moves(engine, name):
    result = predicted(engine, name, samples=4, precision="mixed_bfloat16", call="predict")
    assert result.status is Status.OK, result.reason
    made = answer_of(result, Prediction)
    assert set(made.precision_difference) == set(made.outputs)
    assert all(0 < gap < 0.2 for gap in made.precision_difference.values())


def test_xla_runs(engine):
    assert answer_of(predicted(engine, xla=True), Prediction).traces >= 1
    assert output(predicted(engine, call="predict_on_batch", xla=True)).shape == (10, 10)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"memory_growth": True}, "GPU"),
        ({"gpu_memory_limit_bytes": 1 << 30}, "the memory limit"),
        ({"device": "gpu"}, "CPU"),
        ({"call": "call", "xla": True}, "compiled"),
    ],
)
def test_what_is_refused_is_a_sentence(engine, settings, words):
    result = predicted(engine, **settings)
    assert result.status is Status.FAILED
    assert words in result.reason
    assert result.error in ("BadSetting", "CannotRun")


def test_other_formats_have_their_own_runtime(engine):
    assert predicted(engine, "digits_cnn_onnx").status is Status.OK
    assert predicted(engine, "digits_cnn_onnx", intra_threads=1).status is Status.OK
    result = predicted(engine, "digits_cnn_onnx", inter_threads=1)
    assert (result.status, result.error) == (Status.FAILED, "BadSetting")
    assert "TensorFlow" in result.reason
    frozen = predicted(engine, "digits_cnn_frozen", call="predict")
    assert frozen.error == "CannotRun"
    assert predicted(engine, "digits_cnn_frozen", intra_threads=1).status is Status.OK


@pytest.mark.parametrize("call", ["predict", "call"])
def test_running_out_names_the_batch_in_every_style(engine, call):
    settings = RunSettings(batch_size=64, call=call)
    result = submit(engine, "predict", "memory_hungry", 700 << 20, settings=settings.to_json(), samples=64)
    assert result.status is Status.OUT_OF_MEMORY
    assert result.phase == "predict"
    assert shortage_of(result).batch_size == 64
    assert "batch 1 of 1" in result.reason.casefold()


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Its outputs are large: 4 MB for each row."""
    import keras

    path = tmp_path_factory.mktemp("wide") / "wide.keras"
    deterministic.begin()
    model = keras.Sequential([keras.Input((1,)), keras.layers.RepeatVector(1_000_000)])
    return ModelFile.at(deterministic.save(model, path))


@pytest.mark.parametrize("call", ["predict", "function"])
def test_outputs_that_do_not_fit_together_are_told_from_a_batch_that_is_too_large(engine, wide, call):
    params = {"settings": RunSettings(batch_size=10, call=call).to_json(), "samples": 100}
    result = engine.wait(engine.submit(Job("predict", {"model": wide}, params, Budget(600 << 20, 120), "tensorflow")))
    assert result.status is Status.OUT_OF_MEMORY
    assert result.phase == "collect"
    assert "fewer rows" in result.reason


def test_an_unknown_setting_is_named(engine):
    result = submit(engine, "predict", "digits_cnn", settings={"allow_growth": True})
    assert result.error == "BadSetting"
    assert "allow_growth" in result.reason


def _reshaped(tf1, tf):
    x = tf1.placeholder(tf.float32, [None, 6], name="x")
    tf.reduce_sum(tf.reshape(x, [4, 3, 2]), axis=1, name="out")


def _crossed(tf1, tf):
    x, y = (tf1.placeholder(tf.float32, [None, 4], name=name) for name in "xy")
    tf.matmul(x, y, transpose_b=True, name="out")


def _looked_up(tf1, tf):
    x, places = tf1.placeholder(tf.float32, None, name="x"), tf1.placeholder(tf.int32, None, name="y")
    tf.gather(x, places, name="out")


@pytest.mark.parametrize(
    ("build", "shapes", "answer"),
    [
        (_reshaped, {"x": (4, 6)}, lambda x: x.reshape(4, 3, 2).sum(axis=1)),
        (_crossed, {"x": (3, 4), "y": (5, 4)}, lambda x, y: x @ y.T),
        (_looked_up, {"x": (7, 4), "y": ()}, lambda x, y: x[y]),
    ],
)
def test_a_graph_takes_its_inputs_together_where_it_wants_them_so(engine, tmp_path, build, shapes, answer):
    """Nobody asked for one row alone, and arrays of other lengths are what the graph is made for."""
    import tensorflow as tf

    graph = tf.compat.v1.Graph()
    with graph.as_default():
        build(tf.compat.v1, tf)
    (tmp_path / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString(deterministic=True))
    random = np.random.default_rng(0)
    rows = {name: random.random(shape).astype(np.float32) if shape else np.int32(2) for name, shape in shapes.items()}
    np.savez(tmp_path / "rows.npz", **rows)
    files = {"model": ModelFile.at(tmp_path / "graph.pb"), "data": ModelFile.at(tmp_path / "rows.npz")}
    result = engine.wait(engine.submit(Job("predict", files, {}, Budget(3 << 30, 120), "tensorflow")))
    np.testing.assert_allclose(output(result), answer(**rows), rtol=1e-6)
    assert answer_of(result, Prediction).at_once


def test_rows_that_the_outputs_tell_of_are_taken_together(engine, tmp_path):
    """The inputs leave the number open, one row is refused, and nobody said eight."""
    import tensorflow as tf

    graph = tf.compat.v1.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, (None, 4), name="x")
        tf.reduce_sum(tf.reshape(x, (8, 2, 2)), 1, name="out")
    (tmp_path / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString(deterministic=True))
    rows = np.arange(80, dtype=np.float32).reshape(20, 4)
    np.savez(tmp_path / "rows.npz", x=rows)
    files = {"model": ModelFile.at(tmp_path / "graph.pb"), "data": ModelFile.at(tmp_path / "rows.npz")}
    for given in (files, {"model": files["model"]}):
        result = engine.wait(engine.submit(Job("predict", given, {}, Budget(3 << 30, 120), "tensorflow")))
        assert result.status is Status.OK, result.reason
        assert len(output(result)) == (20 if "data" in given else 32)
        if "data" in given:
            np.testing.assert_array_equal(output(result), rows.reshape(20, 2, 2).sum(axis=1))

"""Five ways of calling a model give the same outputs, and say how often they were traced."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.errors import BadInput, CannotRun
from stethoscope.memory.call_styles import caller
from stethoscope.memory.run_settings import CALLS, RunSettings
from tests.compare.consistency.numpy_model import FLOATS, NumpyRunner
from tests.memory.models import branches, opened, sequences


@pytest.fixture(scope="module", params=["keras", "tf_keras"])
def runner(request, tmp_path_factory):
    import importlib

    return opened(branches(importlib.import_module(request.param)), tmp_path_factory.mktemp(request.param))


def feed(rows: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(rows)
    return {
        "words": generator.integers(0, 20, (rows, 5)).astype(np.int32),
        "numbers": generator.random((rows, 8)).astype(np.float32),
    }


@pytest.mark.parametrize("style", CALLS)
def test_every_style_gives_the_model_s_outputs(runner, style):
    call = caller(runner, RunSettings(call=style, batch_size=4))
    expected, found = runner.predict(feed(7)), call(feed(7))
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert isinstance(found[name], np.ndarray)
        np.testing.assert_allclose(found[name], array, atol=1e-5)
    assert call.batches_itself is (style == "predict")
    call.close()


@pytest.mark.parametrize(("style", "xla"), [("predict", True), ("predict_on_batch", True), ("function", True)])
def test_xla_changes_no_output(runner, style, xla):
    call = caller(runner, RunSettings(call=style, xla=xla))
    np.testing.assert_allclose(call(feed(4))["kind"], runner.predict(feed(4))["kind"], atol=1e-5)
    call.close()
    assert caller(runner, RunSettings(call="predict"))(feed(2))["kind"].shape == (2, 3)
    assert runner.model.jit_compile is False


def traces(runner, style, sizes: int, **options) -> int | None:
    call = caller(runner, RunSettings(call=style, batch_size=64), **options)
    for rows in range(2, 2 + sizes):
        call(feed(rows))
    return call.traces


def test_traces_over_batch_sizes(runner):
    assert traces(runner, "function", 4, tracing="every shape") == 4
    assert traces(runner, "function", 4, tracing="signature") == 1
    assert traces(runner, "compiled", 3, tracing="signature") == 1
    assert traces(runner, "compiled", 3) == 3
    assert 1 <= traces(runner, "predict_on_batch", 8) <= 3
    assert 1 <= traces(runner, "function", 8) <= 3
    assert traces(runner, "call", 2) is None


def test_predict_tells_each_batch(runner):
    done: list[int] = []
    caller(runner, RunSettings(call="predict", batch_size=4), on_batch=done.append)(feed(10))
    assert done == [1, 2, 3]


def test_wrong_data_is_said_in_every_style(runner):
    for style in CALLS:
        with pytest.raises(BadInput, match="words"):
            caller(runner, RunSettings(call=style))({"numbers": feed(2)["numbers"]})


def test_an_eager_call_has_nothing_to_compile(runner):
    with pytest.raises(CannotRun, match="compiled"):
        caller(runner, RunSettings(call="call", xla=True))


def test_open_dimensions_stay_open_in_the_signature(tmp_path):
    import keras

    runner = opened(sequences(keras), tmp_path)
    call = caller(runner, RunSettings(), tracing="signature")
    (name,) = [spec.name for spec in runner.inputs]
    for rows, length in ((2, 3), (4, 7), (1, 5)):
        assert call({name: np.ones((rows, length, 4), np.float32)})["score"].shape == (rows, 2)
    assert call.traces == 1


def one_way():
    """A runner of a format that is no Keras model."""
    return NumpyRunner(FLOATS, [("add", "Add", lambda x: x + 1)], None)


def test_other_formats_have_one_style():
    runner = one_way()
    call = caller(runner, RunSettings())
    assert call({"x": np.zeros(1)})["y"][0] == 1
    assert call.traces is None
    for settings in (RunSettings(call="predict"), RunSettings(call="compiled"), RunSettings(xla=True)):
        with pytest.raises(CannotRun, match="Keras"):
            caller(runner, settings)

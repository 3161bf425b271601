"""Recurrent layers written out: no loop in the trace, the same answers, and the model as before."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.convert.float32_graphs import loop_of, unrolled
from stethoscope.compare.convert.traced import trace
from tests.compare.convert.sources import opened

FEED = {"steps": np.random.default_rng(6).normal(size=(3, 5, 2)).astype(np.float32)}


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_a_trace_without_a_loop_answers_the_same(package, tmp_path):
    import tensorflow as tf

    keras = pytest.importorskip(package)
    layers = keras.layers
    path = tmp_path / ("model.keras" if package == "keras" else "model.h5")
    keras.Sequential([layers.Input((5, 2), name="steps"), layers.Bidirectional(layers.LSTM(3)), layers.Dense(2)]).save(
        path
    )
    with opened(path, FEED, tmp_path / "scratch") as source:
        assert loop_of(trace(source), source) is not None
        with unrolled(source) as names:
            traced = trace(source)
        assert len(names) == 2
        assert loop_of(traced, source) is None
        (found,) = traced.function(tf.constant(FEED["steps"])).values()
        (expected,) = source.runner.predict(FEED).values()
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert loop_of(trace(source), source) is not None


def test_an_open_number_of_steps_stays_a_loop(tmp_path):
    import keras

    path = tmp_path / "model.keras"
    keras.Sequential([keras.layers.Input((None, 2), name="steps"), keras.layers.GRU(3, name="reader")]).save(path)
    with opened(path, FEED, tmp_path / "scratch") as source, unrolled(source) as names:
        assert names == []
        assert loop_of(trace(source), source) == ("While", "reader")

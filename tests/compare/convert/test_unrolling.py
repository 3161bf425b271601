"""Recurrent layers written out, or as loops over a fixed number of rows: the same answers, and the model as before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stethoscope.compare.convert import converter_to
from stethoscope.compare.convert.converter import CannotConvert, Options
from stethoscope.compare.convert.float32_graphs import loop_of, unrolled
from stethoscope.compare.convert.traced import trace
from tests.compare.convert.sources import Rows, answers, converted, opened

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


@pytest.mark.parametrize(("package", "rows"), [("keras", None), ("tf_keras", 2)])
def test_the_loop_of_a_saved_model_becomes_tflite(package, rows, tmp_path):
    """What it was saved with leaves the number of rows open, also inside; dropout counts its draws in a variable."""
    keras = pytest.importorskip(package)
    layers = keras.layers
    keras.utils.set_random_seed(4)
    steps = layers.Input((5, 2), name="steps")
    path = tmp_path / "saved"
    if package == "keras":
        read = layers.Bidirectional(layers.LSTM(3, dropout=0.2, return_sequences=True))(steps)
        keras.Model(steps, layers.Dense(2)(layers.GRU(3)(read))).export(path, verbose=False)
    else:
        keras.Model(steps, layers.LSTM(3)(steps)).save(path)
    feed = {"steps": FEED["steps"][: rows or 1]}
    with opened(path, feed, tmp_path / "scratch") as source:
        fed = replace(source, calibration=Rows(feed, in_call=rows or 1))
        made = converted(converter_to("tflite"), fed, tmp_path / "made", Options(batch_size=rows))
        assert made.options == (Options(batch_size=1) if rows is None else None)
        (expected,) = source.runner.predict(feed).values()
        (found,) = answers(made, source, feed, tmp_path / "run").values()
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_where_ranges_cannot_be_found_the_advice_converts(tmp_path):
    import keras

    layers = keras.layers
    steps = layers.Input((5, 2), name="steps")
    keras.Model(steps, layers.LSTM(3)(steps)).export(tmp_path / "saved", verbose=False)
    feed = {"steps": FEED["steps"][:1]}
    with opened(tmp_path / "saved", feed, tmp_path / "scratch") as source:
        with pytest.raises(CannotConvert) as refusal:
            converted(converter_to("tflite-int8"), source, tmp_path / "int8")
        (loop,) = refusal.value.unsupported
        assert loop.operator in ("While", "StatelessWhile") and "unroll" not in loop.way_round
        made = converted(converter_to("tflite-dynamic"), source, tmp_path / "dynamic")
        (expected,) = source.runner.predict(feed).values()
        (found,) = answers(made, source, feed, tmp_path / "run").values()
    np.testing.assert_allclose(found, expected, atol=0.02)

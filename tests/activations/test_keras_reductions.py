"""Statistics made inside the traced call are those of the outputs themselves, for every way of building a Keras model."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from stethoscope.activations.reach import reachable
from stethoscope.activations.reduced import reduce_array
from stethoscope.activations.watching import Watching
from tests.models.formats.test_keras_running import opened, random_feed, saved, two_towers

WRITTEN = """
import keras
import tensorflow as tf


@keras.saving.register_keras_serializable("{name}")
class Net(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.before = keras.layers.Dense(4, activation="relu", name="before")
        self.often = keras.layers.Dense(4, name="often")
        self.after = keras.layers.Dense(2, name="after")

    @tf.function
    def in_function(self, x):
        return self.often(x)

    def call(self, x):
        x = self.in_function(self.before(x))
        _, x = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, self.loop(v)), [0, x])
        return self.after(x)

    def loop(self, x):
        return keras.ops.tanh(x)
"""


def compared(architecture: Any, runner: Any, feed: Any, rows: int) -> set[str]:
    """Holds every reduction against numpy's of the output that the eager call gives; returns the keys."""
    watching = Watching(
        architecture, runner, [p for p, why in reachable(architecture, runner).items() if not why], 1 << 30
    )
    found = watching.reduce(feed)
    assert "inside the runtime" in watching.way
    outputs = runner.activations(feed)
    for key, parts in found.items():
        array = outputs.get(key, feed.get(key))
        expected = reduce_array(array, watching.layout(key, array.ndim), rows)
        for name in ("mean", "m2", "low", "high", "zeros", "row_high"):
            np.testing.assert_allclose(parts[name], expected[name], rtol=1e-4, atol=1e-4, err_msg=f"{key} {name}")
        assert int(parts.get("bad", 0)) == expected["bad"], key
    assert set(outputs) <= set(found)
    return set(found)


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_nested_and_shared_layers(package, tmp_path):
    file, architecture = saved(two_towers(importlib.import_module(package)), tmp_path, ".keras")
    with opened(file, tmp_path) as runner:
        keys = compared(architecture, runner, random_feed(runner, 5), 5)
        assert {"tower/d1", "tower/d1#2", "shared", "shared#2"} <= keys


def test_recurrent_convolutional_and_channels_first(tmp_path):
    import keras

    layers = keras.layers
    sound, image = keras.Input((12, 3), name="sound"), keras.Input((3, 9, 7), name="image")
    first = layers.Bidirectional(layers.LSTM(4, return_sequences=True), name="both")(sound)
    first = layers.TimeDistributed(layers.Dense(5, activation="relu"), name="each")(first)
    first = layers.GlobalAveragePooling1D(name="mean")(first)
    second = layers.Permute((2, 3, 1), name="turned")(image)
    second = layers.SeparableConv2D(6, 3, activation="relu6", name="conv")(second)
    second = layers.Flatten(name="flat")(layers.Activation("sigmoid", name="squash")(second))
    model = keras.Model([sound, image], layers.Dense(2, name="out")(layers.Concatenate(name="all")([first, second])))
    file, architecture = saved(model, tmp_path, ".keras")
    with opened(file, tmp_path) as runner:
        compared(architecture, runner, random_feed(runner, 4), 4)
        runner_times = runner.layer_times(random_feed(runner, 4))
        assert runner_times["conv"] > 0 and runner_times["both"] > 0


def test_layers_behind_a_function_of_the_models_own(tmp_path, monkeypatch):
    (tmp_path / "written_net.py").write_text(WRITTEN.format(name="written"))
    monkeypatch.syspath_prepend(str(tmp_path))
    model = importlib.import_module("written_net").Net()
    model(np.ones((1, 3), "float32"))
    file, architecture = saved(model, tmp_path, ".keras")
    with opened(file, tmp_path, trusted=True) as runner:
        feed = {runner.inputs[0].name: np.random.default_rng(0).normal(size=(6, 3)).astype("float32")}
        seen = [path for path, why in reachable(architecture, runner).items() if not why]
        assert set(seen) == {"before", "often", "after"}
        found = Watching(architecture, runner, seen, 1 << 30).reduce(feed)
        assert list(found) == ["before", "often", "after"]
        expected = model.before(feed[runner.inputs[0].name])
        np.testing.assert_allclose(found["before"]["mean"], np.asarray(expected).mean(0), atol=1e-6)


def test_nan_in_one_batch_is_counted_from_then_on(tmp_path):
    import keras

    model = keras.Sequential([keras.layers.Input((4,), name="x"), keras.layers.Dense(3, name="d")])
    file, architecture = saved(model, tmp_path, ".keras")
    with opened(file, tmp_path) as runner:
        name = runner.inputs[0].name
        watching = Watching(architecture, runner, ["d"], 1 << 30)
        rows = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")
        assert int(watching.reduce({name: rows})["d"]["bad"]) == 0
        spoilt = rows.copy()
        spoilt[2, 0], spoilt[5, 1] = np.nan, np.nan
        found = watching.reduce({name: spoilt})["d"]
        good = np.asarray(model(np.delete(rows, [2, 5], axis=0)))
        assert int(found["bad"]) == 6
        np.testing.assert_allclose(found["mean"], good.mean(0), atol=1e-6)
        np.testing.assert_allclose(found["high"], good.max(0), atol=1e-6)
        assert int(watching.reduce({name: rows})["d"]["bad"]) == 0


@pytest.mark.parametrize("heads", ["MultiHeadAttention", "GroupQueryAttention", "Attention"])
def test_attention_scores_are_those_keras_returns(heads, tmp_path):
    import keras

    layers = keras.layers
    made = {
        "MultiHeadAttention": lambda: layers.MultiHeadAttention(2, 4, name="attend"),
        "GroupQueryAttention": lambda: layers.GroupQueryAttention(4, 4, 2, name="attend"),
        "Attention": lambda: layers.Attention(name="attend"),
    }[heads]()
    x = keras.Input((6, 8), name="x")
    result = made([x, x]) if heads == "Attention" else made(x, x)
    model = keras.Model(x, layers.Dense(3, activation="softmax", name="tags")(result))
    file, _ = saved(model, tmp_path, ".keras")
    with opened(file, tmp_path) as runner:
        values = np.random.default_rng(0).normal(size=(3, 6, 8)).astype("float32")
        found = runner.attention({runner.inputs[0].name: values}, ["attend", "tags"])
        asked = (
            made([values, values], return_attention_scores=True)
            if heads == "Attention"
            else made(values, values, return_attention_scores=True)
        )
        assert list(found) == ["attend"] and len(found["attend"]) == 1
        np.testing.assert_allclose(found["attend"][0], np.asarray(asked[1]), atol=1e-6)

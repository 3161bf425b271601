"""TensorFlow's converter without its copies: the same answers under the same names, and equal weights in the file once."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.convert import converter_to, lean_tflite
from stethoscope.compare.convert.traced import freeze, trace
from tests.compare.convert.sources import answers, converted, opened, two_ends

UNITS = 256


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    """Two layers with the same kernel, and two with kernels of their own."""
    import keras

    found = {}
    for name, seeds in {"equal": (1, 1), "distinct": (1, 2)}.items():
        layers = [
            keras.layers.Dense(UNITS, "tanh", kernel_initializer=keras.initializers.GlorotNormal(seed=seed))
            for seed in seeds
        ]
        model = keras.Sequential([keras.Input((UNITS,), name="rows"), *layers])
        found[name] = tmp_path_factory.mktemp(name) / f"{name}.keras"
        model.save(found[name])
    return found


@pytest.mark.parametrize("target", ["tflite", "tflite-dynamic"])
def test_weights_that_are_equal_stand_in_the_file_once(blocks, target, tmp_path):
    feed = {"rows": np.random.default_rng(0).normal(size=(3, UNITS)).astype(np.float32)}
    sizes = {}
    for name, path in blocks.items():
        with opened(path, feed, tmp_path / name) as source:
            before = source.runner.predict(feed)
            made = converted(converter_to(target), source, tmp_path / f"{name}_made")
            after = answers(made, source, feed, tmp_path / f"{name}_opened")
        sizes[name] = made.path.stat().st_size
        for output, values in before.items():
            np.testing.assert_allclose(after[output], values, atol=0.05)
    assert sizes["distinct"] > 1.7 * sizes["equal"]


def test_what_is_written_is_a_saved_model_with_the_names_of_the_source(tmp_path):
    import tensorflow as tf

    model, feed = two_ends()
    model.save(tmp_path / "model.keras")
    with opened(tmp_path / "model.keras", feed, tmp_path / "scratch") as source:
        before = source.runner.predict(feed)
        traced = trace(source)
        graph = lean_tflite.write(freeze(traced, "model.keras"), traced, tmp_path / "written")
    assert not any(node.op == "Const" for node in graph.node)
    signature = tf.saved_model.load(str(tmp_path / "written")).signatures["serving_default"]
    after = signature(**{name: tf.constant(array) for name, array in feed.items()})
    assert after.keys() == before.keys()
    for name, array in before.items():
        np.testing.assert_allclose(after[name].numpy(), array, atol=1e-6)

"""Models in half or double precision become float32 for runtimes that have nothing else, and answer as before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stethoscope.compare.convert import converter_to
from stethoscope.compare.convert.float32_graphs import in_float32, other_floats
from stethoscope.types import Feed
from tests.compare.convert.sources import answers, converted, opened

DTYPES = ("bfloat16", "float16", "float64")
ROWS = np.random.default_rng(4).normal(size=(3, 8, 8, 3)).astype(np.float32)


def convolution(folder: Any, policy: str) -> Feed:
    """A Keras 3 model with a convolution in another precision, and what it says to ROWS."""
    import keras

    keras.utils.set_random_seed(1)
    layers = keras.layers
    image = keras.Input((8, 8, 3), name="image")
    inner = layers.BatchNormalization(dtype=policy)(
        layers.Conv2D(4, 3, activation="relu", dtype=policy, name="first")(image)
    )
    keras.Model(image, layers.Dense(2, name="score")(layers.GlobalAveragePooling2D()(inner))).save(
        folder / "model.keras"
    )
    return {"image": ROWS}


@pytest.mark.parametrize(
    ("policy", "target"), [("mixed_float16", "tflite"), ("mixed_bfloat16", "onnx"), ("float64", "tflite-int8")]
)
def test_a_model_in_another_precision_runs_in_its_target(policy, target, tmp_path):
    feed = convolution(tmp_path, policy)
    with opened(tmp_path / "model.keras", feed, tmp_path / "scratch") as source:
        made = converted(converter_to(target), source, tmp_path / "made")
        expected, found = source.runner.predict(feed), answers(made, source, feed, tmp_path / "again")
    assert any("float32" in note for note in made.notes)
    np.testing.assert_allclose(found["score"], expected["score"], atol=0.05)


@pytest.mark.parametrize("dtype", DTYPES)
def test_bodies_of_loops_and_constants_change_too(dtype):
    import tensorflow as tf

    def looped(x: Any) -> Any:
        half = tf.cast(x, dtype) * tf.constant([1.5, -2.0, 0.25], dtype)
        return tf.cast(tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y + half), (0, half))[1], tf.float32)

    function = tf.function(looped, input_signature=[tf.TensorSpec((2, 3))], autograph=False).get_concrete_function()
    definition = function.graph.as_graph_def()
    assert other_floats(definition, DTYPES) == [dtype]
    in_float32(definition, DTYPES)
    assert other_floats(definition, DTYPES) == []
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        (output,) = tf.import_graph_def(definition, return_elements=[function.outputs[0].name], name="")
        found = session.run(output, {function.inputs[0].name: rows})
    np.testing.assert_allclose(found, 4 * rows * np.array([1.5, -2.0, 0.25]), rtol=1e-6)

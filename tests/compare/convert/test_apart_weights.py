"""Weights kept out of a translation to ONNX and put back: the file says what the model says, and holds each weight once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from stethoscope.compare.convert import all_converters, apart_weights
from stethoscope.compare.convert.apart_weights import Step
from stethoscope.models.formats import detect
from stethoscope.types import Feed, ModelFile
from tests.compare.convert.sources import answers, converted, opened

ONNX = all_converters()["onnx"]
DRAWS = np.random.default_rng(5)


def _many_kinds() -> tuple[Any, Feed]:
    """Everything that takes a weight: convolutions, embeddings, matrix products of several ranks, a weight of two layers."""
    import keras

    layers = keras.layers
    image, words = keras.Input((8, 8, 3), name="image"), keras.Input((5,), dtype="int32", name="words")
    x = layers.Conv2D(6, 3, padding="same", activation="relu")(image)
    x = layers.DepthwiseConv2D(3)(layers.Conv2DTranspose(4, 2, strides=2)(x))
    x = layers.Dense(7)(layers.GlobalAveragePooling2D()(x))
    y = layers.Embedding(20, 8)(words)
    y = layers.MultiHeadAttention(2, 4)(y, y)
    twice = layers.Dense(8, use_bias=False)
    y = layers.Conv1D(7, 2)(twice(twice(y)))
    y = layers.Dense(7, "relu")(y)  # of three dimensions
    out = layers.Dense(3, name="out")(layers.Add()([x, layers.GlobalMaxPooling1D()(y)]))
    model = keras.Model([image, words], out)
    for weight in model.weights:
        weight.assign(DRAWS.normal(0, 0.4, weight.shape).astype(np.float32))
    feed = {
        "image": DRAWS.normal(size=(4, 8, 8, 3)).astype(np.float32),
        "words": DRAWS.integers(0, 20, (4, 5)).astype(np.int32),
    }
    return model, feed


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> tuple[Path, Feed]:
    made, feed = _many_kinds()
    path = tmp_path_factory.mktemp("kinds") / "kinds.keras"
    made.save(path)
    return path, feed


@pytest.fixture
def everything_apart(monkeypatch):
    """As if weights of a few bytes were large."""
    monkeypatch.setattr(apart_weights, "LARGE_BYTES", 64)
    monkeypatch.setattr(apart_weights, "TOGETHER_BYTES", 64)


@pytest.mark.parametrize("beside", [False, True], ids=["in one file", "in a second file"])
def test_the_file_answers_as_the_model(model, everything_apart, monkeypatch, tmp_path, beside):
    path, feed = model
    if beside:
        monkeypatch.setattr(apart_weights, "ONE_FILE_BYTES", 1000)
    with opened(path, feed, tmp_path / "source") as source:
        expected = source.runner.predict(feed)
        made = converted(ONNX, source, tmp_path / "made")
        found = answers(made, source, feed, tmp_path / "target")
    np.testing.assert_allclose(found["out"], expected["out"], atol=1e-5)
    onnx.checker.check_model(str(made.path), full_check=True)
    graph = onnx.load(str(made.path)).graph
    assert {value.name for value in graph.input} == {"image", "words"}
    weights = sum(np.prod(one.dims) * 4 for one in graph.initializer if one.data_type == onnx.TensorProto.FLOAT)
    assert weights < 1.2 * sum(value.nbytes for value in source_weights(path))
    assert made.path.with_name("model.onnx.data").exists() is beside
    assert bool(made.notes) is beside
    assert detect(ModelFile.at(made.path)).describe(ModelFile.at(made.path)).parameters > 500


def source_weights(path: Path) -> list[np.ndarray]:
    import keras

    return [np.asarray(one) for one in keras.models.load_model(path).weights]


def test_only_weights_that_are_taken_whole_are_kept_apart(everything_apart):
    import tensorflow as tf

    kept, added = tf.constant(DRAWS.normal(size=(8, 8)), tf.float32), tf.constant(DRAWS.normal(size=(8, 8)), tf.float32)
    function = tf.function(lambda x: tf.sort(x @ kept + tf.sort(added)), input_signature=[tf.TensorSpec((8, 8))])
    definition = function.get_concrete_function().graph.as_graph_def()
    found = apart_weights.take_apart(definition)
    assert len(found.tensors) == 1
    np.testing.assert_array_equal(found.array(next(iter(found.tensors))), kept.numpy())


def test_a_small_model_is_left_as_it_is():
    import tensorflow as tf

    kept = tf.constant(DRAWS.normal(size=(200, 200)), tf.float32)
    function = tf.function(lambda x: x @ kept, input_signature=[tf.TensorSpec((1, 200))])
    definition = function.get_concrete_function().graph.as_graph_def()
    before = definition.SerializeToString(deterministic=True)
    assert not apart_weights.take_apart(definition).tensors
    assert definition.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize(
    ("step", "shape"),
    [
        (Step(), (2, 1, 3)),
        (Step(order=(2, 0, 1)), (3, 2, 1)),
        (Step(shape=(3, -1)), (3, 2)),
        (Step(insert=(0, 4)), (1, 2, 1, 3, 1)),
        (Step(remove=(1,)), (2, 3)),
    ],
)
def test_a_step_changes_order_or_shape_alone(step, shape):
    array = np.arange(6).reshape(2, 1, 3)
    found = step.applied(array)
    assert found.shape == shape
    assert sorted(found.reshape(-1)) == sorted(array.reshape(-1))

"""Models whose graph reaches outside of itself: tables are named, with the layer, for every target that keeps none."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.convert import converter_to
from stethoscope.compare.convert.converter import CannotConvert
from tests.compare.convert.sources import answers, converted, opened

FEED = {"x": np.array([1, 5, 7], np.int64)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import tensorflow as tf

    found = tmp_path_factory.mktemp("table") / "table"
    module = tf.Module()
    pairs = tf.lookup.KeyValueTensorInitializer(tf.constant([1, 5, 9], tf.int64), tf.constant([0, 1, 2], tf.int64))
    module.table = tf.lookup.StaticHashTable(pairs, 3)
    module.rows = tf.Variable(np.eye(4, dtype=np.float32))
    signature = [tf.TensorSpec((None,), tf.int64, name="x")]
    call = tf.function(lambda x: {"y": tf.gather(module.rows, module.table.lookup(x))}, input_signature=signature)
    tf.saved_model.save(module, str(found), signatures={"serving_default": call})
    return found


@pytest.mark.parametrize("target", ["onnx", "tflite", "tflite-int16x8", "frozen_graph"])
def test_a_table_is_named(folder, target, tmp_path):
    with opened(folder, FEED, tmp_path / "scratch") as source, pytest.raises(CannotConvert) as told:
        converted(converter_to(target), source, tmp_path / "made")
    (one,) = told.value.unsupported
    assert one.operator == "LookupTableFindV2" and one.layer and "SavedModel" in one.way_round
    assert one.layer in str(told.value)


def test_a_saved_model_keeps_it(folder, tmp_path):
    with opened(folder, FEED, tmp_path / "scratch") as source:
        made = converted(converter_to("saved_model"), source, tmp_path / "made")
        found = answers(made, source, FEED, tmp_path / "again")
    np.testing.assert_array_equal(found["y"], np.eye(4, dtype=np.float32)[[0, 1, 3]])

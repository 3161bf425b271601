"""Weights read from files of every format are those that their frameworks read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, external_data_helper, helper, numpy_helper, save

from stethoscope.errors import StethoscopeError, UnreadableFile
from stethoscope.models.model_format import StoredWeight
from stethoscope.models.weights.weight_statistics import opened
from stethoscope.types import ModelFile
from tests.frameworks import keras
from tests.frameworks import layers as L
from tests.models.formats.tflite_specimens import pack, tiny


def values(weight: StoredWeight) -> np.ndarray:
    return np.concatenate([np.asarray(piece).ravel() for piece in weight.pieces()]).reshape(weight.shape)


@pytest.fixture(scope="module")
def model():
    x = keras.Input((6, 6, 2), name="x")
    inner = keras.Sequential([keras.Input((6, 6, 3)), L.Conv2D(4, 3, name="deep")], name="inner")
    y = inner(L.BatchNormalization(name="norm")(L.Conv2D(3, 1, name="first")(x)))
    out = L.Dense(5, name="last")(L.GlobalAveragePooling2D()(y))
    made = keras.Model(x, out, name="model")
    rng = np.random.default_rng(0)
    made.set_weights([rng.normal(size=w.shape).astype(w.dtype) for w in made.get_weights()])
    return made


EXPECTED = {"first": ["kernel", "bias"], "inner/deep": ["kernel", "bias"], "last": ["kernel", "bias"]}


@pytest.mark.parametrize("suffix", ["keras", "h5"])
def test_keras_files(model, suffix, tmp_path):
    path = tmp_path / f"m.{suffix}"
    model.save(path)
    live = {
        "first": model.get_layer("first"),
        "inner/deep": model.get_layer("inner").get_layer("deep"),
        "last": model.get_layer("last"),
    }
    with opened(ModelFile.at(path)) as found:
        for layer, names in EXPECTED.items():
            by_name = {weight.name: weight for weight in found[layer]}
            for name in names:
                np.testing.assert_array_equal(values(by_name[name]), np.asarray(getattr(live[layer], name)))
                assert by_name[name].trainable is True
        assert {weight.name: weight.trainable for weight in found["norm"]} == {
            "gamma": True,
            "beta": True,
            "moving_mean": False,
            "moving_variance": False,
        }


def test_a_saved_model_and_a_frozen_graph(model, tmp_path):
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    model.export(tmp_path / "exported", verbose=False)
    call = tf.function(lambda x: model(x, training=False)).get_concrete_function(tf.TensorSpec((1, 6, 6, 2)))
    graph = convert_variables_to_constants_v2(call).graph.as_graph_def()
    (tmp_path / "frozen.pb").write_bytes(graph.SerializeToString())
    kernel = np.asarray(model.get_layer("inner").get_layer("deep").kernel)
    for path in (tmp_path / "exported", tmp_path / "frozen.pb"):
        with opened(ModelFile.at(path)) as found:
            same = [w for weights in found.values() for w in weights if w.shape == kernel.shape]
            assert len(same) == 1
            np.testing.assert_array_equal(values(same[0]), kernel)


def onnx_model(weight: TensorProto, path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="project")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
        [weight],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


KERNEL = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_onnx_initializers_raw_typed_and_beside(tmp_path):
    raw = numpy_helper.from_array(KERNEL, "w")
    typed = helper.make_tensor("w", TensorProto.FLOAT, (4, 3), KERNEL.ravel().tolist())
    beside = numpy_helper.from_array(KERNEL, "w")
    (tmp_path / "w.bin").write_bytes(b"----" + KERNEL.tobytes())
    external_data_helper.set_external_data(beside, "w.bin", offset=4, length=48)
    beside.ClearField("raw_data")
    for name, tensor in {"raw": raw, "typed": typed, "beside": beside}.items():
        path = tmp_path / f"{name}.onnx"
        onnx_model(tensor, path)
        with opened(ModelFile.at(path)) as found:
            np.testing.assert_array_equal(values(found["project"][0]), KERNEL)


def test_onnx_data_that_did_not_come_along_is_refused(tmp_path):
    beside = numpy_helper.from_array(KERNEL, "w")
    external_data_helper.set_external_data(beside, "gone.bin", offset=0, length=48)
    beside.ClearField("raw_data")
    onnx_model(beside, tmp_path / "m.onnx")
    with pytest.raises(StethoscopeError, match=r"gone\.bin"), opened(ModelFile.at(tmp_path / "m.onnx")):
        pass


def test_tflite_weights_are_dequantised(tmp_path):
    import tensorflow as tf

    model = keras.Sequential([keras.Input((64,)), L.Dense(48, use_bias=False)])
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    (tmp_path / "m.tflite").write_bytes(converter.convert())
    kernel = np.asarray(model.layers[0].kernel)
    with opened(ModelFile.at(tmp_path / "m.tflite")) as found:
        (held,) = [weight for weights in found.values() for weight in weights]
        assert held.dtype == "int8"
        assert held.quantisation
        np.testing.assert_allclose(values(held), kernel.T, atol=np.abs(kernel).max() / 100)


@pytest.mark.parametrize("cut", [30, 200, 400])
def test_damaged_files_give_a_sentence(cut, tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes(pack(tiny())[:cut])
    with pytest.raises(UnreadableFile, match=r"m\.tflite"), opened(ModelFile.at(path)):
        pass

"""Two models exchanged say the same: how far they are apart, and where they part."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.codec import answer_of
from stethoscope.compare.parity.comparison import Comparison
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.deterministic import begin, save
from tests.frameworks import keras
from tests.frameworks import layers as L

MEASURES = ("max_abs_diff", "mean_abs_diff", "max_rel_diff", "nrmse", "cosine", "sqnr_db")
AGREEMENTS = ("top1_agreement", "top5_agreement", "nonfinite", "equal", "within")


def network(*, normal=True):
    begin(3)
    image = keras.Input((8, 8, 3), name="image")
    x = L.Conv2D(6, 3, activation="relu", name="first")(image)
    if normal:
        x = L.BatchNormalization(name="normal")(x)
    x = L.Conv2D(4, 3, name="second")(x)
    x = L.Activation("relu", name="relu")(x)
    model = keras.Model(image, L.Dense(5, activation="softmax", name="classes")(L.Flatten(name="flat")(x)))
    random = np.random.default_rng(0)
    for name in ("first", "second", "classes"):
        layer = model.get_layer(name)
        layer.set_weights([random.normal(0, 0.3, weight.shape) for weight in layer.get_weights()])
    if normal:
        model.get_layer("normal").set_weights([random.uniform(0.5, 2, 6) for _ in range(4)])
    return model


def converted(model, folder, name, rows=None):
    import tensorflow as tf

    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if rows is not None:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([row[None]] for row in rows)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    (folder / name).write_bytes(converter.convert())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("exchanged")
    rows = np.random.default_rng(1).uniform(-1, 1, (12, 8, 8, 3)).astype(np.float32)
    np.savez(made / "data.npz", x=rows, y=np.arange(12) % 5)
    save(network(), made / "right.keras")
    save(network(normal=False), made / "removed.keras")
    changed = network()
    kernel, bias = changed.get_layer("second").get_weights()
    changed.get_layer("second").set_weights([kernel * 1.5, bias])
    save(changed, made / "changed.keras")
    converted(network(), made, "right.tflite")
    converted(network(), made, "quantised.tflite", rows)
    converted(changed, made, "changed.tflite")
    return made


def compared(engine, folder, a, b) -> Comparison:
    files = {"model": a, "other": b, "data": "data.npz"}
    job = Job(
        "compare",
        {role: ModelFile.at(folder / name) for role, name in files.items()},
        {"trusted": True, "trusted_other": True},
        Budget(4 << 30, 200),
        "tensorflow",
    )
    result = engine.wait(engine.submit(job), 300)
    assert result.status is Status.OK, result.reason
    return answer_of(result, Comparison)


@pytest.mark.parametrize(
    ("a", "b", "verdict", "place"),
    [
        ("right.keras", "right.tflite", "within_tolerance", ""),
        ("right.keras", "quantised.tflite", "within_tolerance", ""),
        ("right.keras", "changed.keras", "different", "second"),
        ("right.keras", "changed.tflite", "different", "relu"),
        ("right.keras", "removed.keras", "different", "second"),
        ("right.tflite", "changed.tflite", "different", ""),
    ],
)
def test_two_models_exchanged_say_the_same(engine, folder, a, b, verdict, place):
    there, back = compared(engine, folder, a, b), compared(engine, folder, b, a)
    assert there.verdict == back.verdict == verdict
    assert [(output.a, output.b) for output in there.outputs] == [(output.b, output.a) for output in back.outputs]
    for one, other in zip(there.outputs, back.outputs, strict=True):
        assert [getattr(one, name) for name in AGREEMENTS] == [getattr(other, name) for name in AGREEMENTS]
        for name in MEASURES:
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-6), name
    assert there.tolerance == back.tolerance
    by_pair = {(row.a, row.b): row for row in there.layers}
    mirrored = [row for row in back.layers if (row.b, row.a) in by_pair]
    assert len(mirrored) >= max(3, len(back.layers) - 1)
    for row in mirrored:
        assert row.nrmse == pytest.approx(by_pair[row.b, row.a].nrmse, rel=1e-6)
        assert row.same == by_pair[row.b, row.a].same
    if verdict == "within_tolerance":
        assert there.first_divergence is None
        assert back.first_divergence is None
        return
    assert there.first_divergence.place == back.first_divergence.place[::-1]
    assert there.first_divergence.nrmse == pytest.approx(back.first_divergence.nrmse, rel=1e-6)
    if place:
        assert there.first_divergence.place[0] == place


def in_uint8(folder):
    """A quantised ONNX graph, integers in and out, and what it stands for in real numbers."""
    from onnx import TensorProto, checker, helper, save_model

    kernel = (np.arange(12).reshape(4, 3) / 12 - 0.4).astype(np.float32)

    def constants(scale, zero, name):
        return (
            helper.make_tensor(f"{name}_scale", TensorProto.FLOAT, [], [scale]),
            helper.make_tensor(f"{name}_zero", TensorProto.UINT8, [], [zero]),
        )

    nodes = [
        helper.make_node("MatMul", ["real", "kernel"], ["product"], name="product"),
        helper.make_node("Relu", ["product"], ["positive"], name="positive"),
    ]
    weights = [helper.make_tensor("kernel", TensorProto.FLOAT, kernel.shape, kernel.tobytes(), raw=True)]
    whole = [
        helper.make_node("DequantizeLinear", ["x", "in_scale", "in_zero"], ["real"], name="taken"),
        *nodes,
        helper.make_node("QuantizeLinear", ["positive", "out_scale", "out_zero"], ["y"], name="given"),
    ]
    for name, made, kinds, stored in (
        ("integers", whole, TensorProto.UINT8, [*constants(0.02, 128, "in"), *constants(0.01, 3, "out")]),
        (
            "reals",
            [helper.make_node("Identity", ["x"], ["real"]), *nodes, helper.make_node("Identity", ["positive"], ["y"])],
            TensorProto.FLOAT,
            [],
        ),
    ):
        graph = helper.make_graph(
            made,
            "net",
            [helper.make_tensor_value_info("x", kinds, ["rows", 4])],
            [helper.make_tensor_value_info("y", kinds, ["rows", 3])],
            [*weights, *stored],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        checker.check_model(model)
        save_model(model, folder / f"{name}.onnx")


@pytest.mark.parametrize(("a", "b"), [("integers", "reals"), ("reals", "integers"), ("integers", "integers")])
def test_integers_are_the_real_numbers_they_stand_for(engine, tmp_path, a, b):
    in_uint8(tmp_path)
    files = {"model": ModelFile.at(tmp_path / f"{a}.onnx"), "other": ModelFile.at(tmp_path / f"{b}.onnx")}
    result = engine.wait(engine.submit(Job("compare", files, {"rows": 16}, Budget(2 << 30, 60), "light")))
    assert result.status is Status.OK, result.reason
    found = answer_of(result, Comparison)
    assert found.verdict == ("equal" if a == b else "within_tolerance")
    assert found.outputs[0].max_abs_diff <= 0.02  # half a step of the answer, and of each input


def varied(scale=1 / 255, offset=0.0, *, twice=False):
    """A network with another scaling of its input, or with a layer that reads one of its inputs twice."""
    begin(5)
    image = keras.Input((8, 8, 3), name="image")
    x = L.Conv2D(6, 3, padding="same", name="first")(L.Rescaling(scale, offset, name="scaling")(image))
    left = L.Activation("relu", name="left")(x)
    right = L.Conv2D(6, 3, padding="same", name="right")(left)
    both = L.Concatenate(name="both")([right, right] if twice else [left, right])
    return keras.Model(image, L.Dense(4, name="classes")(L.GlobalAveragePooling2D(name="pool")(both)))


@pytest.mark.parametrize(
    ("other", "layer", "cause", "tried"),
    [({"scale": 1 / 127.5, "offset": -1.0}, "scaling", "scale", True), ({"twice": True}, "both", "wiring", False)],
)
def test_the_cause_is_the_same_from_either_side(engine, tmp_path, other, layer, cause, tried):
    save(varied(), tmp_path / "a.keras")
    save(varied(**other), tmp_path / "b.keras")
    told = []
    for a, b in (("a", "b"), ("b", "a")):
        files = {"model": ModelFile.at(tmp_path / f"{a}.keras"), "other": ModelFile.at(tmp_path / f"{b}.keras")}
        result = engine.wait(engine.submit(Job("compare", files, {"rows": 16}, Budget(3 << 30, 120), "tensorflow")))
        told.append(answer_of(result, Comparison).first_divergence)
    assert [(one.layer, one.cause_id) for one in told] == [(layer, cause)] * 2
    assert told[0].confidence == told[1].confidence
    assert (told[0].confidence >= 0.97) is tried
    assert told[0].sentence != told[1].sentence


def test_a_model_that_cannot_be_run_is_told_apart_by_its_configuration(engine, tmp_path):
    def built(activation):
        x = keras.Input((4,), name="x")
        return keras.Model(x, L.Dense(3, activation=activation, name="last")(x))

    begin(1)
    save(built("relu"), tmp_path / "a.keras")
    own = keras.saving.register_keras_serializable("mine")(lambda x: x)
    save(built(own), tmp_path / "b.keras")
    files = {"model": ModelFile.at(tmp_path / "a.keras"), "other": ModelFile.at(tmp_path / "b.keras")}
    result = engine.wait(engine.submit(Job("compare", files, {"rows": 4}, Budget(3 << 30, 120), "tensorflow")))
    assert result.status is not Status.OK
    assert "'last'" in result.reason and "relu" in result.reason

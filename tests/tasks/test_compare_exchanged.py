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

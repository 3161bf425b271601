"""The compare job: the same model in other forms, and models with one fault each, in a contained worker."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.codec import answer_of
from stethoscope.compare.parity.comparison import Comparison
from stethoscope.compare.parity.precision import parse_way
from stethoscope.tasks.record import Compared, comparison_job
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.answers import BUILT, with_another_bias
from tests.deterministic import begin, save
from tests.frameworks import keras
from tests.frameworks import layers as L


def vision(epsilon=1e-3, *, shift=False, training=False, scaling=True, resize="bilinear"):
    begin(1)
    image = keras.Input((12, 12, 3), name="image")
    x = L.Rescaling(1 / 127.5, -1, name="scaling")(image) if scaling else image
    x = L.Conv2D(6, 3, padding="same", name="first")(x)
    x = L.BatchNormalization(epsilon=epsilon, name="normal")(x, **({"training": True} if training else {}))
    x = L.Activation("relu", name="relu")(x)
    if shift:
        x = L.ZeroPadding2D(((0, 2), (0, 2)), name="pad")(x)
    x = L.Conv2D(4, 3, padding="valid" if shift else "same", name="second")(x)
    x = L.UpSampling2D(2, interpolation=resize, name="up")(x)
    x = L.GlobalAveragePooling2D(name="pool")(L.Activation("relu", name="relu2")(x))
    return keras.Model(image, L.Dense(5, activation="softmax", name="classes")(x))


def trained(model):
    random = np.random.default_rng(0)
    for layer in model.layers:
        if layer.get_weights():
            layer.set_weights(
                [
                    random.uniform(0.2, 1.0, weight.shape) * random.choice([-1, 1], weight.shape)
                    if "variance" not in path
                    else random.uniform(0.5, 2, weight.shape)
                    for path, weight in zip([w.path for w in layer.weights], layer.get_weights(), strict=True)
                ]
            )
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("compare")
    right = trained(vision())
    save(right, made / "right.keras")
    for name, settings in {
        "epsilon": {"epsilon": 0.3},
        "shifted": {"shift": True},
        "in_training": {"training": True},
        "unscaled": {"scaling": False},
        "nearest": {"resize": "nearest"},
    }.items():
        save(trained(vision(**settings)), made / f"{name}.keras")
    for name in ("epsilon", "right", "in_training", "nearest"):
        model = keras.saving.load_model(made / f"{name}.keras")
        model.export(made / f"{name}_saved", verbose=False)
    import tensorflow as tf

    for name in ("right", "epsilon", "shifted"):
        model = keras.saving.load_model(made / f"{name}.keras")
        (made / f"{name}.tflite").write_bytes(tf.lite.TFLiteConverter.from_keras_model(model).convert())
    random = np.random.default_rng(0)
    np.savez(made / "data.npz", x=random.uniform(0, 255, (12, 12, 12, 3)).astype(np.float32), y=np.arange(12) % 5)
    return made


def compared(engine, folder, a, b, **params):
    files = {
        "model": ModelFile.at(folder / a),
        "other": ModelFile.at(folder / b),
        "data": ModelFile.at(folder / "data.npz"),
    }
    params = {"trusted": True, "trusted_other": True, **params}
    return engine.wait(engine.submit(Job("compare", files, params, Budget(4 << 30, 200), "tensorflow")), 300)


def answered(result) -> Comparison:
    assert result.status is Status.OK, result.reason
    return answer_of(result, Comparison)


@pytest.mark.parametrize("other", ["right.keras", "right_saved", "right.tflite"])
def test_the_same_model_says_the_same(engine, folder, other):
    answer = answered(compared(engine, folder, "right.keras", other))
    assert answer.verdict in ("equal", "within_tolerance")
    assert answer.first_divergence is None
    assert answer.top1_agreement == 1.0
    assert answer.labels.change == 0
    assert len(answer.layers) >= 6


@pytest.mark.parametrize(
    ("other", "layer", "cause"),
    [
        ("epsilon.keras", "normal", "epsilon"),
        ("epsilon_saved", "normal", "epsilon"),
        ("epsilon.tflite", "normal", "epsilon"),
        ("shifted.tflite", "second", "padding"),
        ("in_training.keras", "normal", "training-mode"),
        ("in_training_saved", "normal", "training-mode"),
        ("nearest.keras", "up", "resize-mode"),
        ("nearest_saved", "up", "resize-mode"),
        ("unscaled.keras", None, "preprocessing"),
    ],
)
def test_the_layer_and_the_cause_are_named(engine, folder, other, layer, cause):
    answer = answered(compared(engine, folder, "right.keras", other))
    assert answer.verdict == "different"
    parting = answer.first_divergence
    assert parting.cause_id == cause, parting
    assert layer is None or parting.a == layer, parting
    assert parting.sentence and parting.sentence in answer.sentence and parting.sentence not in answer.summary
    assert parting.fix
    assert answer.worst_rows


def test_a_large_factor_that_only_saturates_the_answers_is_no_preprocessing(engine, tmp_path):
    files = {"model": BUILT / "digits_cnn.onnx", "data": BUILT / "digits_sample.npz"}
    files["other"] = with_another_bias(tmp_path / "other.onnx")
    job = Job("compare", {role: ModelFile.at(path) for role, path in files.items()}, {"rows": 32}, Budget(2 << 30, 120))
    value = engine.wait(engine.submit(job), 200).value
    assert value["verdict"] == "different"
    assert value["preprocessing"] is None
    assert value["first_divergence"]["cause_id"] == "bias"


def test_models_of_other_questions_are_declined_with_the_shapes(engine, folder):
    begin(1)
    save(keras.Sequential([keras.Input((12, 12, 3)), L.Flatten(), L.Dense(7)]), folder / "other.keras")
    result = compared(engine, folder, "right.keras", "other.keras")
    assert result.status is Status.FAILED
    assert "[12, 5]" in result.reason
    assert "[12, 7]" in result.reason


@pytest.mark.parametrize(
    ("way", "verdicts", "words"),
    [
        ("call=predict,threads=1", ("equal", "within_tolerance"), "model.predict(x), 1 thread"),
        ("call=compiled", ("equal", "within_tolerance"), "jit_compile=True"),
        ("precision=mixed_bfloat16", ("within_tolerance",), "mixed_bfloat16"),
    ],
)
def test_a_model_beside_itself_run_in_another_way(engine, folder, way, verdicts, words):
    model = {"model": ModelFile.at(folder / "right.keras")}
    first, other = Compared(model, "tensorflow"), Compared(model, "tensorflow", parse_way(way))
    data = ModelFile.at(folder / "data.npz")
    job = comparison_job(first, other, data, {"rows": 12}, Budget(4 << 30, 200))
    answer = answered(engine.wait(engine.submit(job), 300))
    assert answer.verdict in verdicts
    assert words in answer.sentence
    assert answer.ways.b.said
    assert not answer.ways.a.said
    assert len(answer.layers) >= 6
    assert {edge.case for edge in answer.edges} >= {"all zeros", "NaN"}
    assert answer.peak_bytes.a > 0


def test_two_models_in_one_process_cannot_have_other_threads(engine, folder):
    settings = parse_way("threads=1").to_json()
    result = compared(engine, folder, "right.keras", "right.keras", other_settings=settings)
    assert (result.status, result.error) == (Status.FAILED, "BadSetting")
    assert "intra_threads" in result.reason


def in_int8(folder, share=1.0):
    """The right model in int8, with float ends; ranges found with `share` of the pixels' values."""
    import tensorflow as tf

    path = folder / f"int8_{share}.tflite"
    if not path.exists():
        rows = np.load(folder / "data.npz")["x"] * np.float32(share)
        converter = tf.lite.TFLiteConverter.from_keras_model(keras.saving.load_model(folder / "right.keras"))
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([row[None]] for row in rows)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        path.write_bytes(converter.convert())
    return path


@pytest.mark.parametrize(("a", "b"), [("right.keras", None), (None, "right.keras")])
def test_random_rows_lie_within_what_integers_hold(engine, folder, a, b):
    integers = in_int8(folder)
    first, other = (
        Compared(
            {"model": ModelFile.at(folder / one if one else integers)}, "tensorflow", None, "keras" if one else "tflite"
        )
        for one in (a, b)
    )
    job = comparison_job(first, other, None, {"rows": 12, "edges": False}, Budget(4 << 30, 200))
    answer = answered(engine.wait(engine.submit(job), 300))
    assert answer.verdict == "within_tolerance", answer.sentence
    assert answer.first_divergence is None
    assert any("255" in note for note in answer.notes), answer.notes


def test_an_input_that_is_cut_off_is_named(engine, folder):
    answer = answered(compared(engine, folder, "right.keras", in_int8(folder, 0.3).name))
    assert answer.first_divergence.cause_id == "clipped-range"
    assert "lie beyond" in answer.first_divergence.sentence


def test_integers_that_both_models_cut_off_are_no_difference(engine, folder):
    narrow = in_int8(folder, 0.3).name
    answer = answered(compared(engine, folder, narrow, narrow))
    assert answer.verdict == "equal"
    assert answer.first_divergence is None

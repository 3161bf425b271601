"""Gradient methods: exact for linear models, complete, and equal to what one would compute by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stethoscope.errors import BadInput, BadSetting, CannotRun
from tests.activations.attributions.explaining import explained, saved

SEED = 7


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """linear, pictures (a small CNN), whole (uint8 pictures), tokens, twice (a nested CNN called twice), old (tf_keras)."""
    import keras
    import tf_keras

    folder, layers = tmp_path_factory.mktemp("models"), keras.layers
    keras.utils.set_random_seed(SEED)
    keras.Sequential([keras.Input((5,)), layers.Dense(3)]).save(folder / "linear.keras")
    picture = keras.Input((16, 16, 3), name="picture")
    x = layers.Conv2D(6, 3, activation="relu", name="first")(picture)
    x = layers.BatchNormalization()(layers.MaxPooling2D()(x))
    x = layers.GlobalAveragePooling2D()(layers.Conv2D(8, 3, activation="relu", name="last")(x))
    keras.Model(picture, layers.Dense(4, activation="softmax", name="scores")(x)).save(folder / "pictures.keras")
    keras.Sequential(
        [keras.Input((8, 8, 1), dtype="uint8"), layers.Rescaling(1 / 255), layers.Flatten(), layers.Dense(2)]
    ).save(folder / "whole.keras")
    keras.Sequential(
        [
            keras.Input((12,), dtype="int32"),
            layers.Embedding(50, 8, mask_zero=True),
            layers.LSTM(6),
            layers.Dense(1, activation="sigmoid"),
        ]
    ).save(folder / "tokens.keras")
    inner = keras.Sequential(
        [keras.Input((10, 10, 1)), layers.Conv2D(4, 3, activation="relu", name="eye"), layers.Flatten()], name="inner"
    )
    left, right = keras.Input((10, 10, 1), name="left"), keras.Input((10, 10, 1), name="right")
    joined = layers.Dense(3, activation="softmax")(layers.Subtract()([inner(left), inner(right)]))
    keras.Model([left, right], joined).save(folder / "twice.keras")
    old = tf_keras.Sequential(
        [
            tf_keras.Input((9, 9, 2)),
            tf_keras.layers.Conv2D(5, 3, activation="tanh", name="c"),
            tf_keras.layers.Flatten(),
            tf_keras.layers.Dense(3, activation="softmax"),
        ]
    )
    old.save(folder / "old.h5")
    return folder


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> Path:
    values = np.random.default_rng(SEED).uniform(0, 1, (6, 16, 16, 3)).astype(np.float32)
    return saved(tmp_path_factory.mktemp("data") / "pictures.npz", x=values)


def test_a_linear_model_is_explained_exactly(made, tmp_path):
    import keras

    row = np.array([[1.0, -2.0, 0.5, 3.0, 0.0]], np.float32)
    data = saved(tmp_path / "row.npz", x=row)
    weights = keras.saving.load_model(made / "linear.keras").layers[-1].get_weights()[0][:, 1]
    asked = {"data": data, "target": 1, "baseline": "zero"}
    for method, expected in (
        ("saliency", weights),
        ("input_times_gradient", row[0] * weights),
        ("integrated_gradients", row[0] * weights),
        ("occlusion", row[0] * weights),
    ):
        value, found = explained(tmp_path, made / "linear.keras", method=method, **asked)
        np.testing.assert_allclose(found, expected, atol=1e-5, err_msg=method)
        assert value.kind == "features"
        assert value.target == 1


@pytest.mark.parametrize("place", [0, 2, 5])
@pytest.mark.parametrize("baseline", ["zero", "mean", "blur", "noise"])
def test_integrated_gradients_add_up_to_the_difference_of_scores(made, pictures, tmp_path, place, baseline):
    value, found = explained(
        tmp_path, made / "pictures.keras", pictures, method="integrated_gradients", place=place, baseline=baseline
    )
    difference = value.score - value.baseline_score
    assert abs(found.sum() - difference) <= 0.01 * abs(difference)
    assert value.completeness_error <= 0.01
    assert found.shape == (16, 16, 3)


def test_tokens_are_explained_where_they_are_looked_up(made, tmp_path):
    data = saved(tmp_path / "t.npz", x=np.array([[3, 9, 27, 4, 0, 0, 0, 0, 0, 0, 0, 0]], np.int32))
    value, found = explained(tmp_path, made / "tokens.keras", data, method="integrated_gradients")
    assert value.kind == "tokens"
    assert value.tokens[:4] == ("3", "9", "27", "4")
    assert found.shape == (12,)
    assert value.completeness_error <= 0.01
    # A token that is already the baseline's has nothing to explain.
    np.testing.assert_allclose(found[4:], 0.0, atol=1e-6)


def test_whole_numbers_are_explained_after_they_are_scaled(made, tmp_path):
    values = np.random.default_rng(1).integers(0, 256, (1, 8, 8, 1)).astype(np.uint8)
    data = saved(tmp_path / "u.npz", x=values)
    value, found = explained(tmp_path, made / "whole.keras", data, method="integrated_gradients", baseline="zero")
    assert found.shape == (8, 8, 1)
    assert value.completeness_error <= 0.01


def by_hand(model, layer, feed, unit):
    """Grad-CAM by a submodel of its own, before the softmax."""
    import keras
    import tensorflow as tf

    head = model.layers[-1]
    head.activation = keras.activations.linear
    both = keras.Model(model.inputs, [model.get_layer(layer).output, model.outputs[0]])
    with tf.GradientTape() as tape:
        maps, scores = both(feed)
        score = scores[:, unit]
    gradient = tape.gradient(score, maps)
    weights = tf.reduce_mean(gradient, axis=(1, 2))
    return np.maximum(np.einsum("hwc,c->hw", maps[0], weights[0]), 0)


@pytest.mark.parametrize(("layer", "asked"), [("last", None), ("first", "first")])
def test_grad_cam_agrees_with_an_independent_computation(made, pictures, tmp_path, layer, asked):
    import keras

    value, found = explained(tmp_path, made / "pictures.keras", pictures, method="grad_cam", place=3, layer=asked)
    assert value.layer == layer
    assert value.score_of == "raw"
    model = keras.saving.load_model(made / "pictures.keras")
    feed = np.load(pictures)["x"][3:4]
    np.testing.assert_allclose(found, by_hand(model, layer, feed, value.target), atol=1e-5)


def test_grad_cam_of_the_outputs_as_they_are(made, pictures, tmp_path):
    raw, _ = explained(tmp_path, made / "pictures.keras", pictures, method="grad_cam", target=2)
    plain, _ = explained(tmp_path, made / "pictures.keras", pictures, method="grad_cam", target=2, score="output")
    assert plain.score_of == "output"
    assert plain.score == pytest.approx(raw.probability, abs=1e-5)
    assert 0 < plain.score < 1


def test_a_shared_layer_is_explained_at_the_call_that_is_asked_for(made, tmp_path):
    random = np.random.default_rng(2)
    data = saved(
        tmp_path / "two.npz",
        **{name: random.uniform(0, 1, (1, 10, 10, 1)).astype(np.float32) for name in ("left", "right")},
    )
    maps = [
        explained(tmp_path, made / "twice.keras", data, method="grad_cam", layer=layer, target=0)[1]
        for layer in ("inner/eye", "inner/eye#2")
    ]
    assert maps[0].shape == (8, 8)
    assert not np.allclose(maps[0], maps[1])
    for name in ("left", "right"):
        value, _ = explained(tmp_path, made / "twice.keras", data, method="integrated_gradients", input=name)
        assert value.completeness_error <= 0.01


def test_models_of_keras_2_are_explained_too(made, tmp_path):
    value, found = explained(tmp_path, made / "old.h5", method="integrated_gradients")
    assert value.completeness_error <= 0.01
    assert found.shape == (9, 9, 2)
    assert explained(tmp_path, made / "old.h5", method="grad_cam")[1].shape == (7, 7)


def test_a_saved_model_gives_the_same_as_the_model_it_came_from(made, pictures, tmp_path):
    import keras

    model = keras.saving.load_model(made / "pictures.keras")
    model.export(tmp_path / "exported", verbose=False)
    for method in ("integrated_gradients", "saliency"):
        asked = {"method": method, "place": 1, "target": 1, "baseline": "zero"}
        expected, of_keras = explained(tmp_path, made / "pictures.keras", pictures, **asked)
        value, found = explained(tmp_path, tmp_path / "exported", pictures, **asked)
        np.testing.assert_allclose(found, of_keras, atol=1e-5)
        assert value.score == pytest.approx(expected.score, abs=1e-5)


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"target": 9}, BadSetting, "from 0 to 3"),
        ({"method": "tea leaves"}, BadSetting, "expected one of"),
        ({"baseline": "grey"}, BadSetting, "expected one of"),
        ({"output": "nothing"}, BadSetting, "expected one of"),
        ({"place": 99}, BadInput, "99"),
        ({"method": "grad_cam", "layer": "nowhere"}, BadSetting, "nowhere"),
        ({"method": "grad_cam", "layer": "scores"}, BadSetting, "places and channels"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(made, pictures, tmp_path, asked, error, said):
    with pytest.raises(error, match=said):
        explained(tmp_path, made / "pictures.keras", pictures, **asked)


def test_a_model_without_places_has_no_grad_cam(made, tmp_path):
    with pytest.raises(CannotRun, match="Choose another method"):
        explained(tmp_path, made / "linear.keras", method="grad_cam")

"""Edits of serialised models: what is changed, what is left, and that Keras 3 and Keras 2 build the result."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from stethoscope.errors import CannotRun
from stethoscope.program.model_config import (
    layer_at,
    structure,
    unfrozen,
    walk,
    with_activation,
    with_bias_start,
    with_head,
    with_initialisers,
    with_input_shape,
    with_settings,
)
from stethoscope.program.model_graph import (
    after,
    before,
    last_with_weights,
    with_layer,
    with_layer_moved,
    without_layer,
)
from stethoscope.program.setup import Setup
from tests.checks.fixes.setups import dense, entry, sequential, setup


def names(changed: Setup) -> list[str]:
    return [path for path, _ in walk(structure(changed))]


def settings(changed: Setup, path: str) -> dict:
    return layer_at(structure(changed), path)["config"]


def test_a_nested_layer_is_found_by_its_path():
    inner = sequential(dense("deep", 5, "tanh"))
    inner["config"]["name"] = "block"
    base = setup(inner, dense("out", 3))
    changed = with_activation(base, "block/deep", "relu")
    assert settings(changed, "block/deep")["activation"] == "relu"
    assert settings(base, "block/deep")["activation"] == "tanh"
    with pytest.raises(CannotRun, match="block/none"):
        with_activation(base, "block/none", "relu")


def test_a_wrapped_layer_takes_the_setting():
    wrapper = entry(
        "Bidirectional", "both", layer={"class_name": "LSTM", "config": {"name": "lstm", "activation": "relu"}}
    )
    changed = with_activation(setup(wrapper, dense("out", 3)), "both", "tanh")
    assert settings(changed, "both")["layer"]["config"]["activation"] == "tanh"


def test_an_activation_layer_of_any_class_becomes_the_new_one():
    changed = with_activation(setup(dense("out", 3), entry("Softmax", "last", axis=-1)), "last", "sigmoid")
    found = layer_at(structure(changed), "last")
    assert found["class_name"] == "Activation"
    assert found["config"]["activation"] == "sigmoid"
    assert "axis" not in found["config"]


def test_a_layer_without_an_activation_gets_one_behind_it():
    changed = with_activation(setup(dense("hidden", 3), entry("Flatten", "flat"), dense("out", 3)), "flat", "relu")
    assert names(changed) == ["rows", "hidden", "flat", "activation_added", "out"]


def test_the_head_is_the_last_layer_with_units_and_nothing_is_applied_after_it():
    stack = (dense("hidden", 8), dense("out", 10, "relu"), entry("Activation", "last", activation="softmax"))
    for place in ("out", "last"):
        changed = with_head(setup(*stack), place, 1, "sigmoid")
        assert (settings(changed, "out")["units"], settings(changed, "out")["activation"]) == (1, "sigmoid")
        assert settings(changed, "last")["activation"] == "linear"


def test_new_initialisers_mean_new_weights():
    changed = with_initialisers(setup(), ("hidden",), "he_normal", "zeros")
    assert settings(changed, "hidden")["kernel_initializer"] == "he_normal"
    assert changed.weight_layers == ("out", "out")


def test_the_bias_starts_there_in_the_weights_of_the_file_too():
    changed = with_bias_start(setup(), "out", (1.0, 2.0, 3.0))
    assert settings(changed, "out")["bias_initializer"]["config"]["value"] == [1.0, 2.0, 3.0]
    assert np.array_equal(changed.weights[3], [1.0, 2.0, 3.0])
    assert np.array_equal(changed.weights[1], np.ones(8))
    with pytest.raises(CannotRun, match="without one"):
        with_bias_start(setup(), "drop", (1.0,))


def test_unfreezing_reaches_into_and_around_models():
    inner = sequential(dense("deep", 5, trainable=False))
    inner["config"] |= {"name": "block", "trainable": False}
    base = setup(inner, dense("out", 3))
    for path in ("block", "block/deep"):
        changed = unfrozen(base, (path,))
        assert settings(changed, "block")["trainable"]
        assert settings(changed, "block/deep")["trainable"]


def test_shapes_stored_with_the_layers_are_dropped():
    changed = with_input_shape(setup(), "rows", (7,))
    config = structure(changed)["config"]
    assert config["layers"][0]["config"]["batch_shape"] == [None, 7]
    assert config["build_input_shape"] == [None, 7]
    assert all("build_config" not in item for item in config["layers"])


def test_a_setting_that_a_layer_lacks_is_refused():
    with pytest.raises(CannotRun, match="padding"):
        with_settings(setup(), ("hidden",), padding="same")


def test_layers_are_put_in_taken_out_and_moved():
    base = setup()
    assert names(with_layer(base, "Flatten", {}, before="out")) == ["rows", "hidden", "drop", "flatten_added", "out"]
    assert names(with_layer(base, "BatchNormalization", {}))[1] == "batch_normalization_added"
    assert names(without_layer(base, "drop")) == ["rows", "hidden", "out"]
    assert names(with_layer_moved(base, "drop", after="out")) == ["rows", "hidden", "out", "drop"]
    assert last_with_weights(base) == "out"
    assert (before(base.config, "out"), after(base.config, "out")) == ("drop", "")
    with pytest.raises(CannotRun, match="input"):
        without_layer(base, "rows")


def models(keras):
    layers = keras.layers
    yield keras.Sequential(
        [
            layers.Input((4,), name="rows"),
            layers.Dense(8, activation="relu", name="hidden"),
            layers.Dropout(0.5, name="drop"),
            layers.Dense(3, name="out"),
        ]
    )
    first, second = layers.Input((4,), name="rows"), layers.Input((4,), name="more")
    shared = layers.Dense(8, activation="relu", name="hidden")
    joined = layers.Dropout(0.5, name="drop")(layers.Add(name="add")([shared(first), shared(second)]))
    yield keras.Model([first, second], layers.Dense(3, name="out")(joined))


EDITS = {
    "hidden layer before the last": (
        lambda s: with_layer(s, "Dense", {"units": 5}, before="out"),
        8 * 5 + 5 + 5 * 3 + 3,
    ),
    "behind a shared layer": (lambda s: with_layer(s, "Dense", {"units": 8}, after="hidden"), 72 + 27),
    "before a shared layer": (lambda s: with_layer(s, "Dense", {"units": 4}, before="hidden"), 20 + 27),
    "without dropout": (lambda s: without_layer(s, "drop"), 27),
    "dropout moved": (lambda s: with_layer_moved(s, "drop", before="hidden"), 27),
    "other head": (lambda s: with_head(s, "out", 1, "sigmoid"), 9),
    "wider": (lambda s: with_settings(s, ("hidden",), units=16), 80 + 51 - 40),
}
"""Parameters besides those of the first hidden layer (40)."""


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
@pytest.mark.parametrize("edit", EDITS)
def test_keras_builds_what_was_edited(package, edit):
    keras = pytest.importorskip(package)
    from stethoscope.training.model import build

    change, parameters = EDITS[edit]
    for model in models(importlib.import_module(package)):
        base = Setup(config=keras.saving.serialize_keras_object(model), modern=package == "keras", weights=None)
        built = build(change(base))
        assert built.count_params() == 40 + parameters
        feed = [np.zeros((2, 4), np.float32) for _ in built.inputs]
        assert np.asarray(built(feed if len(feed) > 1 else feed[0])).shape[0] == 2

"""Losses and optimizers come out as Keras makes them, and what nobody said is assumed from head and targets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stethoscope.architecture.losses import canonical_loss
from stethoscope.errors import CannotRun
from stethoscope.evidence.fit import FitSettings
from stethoscope.program.setup import Setup
from stethoscope.training.compiled import (
    assumed_loss,
    live_losses,
    live_optimizer,
    losses_of_targets,
    named_loss,
    named_optimizer,
)
from stethoscope.types import Architecture, CompileSettings
from tests.evidence.test_heads import layer, model
from tests.frameworks import keras
from tests.tables import each

LOGITS = np.array([[2.0], [-1.0]], np.float32)
TRUTH = np.array([[1.0], [0.0]], np.float32)
CROSSENTROPY = (math.log1p(math.exp(-2.0)) + math.log1p(math.exp(-1.0))) / 2
BINARY = {
    "class_name": "BinaryCrossentropy",
    "config": {"from_logits": True, "reduction": "auto", "fn": "binary_crossentropy", "of_another_version": 1},
}


def loss_of(said, modern: bool = True):
    (loss,) = live_losses(Setup(None, modern, None, losses=(said,)))
    return loss


@each(
    ("said", "modern", "expected"),
    [
        ({"class_name": "function", "config": "mean_absolute_error"}, True, 1.0),
        ({"class_name": "function", "config": "mean_absolute_error"}, False, 1.0),
        (BINARY, True, CROSSENTROPY),
        (BINARY, False, CROSSENTROPY),
        ({"class_name": "Huber", "config": {"delta": 0.5}}, True, 0.5 * (1.0 - 0.25)),
        ("mse", True, 1.0),
    ],
)
def test_a_loss_is_computed_as_it_was_said(said, modern, expected):
    assert float(loss_of(said, modern)(TRUTH, LOGITS)) == pytest.approx(expected, rel=1e-5)


def test_an_output_without_a_loss_stays_without_one():
    assert live_losses(Setup(None, True, None, losses=(None, "mse")))[0] is None


@each(("said", "named"), [("no_such_loss", "no_such_loss"), ({"class_name": "NoSuch", "config": {}}, "NoSuch")])
def test_a_loss_that_keras_does_not_know_is_named(said, named):
    with pytest.raises(CannotRun, match=rf"The loss '{named}': Keras"):
        loss_of(said)


def test_a_setting_that_an_optimizer_does_not_take_is_refused_by_name():
    said = {"class_name": "SGD", "config": {"learning_rate": 0.1, "momentum": 7.0}}
    with pytest.raises(CannotRun, match="The optimizer 'SGD': Keras"):
        live_optimizer(Setup(None, True, None, optimizer=said))


def test_an_optimizer_that_keras_does_not_know_is_refused_by_name():
    said = {"class_name": "NoSuch", "config": {"learning_rate": 0.1}}
    with pytest.raises(CannotRun, match="The optimizer 'NoSuch': Keras"):
        live_optimizer(Setup(None, True, None, optimizer=said))


def test_an_optimizer_of_the_users_own_is_made_by_its_own_class():
    @keras.saving.register_keras_serializable("compiled_tests")
    class Halving(keras.optimizers.SGD):
        pass

    said = keras.optimizers.serialize(Halving(learning_rate=0.25))
    found = live_optimizer(Setup(None, True, None, optimizer=said))
    assert type(found) is Halving and float(found.learning_rate) == 0.25


def compiled(loss, details) -> Architecture:
    return Architecture("keras", "", 0, 0, (), (), (), CompileSettings(loss, "Adam", None, (), details))


@each(
    ("loss", "details", "fit", "expected"),
    [
        (None, {}, FitSettings(loss="mse"), ["mean_squared_error", "mean_squared_error"]),
        (None, {"loss": {"b": "mae", "a": "mse"}}, FitSettings(), ["mse", "mae"]),
        (None, {"loss": {"b": "mae"}}, FitSettings(), [None, "mae"]),
        (None, {"loss": ["mse", "mae"]}, FitSettings(), ["mse", "mae"]),
        (None, {"loss": ["mse"]}, FitSettings(), ["mse", "mse"]),
        ("mae", {}, FitSettings(), ["mae", "mae"]),
    ],
)
def test_each_output_has_the_loss_that_was_said_for_it(loss, details, fit, expected):
    assert list(named_loss(compiled(loss, details), fit, ["a", "b"])) == expected


@each(
    ("said", "fit", "name", "config"),
    [
        (None, FitSettings(loss="BinaryCrossentropy", from_logits=True), "binary_crossentropy", {"from_logits": True}),
        (BINARY, FitSettings(from_logits=False), "binary_crossentropy", {**BINARY["config"], "from_logits": False}),
        ("categorical_crossentropy", FitSettings(from_logits=True), "categorical_crossentropy", {"from_logits": True}),
        (
            {"class_name": "function", "config": "sparse_categorical_crossentropy"},
            FitSettings(from_logits=True),
            "sparse_categorical_crossentropy",
            {"from_logits": True},
        ),
        ("mse", FitSettings(from_logits=True), "mean_squared_error", {}),
    ],
)
def test_logits_are_read_as_the_user_says(said, fit, name, config):
    (found,) = named_loss(compiled(None, {"loss": said}), fit, ["a"])
    assert canonical_loss(found) == (name, config)


def test_logits_reach_keras():
    (said,) = named_loss(compiled(None, {"loss": "binary_crossentropy"}), FitSettings(from_logits=True), ["a"])
    assert float(loss_of(said)(TRUTH, LOGITS)) == pytest.approx(CROSSENTROPY, rel=1e-5)


def head(units: int, activation: str) -> Architecture:
    first = layer("input", "InputLayer", (None, 4))
    return model(first, layer("out", "Dense", (None, units), "input", activation=activation, units=units), loss=None)


@each(
    ("units", "activation", "y", "name", "logits"),
    [
        (3, "softmax", np.array([0, 1, 2]), "sparse_categorical_crossentropy", False),
        (3, "linear", np.array([0.0, 1.0, 2.0]), "sparse_categorical_crossentropy", True),
        (3, "softmax", np.eye(3), "categorical_crossentropy", False),
        (1, "sigmoid", np.array([0, 1, 1]), "binary_crossentropy", False),
        (3, "linear", np.eye(3), "categorical_crossentropy", True),
        (3, "linear", np.array([[1, 1, 0], [0, 0, 0], [0, 0, 1]]), "binary_crossentropy", True),
        (1, "linear", np.array([[0.0], [1.0]]), "binary_crossentropy", True),
        (1, "linear", np.array([0.5, 1.5, 2.5]), "mean_squared_error", False),
        (1, "relu", np.array([3, 5, 90]), "mean_squared_error", False),
    ],
)
def test_a_loss_that_nobody_said_fits_head_and_targets(units, activation, y, name, logits):
    said, sentence = assumed_loss(head(units, activation), 0, y)
    found, config = canonical_loss(said)
    assert (found, bool(config.get("from_logits"))) == (name, logits)
    assert name in sentence and ("on logits" in sentence) is logits
    answers = np.full((len(y), units), 1 / units, np.float32)
    assert np.isfinite(float(loss_of(said)(y, answers)))


def two_heads(loss: object) -> Architecture:
    first = layer("input", "InputLayer", (None, 4))
    classes = layer("classes", "Dense", (None, 3), "input", activation="softmax", units=3)
    flag = layer("flag", "Dense", (None, 1), "input", activation="sigmoid", units=1)
    return model(first, classes, flag, loss=loss, ends=("classes", "flag"))


TARGETS = {"flag": np.array([0, 1, 1]), "classes": np.array([0, 1, 2])}


@each(
    ("loss", "targets", "expected", "assumed"),
    [
        # A head is found by its name: a model may list its outputs in another order than its file.
        (None, ("flag", "classes"), ["binary_crossentropy", "sparse_categorical_crossentropy"], 2),
        (None, ("classes",), ["sparse_categorical_crossentropy"], 1),
        ({"classes": "mse"}, ("flag", "classes"), [None, "mse"], 0),
        ({"classes": "mse"}, ("flag",), ["binary_crossentropy"], 1),
    ],
)
def test_losses_are_assumed_where_no_output_with_targets_has_one(loss, targets, expected, assumed):
    found, sentences = losses_of_targets(
        two_heads(loss), FitSettings(), ["flag", "classes"], {name: TARGETS[name] for name in targets}
    )
    assert (list(found), list(found.values()), len(sentences)) == (list(targets), expected, assumed)


@each(
    ("said", "fit", "expected", "sentence"),
    [
        (None, FitSettings(), ("Adam", {"learning_rate": 0.001}), "rate of 0.001"),
        (None, FitSettings(learning_rate=0.5), ("Adam", {"learning_rate": 0.5}), "rate 0.5"),
        (None, FitSettings(optimizer="sgd"), ("SGD", {"learning_rate": 0.01}), ""),
        (
            {"class_name": "SGD", "config": {"momentum": 0.9, "learning_rate": 0.2}},
            FitSettings(optimizer="sgd"),
            ("SGD", {"momentum": 0.9, "learning_rate": 0.2}),
            "",
        ),
        ({"class_name": "sgd", "config": {"lr": 0.3}}, FitSettings(), ("SGD", {"learning_rate": 0.3}), ""),
        ({"class_name": "rmsprop", "config": {}}, FitSettings(), ("RMSprop", {"learning_rate": 0.001}), ""),
        (
            {"class_name": "Adam", "config": {"learning_rate": 0.1}},
            FitSettings(learning_rate=0.2),
            ("Adam", {"learning_rate": 0.2}),
            "",
        ),
    ],
)
def test_the_optimizer_is_the_users_else_the_files_else_adam(said, fit, expected, sentence):
    architecture = compiled("mse", {} if said is None else {"optimizer": said})
    found, told = named_optimizer(architecture, fit, True)
    assert (found["class_name"], found["config"]) == expected
    assert sentence in " ".join(told) and bool(told) is bool(sentence)


@each("name", ["sgd", "rmsprop", "adam", "adamw", "adagrad", "adadelta", "adamax", "nadam", "ftrl", "lion"])
def test_the_assumed_rate_is_keras_default(name):
    found, _ = named_optimizer(compiled("mse", {}), FitSettings(optimizer=name), True)
    live = live_optimizer(Setup(None, True, None, optimizer=found))
    default = type(live)()
    assert float(live.learning_rate) == pytest.approx(float(default.learning_rate))

"""What is printed can be pasted: it runs, and does what the fix does."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.checks.fixes.combined import Combined, with_known_settings
from stethoscope.checks.fixes.compile_and_fit import ReplaceLoss, SetLearningRate
from stethoscope.checks.fixes.layer_code import layer_line
from stethoscope.checks.fixes.layer_settings import RemoveBias, SetVocabulary, Unfreeze
from stethoscope.checks.fixes.layers import ReplaceActivation, ReplaceHead, SetOutputBias
from stethoscope.checks.fixes.rows import DropRows, FillMissing, RemoveDuplicates
from stethoscope.checks.fixes.values import EncodeLabels, ScaleInputs
from stethoscope.types import Architecture, Layer


def ran(code, **names):
    space = {"np": np, **names}
    exec(compile(code, "fix", "exec"), space)
    return space


def test_rows_are_changed_as_said():
    x = np.array([[1.0, 10.0], [3.0, np.nan], [1.0, 10.0], [5.0, 30.0]])
    y = np.array([0.0, 1.0, 0.0, 1.0])
    assert len(ran(DropRows().code(), x=x, y=y)["x"]) == 3
    assert ran(FillMissing().code(), x=x, y=y)["x"][1, 1] == 10
    whole = ran(RemoveDuplicates().code(), x=x[[0, 2, 3]], y=y[[0, 2, 3]])
    assert whole["x"].tolist() == [[1, 10], [5, 30]]
    scaled = ran(ScaleInputs().code(), x=x[[0, 3]], y=y)["x"]
    assert scaled.mean(axis=0) == pytest.approx([0, 0])
    assert ran(ScaleInputs(method="minmax").code(), x=x[[0, 3]])["x"].max() == 1
    assert ran(ScaleInputs(method="divide", divisor=10).code(), x=x[[0, 3]])["x"].max() == 3


def test_labels_are_encoded_as_said():
    assert ran(EncodeLabels(encoding="integer").code(), y=np.array([[0, 1], [1, 0]]))["y"].tolist() == [1, 0]
    assert ran(EncodeLabels(encoding="zero-based").code(), y=np.array([1, 3, 2]))["y"].tolist() == [0, 2, 1]
    assert ran(EncodeLabels(encoding="zero-one").code(), y=np.array([-1, 1]))["y"].tolist() == [0, 1]
    assert ran(EncodeLabels(encoding="unscale", factor=255).code(), y=np.array([0.0, 1 / 255]))["y"].tolist() == [0, 1]


def test_the_other_settings_of_a_layer_are_kept():
    config = {
        "name": "conv",
        "filters": 32,
        "kernel_size": [3, 3],
        "padding": "same",
        "strides": [1, 1],
        "activation": "linear",
        "kernel_initializer": {"class_name": "HeNormal", "config": {"seed": None}},
        "kernel_regularizer": {"class_name": "L2", "config": {"l2": 0.01}},
    }
    code = ReplaceActivation("block/conv", "relu", layer_type="Conv2D", settings=config).code()
    assert code.splitlines()[-1] == (
        'layers.Conv2D(32, (3, 3), padding="same", activation="relu", kernel_initializer=keras.initializers.HeNormal(), '
        'kernel_regularizer=keras.regularizers.L2(l2=0.01), name="conv")'
    )
    assert layer_line("Odd kind(", "x", {}) is None


def test_a_name_cannot_leave_its_place():
    evil = 'out"); import os; ("\nimport os'
    code = ReplaceActivation(evil, "relu", layer_type="Dense", units=3).code()
    assert code.count("\n") == 1
    assert "\\n" in code.splitlines()[1]


def test_lines_for_a_live_model_run():
    keras = pytest.importorskip("keras")
    layers = keras.layers
    model = keras.Sequential(
        [layers.Input((4,)), layers.Dense(8, name="hidden", trainable=False), layers.Dense(3, name="out")]
    )
    model.compile(optimizer="sgd", loss="mse")
    names = {"keras": keras, "layers": layers, "model": model}
    ran(SetLearningRate(0.5).code(), **names)
    assert float(model.optimizer.learning_rate) == 0.5
    ran(SetOutputBias("out", (1.0, 2.0, 3.0)).code(), **names)
    assert np.asarray(model.get_layer("out").bias).tolist() == [1, 2, 3]
    ran(Unfreeze(("hidden",)).code(), **names)
    assert model.get_layer("hidden").trainable
    ran(ReplaceActivation("hidden", "relu", layer_type="Conv1D").code(), **names)
    assert model.get_layer("hidden").activation is keras.activations.relu
    ran(ReplaceLoss("sparse_categorical_crossentropy", from_logits=True).code(), **names)
    assert model.loss.get_config()["from_logits"] is True
    head = ran(ReplaceHead("out", 3, "softmax", "categorical_crossentropy").code(), **names, y=np.array([0, 2]))
    assert head["y"].tolist() == [[1, 0, 0], [0, 0, 1]]
    rebuilt = ran(RemoveBias(("hidden",)).code(), **names)["model"]
    assert rebuilt.get_layer("hidden").use_bias is False
    assert rebuilt.get_layer("out").use_bias is True


def test_an_architecture_lends_its_settings():
    config = {"filters": 8, "kernel_size": [3, 3], "padding": "same", "activation": "linear"}
    tokens = Layer("tokens", "Embedding", (None, 5, 16), 0, 0, "float32", (), {"input_dim": 10, "output_dim": 16})
    conv = Layer("conv", "Conv2D", (None, 8, 8, 8), 0, 0, "float32", (), config)
    architecture = Architecture("keras", "", 0, 0, (), (), (conv, tokens))
    both = Combined((ReplaceActivation("conv", "relu"), SetVocabulary("tokens", 50)))
    code = with_known_settings(both, architecture).code()
    assert 'layers.Conv2D(8, (3, 3), padding="same", activation="relu", name="conv")' in code
    assert 'layers.Embedding(50, 16, name="tokens")' in code
    assert with_known_settings(both, None) is both


def test_one_activation_for_many_layers_is_one_snippet():
    names = [f"dense_{number}" for number in range(12)]
    many = Combined(tuple(ReplaceActivation(name, "relu", "sigmoid", "Dense") for name in names))
    assert many.code().count("clone_model") == 1 and all(repr(name).replace("'", '"') in many.code() for name in names)
    assert "9 more" in many.summary and many.summary.count("relu") == 1
    mixed = Combined((*many.fixes, ReplaceActivation("last", "tanh")))
    assert "clone_model" not in mixed.code()

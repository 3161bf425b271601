"""Heads: the last activation, loss and task of each output, whatever the layers and the format."""

from __future__ import annotations

from typing import Any

import numpy as np

from stethoscope.architecture.losses import canonical_loss, snake
from stethoscope.evidence.fit import FitSettings
from stethoscope.evidence.heads import Head, heads_of
from stethoscope.tasks.profile import profile_data
from stethoscope.types import Architecture, CompileSettings, Layer, Shape, TensorSpec
from tests.tables import each


def layer(path: str, kind: str, shape: Shape, source: str = "", **config: Any) -> Layer:
    return Layer(path, kind, shape, 0, 0, "float32", (source,) if source else (), config)


def model(
    *layers: Layer,
    loss: Any = "mse",
    metrics: Any = (),
    ends: tuple[str, ...] | None = None,
    names: tuple[str, ...] = (),
) -> Architecture:
    found = (layers[-1].path,) if ends is None else ends
    by_path = {item.path: item for item in layers}
    outputs = tuple(
        TensorSpec(name, by_path[path].output_shape, "float32")
        for name, path in zip(names or found or ("out",), found or (layers[-1].path,), strict=True)
    )
    settings = None if loss is None else CompileSettings(loss, "Adam", 0.001, metrics, {"loss": loss})
    first = TensorSpec("input", layers[0].output_shape, "float32")
    return Architecture(
        "keras", "Keras 3", 0, 0, (first,), outputs, layers, settings, output_layers=ends if ends is not None else found
    )


def head(*layers: Layer, **more: Any) -> Head:
    (found,) = heads_of(model(*layers, **more), None, None)
    return found


INPUT = layer("input", "InputLayer", (None, 4))
DENSE = layer("dense", "Dense", (None, 3), "input", activation="linear", units=3)


@each(
    ("last", "activation", "units_layer"),
    [
        ([layer("act", "Activation", (None, 3), "dense", activation="softmax")], "softmax", "dense"),
        ([layer("act", "Softmax", (None, 3), "dense", axis=-1)], "softmax", "dense"),
        ([layer("act", "LeakyReLU", (None, 3), "dense")], "leaky_relu", "dense"),
        ([layer("act", "Sigmoid", (None, 3), "dense"), layer("flat", "Flatten", (None, 3), "act")], "sigmoid", "dense"),
        ([layer("pool", "GlobalAveragePooling1D", (None, 3), "dense")], "linear", "dense"),
        ([layer("odd", "Lambda", (None, 3), "dense")], "", "odd"),
        ([layer("odd", "MyHead", (None, 3), "dense")], "", "odd"),
        (
            [
                layer(
                    "td",
                    "TimeDistributed",
                    (None, 3),
                    "input",
                    layer={"class_name": "Dense", "config": {"activation": "softmax"}},
                )
            ],
            "softmax",
            "td",
        ),
        ([layer("lstm", "LSTM", (None, 3), "input", activation="tanh")], "tanh", "lstm"),
    ],
)
def test_last_activation(last: list[Layer], activation: str, units_layer: str) -> None:
    found = head(INPUT, DENSE, *last)

    assert (found.activation, found.units_layer) == (activation, units_layer)


def test_an_activation_survives_pooling_but_is_not_stacked_with_it() -> None:
    conv = layer("conv", "Conv2D", (None, 8, 8, 3), "input", activation="relu")
    pool = layer("pool", "GlobalAveragePooling2D", (None, 3), "conv")

    assert head(INPUT, conv, pool).activation == "relu"
    assert head(INPUT, conv, pool, layer("soft", "Softmax", (None, 3), "pool")).activations == ("softmax",)


def test_softmax_counts_the_axis_it_runs_over() -> None:
    wide = layer("wide", "Dense", (None, 10), "input", activation="softmax")
    reshaped = head(INPUT, wide, layer("shape", "Reshape", (None, 10, 1), "wide"))
    over_steps = head(
        INPUT, layer("d", "Dense", (None, 5, 1), "input"), layer("s", "Softmax", (None, 5, 1), "d", axis=1)
    )

    assert (reshaped.softmax_units, reshaped.moved) == (10, True)
    assert over_steps.softmax_units == 5


def test_two_outputs_have_their_own_losses_and_metrics() -> None:
    kind = layer("kind", "Dense", (None, 3), "input", activation="softmax")
    size = layer("size", "Dense", (None, 1), "input", activation="linear")
    architecture = model(
        INPUT,
        kind,
        size,
        loss={"kind": "sparse_categorical_crossentropy", "size": {"class_name": "MeanSquaredError", "config": {}}},
        metrics=({"kind": ["accuracy"]}, {"size": ["mae"]}),
        ends=("kind", "size"),
    )

    first, second = heads_of(architecture, None, None)

    assert (first.loss, first.metrics, first.task) == ("sparse_categorical_crossentropy", ("accuracy",), "multiclass")
    assert (second.loss, second.metrics, second.task) == ("mean_squared_error", ("mean_absolute_error",), "regression")


def test_operators_of_other_formats_end_where_nothing_reads_on() -> None:
    onnx = [
        layer("a/MatMul", "MatMul", (None, 3), "input"),
        layer("a/Add", "Add", (None, 3), "a/MatMul"),
        layer("a/Softmax", "Softmax", (None, 3), "a/Add"),
    ]
    tflite = [layer("fc", "FULLY_CONNECTED", (None, 3), "input"), layer("p", "LOGISTIC", (None, 3), "fc")]

    assert head(INPUT, *onnx, loss=None, ends=()).activation == "softmax"
    assert head(INPUT, *tflite, loss=None, ends=()).activations == ("sigmoid",)
    assert head(INPUT, *onnx, loss=None, ends=()).loss == ""


@each(
    ("said", "name"),
    [
        ("mse", "mean_squared_error"),
        ("MAE", "mean_absolute_error"),
        ("kullback_leibler_divergence", "kl_divergence"),
        ({"class_name": "KLDivergence", "config": {}}, "kl_divergence"),
        ({"class_name": "keras.losses>BinaryCrossentropy", "config": {}}, "binary_crossentropy"),
        ({"class_name": "function", "config": "sparse_categorical_crossentropy"}, "sparse_categorical_crossentropy"),
        ({"class_name": "LossFunctionWrapper", "config": {"fn": "huber_loss"}}, "huber"),
    ],
)
def test_names_of_losses(said: Any, name: str) -> None:
    assert canonical_loss(said)[0] == name


def test_names_of_metrics() -> None:
    assert [snake(name) for name in ("acc", "AUC", "BinaryAccuracy", "F1Score")] == [
        "accuracy",
        "auc",
        "binary_accuracy",
        "f1_score",
    ]


def test_what_the_user_says_outranks_the_file() -> None:
    serialised = {"class_name": "CategoricalCrossentropy", "config": {"from_logits": True}}
    (found,) = heads_of(
        model(INPUT, DENSE, loss=serialised), FitSettings(from_logits=False, metrics="accuracy, mae"), None
    )
    (other,) = heads_of(model(INPUT, DENSE, loss=serialised), FitSettings(loss="mse"), None)

    assert (found.from_logits, found.metrics) == (False, ("accuracy", "mean_absolute_error"))
    assert (other.loss, other.from_logits) == ("mean_squared_error", False)


def _with_data(y: np.ndarray, x: np.ndarray, units: int, activation: str, loss: str) -> Head:
    last = layer("dense", "Dense", (None, units), "input", activation=activation)
    architecture = model(
        layer("input", "InputLayer", (None, *x.shape[1:])), last, loss=loss, names=("y",), ends=("dense",)
    )
    (found,) = heads_of(architecture, None, profile_data({"x": x, "y": y}, architecture, "test"))
    return found


@each(
    ("y", "units", "activation", "loss", "task"),
    [
        (np.arange(60) % 2, 1, "sigmoid", "binary_crossentropy", "binary"),
        (np.arange(60) % 4, 4, "softmax", "sparse_categorical_crossentropy", "multiclass"),
        (np.arange(60) % 4, 1, "linear", "mse", "regression"),
        (np.eye(3)[np.arange(60) % 3], 3, "softmax", "mse", "multiclass"),
        ((np.random.default_rng(0).random((60, 3)) > 0.5) * 1.0, 3, "sigmoid", "binary_crossentropy", "multilabel"),
        (np.random.default_rng(0).normal(size=60), 1, "linear", "mse", "regression"),
    ],
)
def test_task_by_targets(y: np.ndarray, units: int, activation: str, loss: str, task: str) -> None:
    found = _with_data(y, np.random.default_rng(1).normal(size=(60, 4)), units, activation, loss)

    assert (found.task, found.rebuilds) == (task, "")


def test_an_autoencoder_rebuilds_its_input_and_a_table_with_as_many_labels_does_not() -> None:
    random = np.random.default_rng(3)
    x = (random.random((60, 4)) > 0.5) * 1.0

    assert _with_data(x, x, 4, "sigmoid", "mse").rebuilds == "input"
    assert _with_data(np.eye(4)[np.arange(60) % 4], random.normal(size=(60, 4)), 4, "softmax", "mse").rebuilds == ""

"""Keras 1 settings in Keras 2's words: layers that Keras 2 builds, and that answer in the sizes Keras 1 documented."""

from __future__ import annotations

from typing import Any

from stethoscope.models.formats.keras_model.keras_legacy import is_legacy, modernised
from tests.frameworks import tf_keras
from tests.tables import each

NAME = {"name": "it"}
SERIES = {
    "activation": "tanh",
    "inner_activation": "hard_sigmoid",
    "init": "glorot_uniform",
    "inner_init": "orthogonal",
}


@each(
    ("class_name", "config", "shape", "made", "settings"),
    [
        ("Dense", {"output_dim": 3, "bias": False}, (None, 5), (None, 3), {"units": 3, "use_bias": False}),
        ("Dropout", {"p": 0.25}, (None, 5), (None, 5), {"rate": 0.25}),
        ("GaussianNoise", {"sigma": 0.5}, (None, 5), (None, 5), {"stddev": 0.5}),
        (
            "Convolution1D",
            {"nb_filter": 4, "filter_length": 3, "subsample_length": 2, "border_mode": "same"},
            (None, 9, 2),
            (None, 5, 4),
            {"kernel_size": (3,), "strides": (2,)},
        ),
        (
            "Convolution2D",
            {"nb_filter": 4, "nb_row": 3, "nb_col": 2, "border_mode": "valid", "dim_ordering": "th"},
            (None, 2, 8, 9),
            (None, 4, 6, 8),
            {"kernel_size": (3, 2), "data_format": "channels_first"},
        ),
        (
            "Convolution3D",
            {"nb_filter": 4, "kernel_dim1": 1, "kernel_dim2": 2, "kernel_dim3": 3, "dim_ordering": "tf"},
            (None, 5, 6, 7, 2),
            (None, 5, 5, 5, 4),
            {"kernel_size": (1, 2, 3), "data_format": "channels_last"},
        ),
        ("MaxPooling1D", {"pool_length": 3, "stride": None}, (None, 9, 2), (None, 3, 2), {"strides": (3,)}),
        ("MaxPooling1D", {"pool_length": 3, "stride": 2}, (None, 9, 2), (None, 4, 2), {"strides": (2,)}),
        ("UpSampling1D", {"length": 3}, (None, 4, 2), (None, 12, 2), {"size": 3}),
        ("ZeroPadding2D", {"padding": [1, 2, 3, 4]}, (None, 5, 5, 2), (None, 8, 12, 2), {"padding": ((1, 2), (3, 4))}),
        (
            "Embedding",
            {
                "input_dim": 7,
                "output_dim": 3,
                "input_length": 4,
                "init": "uniform",
                "W_regularizer": None,
                "dropout": 0.0,
            },
            (None, 4),
            (None, 4, 3),
            {"input_dim": 7, "output_dim": 3, "input_length": 4},
        ),
        (
            "LSTM",
            {"output_dim": 3, "consume_less": "cpu", "forget_bias_init": "one", "dropout_W": 0.1, **SERIES},
            (None, 4, 2),
            (None, 3),
            {"units": 3, "implementation": 1, "unit_forget_bias": True, "dropout": 0.1},
        ),
        (
            "LSTM",
            {"output_dim": 3, "consume_less": "gpu", "forget_bias_init": "zero", **SERIES},
            (None, 4, 2),
            (None, 3),
            {"implementation": 2, "unit_forget_bias": False},
        ),
        (
            "GRU",
            {"output_dim": 3, "consume_less": "mem", "return_sequences": True, **SERIES},
            (None, 4, 2),
            (None, 4, 3),
            {"units": 3, "reset_after": False},
        ),
    ],
)
def test_keras_2_builds_what_keras_1_meant(
    class_name: str, config: dict[str, Any], shape: tuple[int | None, ...], made: Any, settings: dict[str, Any]
) -> None:
    layer = tf_keras.layers.deserialize(modernised({"class_name": class_name, "config": NAME | config}))
    assert tuple(layer.compute_output_shape(shape)) == made
    built = layer.get_config()
    assert {key: built[key] for key in settings} == settings


MERGED = {"concat_axis": -1, "dot_axes": -1, "mode_type": "raw", "output_shape": None, "arguments": {}}


@each(
    ("mode", "class_name", "made"),
    [
        ("sum", "Add", (None, 4)),
        ("mul", "Multiply", (None, 4)),
        ("ave", "Average", (None, 4)),
        ("max", "Maximum", (None, 4)),
        ("concat", "Concatenate", (None, 8)),
        ("dot", "Dot", (None, 1)),
        ("cos", "Dot", (None, 1)),
    ],
)
def test_a_merge_is_the_layer_of_its_mode(mode: str, class_name: str, made: Any) -> None:
    new = modernised({"class_name": "Merge", "config": {**NAME, **MERGED, "mode": mode}})
    layer = tf_keras.layers.deserialize(new)
    assert type(layer).__name__ == class_name
    assert tuple(layer.compute_output_shape([(None, 4), (None, 4)])) == made
    if class_name == "Dot":
        assert layer.normalize is (mode == "cos")


def test_a_merge_by_a_function_stays_code() -> None:
    new = modernised({"class_name": "Merge", "config": {**NAME, **MERGED, "mode": "code", "mode_type": "lambda"}})
    assert new["class_name"] == "Lambda"
    assert (new["config"]["function"], new["config"]["function_type"]) == ("code", "lambda")


@each(
    ("model", "version", "legacy"),
    [
        ({}, "1.2.2", True),
        ({}, "0.3.3", True),
        ({}, "2.1.3", False),
        ({"class_name": "Sequential", "config": [{"class_name": "A", "config": {"nb_filter": 3}}]}, "", True),
        ({"class_name": "Model", "config": {"layers": [{"config": {"dim_ordering": "tf"}}]}}, "", True),
        ({"class_name": "Model", "config": {"layers": [{"config": {"units": 3}}]}}, "", False),
        ({"class_name": "Model", "config": "odd"}, "", False),
        ("odd", "", False),
    ],
)
def test_a_model_of_keras_1_is_told_by_its_version_or_by_its_settings(model: Any, version: str, legacy: bool) -> None:
    assert is_legacy(model, version) is legacy


def test_layers_inside_layers_are_modernised_too() -> None:
    inner = {"class_name": "Dense", "config": {"output_dim": 3}}
    model = {
        "class_name": "Model",
        "config": {"layers": [{"class_name": "TimeDistributed", "config": {"layer": inner}}, "odd"]},
    }
    (wrapper, odd) = modernised(model)["config"]["layers"]
    assert wrapper["config"]["layer"] == {"class_name": "Dense", "config": {"units": 3}}
    assert odd == "odd"

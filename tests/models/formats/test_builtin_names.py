"""Names that describing relies on without a framework are those of the installed Keras and TensorFlow."""

from __future__ import annotations

import json
from pathlib import Path

from stethoscope.models.formats.keras_model import keras_builtins
from tests.tables import each
from tools import graph_ops

KERAS = Path(keras_builtins.__file__).with_suffix(".json")


def test_the_names_of_keras_are_those_that_are_installed() -> None:
    kept, found = json.loads(KERAS.read_text()), keras_builtins.collect()
    assert kept.keys() == found.keys()
    for part in ("functions", "function_names"):
        assert kept[part] == found[part]
    for part in ("classes", "names", "operations"):
        # Whatever else has been imported of Keras by now is listed too.
        assert set(kept[part]) <= set(found[part])
    assert not {name.rsplit(".", 1)[-1] for name in found["classes"]} & keras_builtins.RUNS_CODE
    assert not set(found["names"]) & keras_builtins.RUNS_CODE


@each(
    ("class_name", "module", "registered", "own"),
    [
        ("Dense", "keras.layers", None, True),
        ("Dense", "keras.src.layers.core.dense", None, True),
        ("Dense", "keras.engine.training", None, False),
        ("Dense", "evil.layers", None, False),
        ("Dense", None, None, True),
        ("Dense", None, "Mine>Dense", False),
        ("Lambda", "keras.layers", None, False),
        ("Adam", None, "Custom>Adam", True),
    ],
)
def test_a_class_is_of_keras_by_its_exact_name(
    class_name: str, module: str | None, registered: str | None, own: bool
) -> None:
    assert keras_builtins.is_builtin_class(class_name, module, registered) is own


@each(
    ("name", "module", "own"),
    [
        ("relu", None, True),
        ("relu", "builtins", True),
        ("relu", "keras.activations", True),
        ("system", "os", False),
        ("system", None, False),
        ("relu", "os", False),
    ],
)
def test_a_function_is_of_keras_by_its_exact_name(name: str, module: str | None, own: bool) -> None:
    assert keras_builtins.is_builtin_function(name, module) is own


@each(
    ("key", "layer"),
    [
        ("dense", "Dense"),
        ("dense_12", "Dense"),
        ("multi_head_attention_1", "MultiHeadAttention"),
        ("conv2d", "Conv2D"),
        ("block_1", ""),
    ],
)
def test_a_group_of_weights_names_its_layer(key: str, layer: str) -> None:
    assert keras_builtins.layer_by_key(key) == layer


def test_the_operators_are_those_of_the_installed_tensorflow() -> None:
    assert json.loads(graph_ops.TABLE.read_text()) == graph_ops.collected()


@each(
    ("name", "category"),
    [
        ("MatMul", ""),
        ("PyFunc", "python-function"),
        ("ReadFile", "file-access"),
        ("TFRecordDataset", "file-access"),
        ("XlaCallModule", "hidden-program"),
        ("DebugIdentity", "network"),
        ("Abort", "process"),
        ("_Arg", ""),
        ("_NoSuchOperator", "internal-operator"),
    ],
)
def test_operators_that_do_more_than_compute_are_told_by_name(name: str, category: str) -> None:
    assert graph_ops.category(name) == category

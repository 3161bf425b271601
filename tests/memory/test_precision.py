"""The same weights under another dtype policy: close outputs, inputs untouched, and plain refusals."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from stethoscope.errors import CannotRun
from stethoscope.memory.precision import largest_difference, with_precision
from tests.frameworks import in_turn_in_both_kerases
from tests.memory.models import branches, opened, sequences
from tests.memory.test_call_styles import feed, one_way

PACKAGES = ("keras", "tf_keras")
LOWER = ("mixed_float16", "mixed_bfloat16", "float16", "bfloat16")


@pytest.mark.parametrize(("package", "precision"), in_turn_in_both_kerases(LOWER))
def test_outputs_stay_close_and_every_layer_changes(tmp_path, package, precision):
    runner = opened(branches(importlib.import_module(package)), tmp_path)
    before, inputs = runner.predict(feed(4)), runner.inputs
    changed = with_precision(runner, precision)
    gaps = largest_difference(before, changed.predict(feed(4)))
    assert set(gaps) == {"kind", "size"}
    assert all(0 < gap < 0.1 for gap in gaps.values())
    assert changed.inputs == inputs  # int32 words stay int32, float32 numbers float32
    computing = [
        layer
        for layer in changed.model._flatten_layers(include_self=False)
        if type(layer).__name__ != "InputLayer" and not isinstance(layer, changed.keras.Model)
    ]
    assert {layer.dtype_policy.name for layer in computing} == {precision}
    kernels = {
        str(getattr(w.dtype, "name", w.dtype)) for w in changed.model.weights if "kernel" in getattr(w, "path", w.name)
    }
    assert kernels == {"float32" if precision.startswith("mixed") else precision}


@pytest.mark.parametrize("package", PACKAGES)
def test_recurrent_layers_whose_initialisers_know_no_bfloat16(tmp_path, package):
    runner = opened(sequences(importlib.import_module(package)), tmp_path)
    (name,) = [spec.name for spec in runner.inputs]
    x = {name: np.ones((2, 6, 4), np.float32)}
    before = runner.predict(x)
    assert largest_difference(before, with_precision(runner, "bfloat16").predict(x))["score"] < 0.05


def test_there_and_back(tmp_path):
    import keras

    runner = opened(branches(keras), tmp_path)
    before = runner.predict(feed(4))
    back = with_precision(with_precision(runner, "mixed_float16"), "float32")
    assert largest_difference(before, back.predict(feed(4))) == {"kind": 0.0, "size": 0.0}


def test_as_saved_changes_nothing():
    runner = one_way()
    assert with_precision(runner, "as saved") is runner


def test_a_graph_has_its_types_built_in():
    with pytest.raises(CannotRun, match="graph"):
        with_precision(one_way(), "mixed_float16")


def test_a_cast_of_the_model_s_own_stays(tmp_path):
    import keras

    x = keras.Input((4,), name="x")
    y = keras.ops.cast(keras.layers.Dense(2)(x), "float32")
    changed = with_precision(opened(keras.Model(x, y), tmp_path), "float16")
    (output,) = changed.predict({"x": np.ones((1, 4), np.float32)}).values()
    assert output.dtype == np.float32


def test_a_quantised_model_is_left_alone(tmp_path):
    import keras

    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])
    model.quantize("int8")
    with pytest.raises(CannotRun, match="quantised"):
        with_precision(opened(model, tmp_path), "mixed_bfloat16")


def test_differences_that_are_no_numbers():
    nan = {"y": np.array([np.nan, 1.0], np.float32), "text": np.array(["a"])}
    assert largest_difference(nan, {"y": np.zeros(2, np.float32), "text": np.array(["a"])}) == {"y": None}

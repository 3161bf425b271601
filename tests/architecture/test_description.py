"""A description goes to JSON and back; what has another shape is none."""

from __future__ import annotations

import json

import pytest

from stethoscope.codec import decode, plain
from stethoscope.errors import StethoscopeError
from stethoscope.tasks.describe import Description, FormatNamed
from stethoscope.types import Architecture, CompileSettings, Layer, Operand, TensorSpec

SPEC = TensorSpec("x", (None, 4), "float32")
MODEL = Architecture(
    "keras",
    "Keras 3.15.1",
    20,
    None,
    (SPEC,),
    (TensorSpec("y", None, "string"),),
    (Layer("a", "Dense", (None, 4), 20, 20, "float32", ("x",), {"units": 4}, (Operand("", None), Operand("x", (2,)))),),
    CompileSettings("mse", "Adam", 0.1, ["mae"]),
    display_format="Keras 3",
)


def test_it_comes_back_as_it_was_and_names_its_format_alone():
    value = json.loads(json.dumps(plain(Description.of(MODEL, 7))))
    assert value["parameters"] == {"total": 20, "trainable": None} and value["size_bytes"] == 7
    assert value["layers"][0]["operands"] == [["", None], ["x", [2]]]
    assert decode(Description, value).architecture == MODEL
    assert decode(FormatNamed, value) == FormatNamed("keras", "Keras 3")


def test_what_has_another_shape_is_refused():
    with pytest.raises(StethoscopeError, match="parameters"):
        decode(Description, {**plain(Description.of(MODEL, 7)), "parameters": 20})

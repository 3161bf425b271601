"""Steps in order: which arrays they change, how they are kept in the address, and as code."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.data.preprocessing.parameter import Step
from stethoscope.data.preprocessing.preparation import Preparation, variable
from stethoscope.errors import BadSetting, StethoscopeError
from tests.exploring import examples

STEPS = [
    {"step": "scale", "of": "x", "factor": 1 / 255, "offset": 0.0},
    {"step": "transpose", "of": "x", "axes": [0, 2, 3, 1]},
    {"step": "to_class_numbers", "of": "y", "classes": ["a~b", "50%", "ü", "%7E~~"]},
    {"step": "resize", "of": "my input/1", "height": 2, "width": 3},
]


def test_nothing_asked_is_nothing_done():
    empty = Preparation.from_json(())
    rows = np.arange(6).reshape(3, 2)
    assert (empty.apply_to("x", rows) == rows).all()
    assert empty.apply_to("x", [[1, 2], [3, 4]]).shape == (2, 2)
    assert empty.code() == "" == empty.to_address()
    assert Preparation.from_address("") == empty


def test_steps_go_in_order():
    first = Preparation.from_json([{"step": "scale", "factor": 2}, {"step": "scale", "factor": 1, "offset": 1}])
    assert first.apply_to("x", np.array([1.0]))[0] == 3
    assert first.moved(1, -1).apply_to("x", np.array([1.0]))[0] == 4
    assert first.without(0).apply_to("x", np.array([1.0]))[0] == 2
    assert first.with_step(Step("scale", "x", {"factor": 10}), 0).apply_to("x", np.array([1.0]))[0] == 21


def test_steps_of_x_also_change_the_rows_held_out():
    steps = Preparation.from_json([{"step": "scale", "factor": 2}])
    for name in ("x", "x_train", "x_test", "X_val".lower(), "test_x"):
        assert steps.apply_to(name, np.array([1.0]))[0] == 2, name
    for name in ("y", "x2", "xtest", "y_test"):
        assert steps.apply_to(name, np.array([1.0]))[0] == 1, name


def test_the_address_keeps_every_step():
    steps = Preparation.from_json(STEPS)
    text = steps.to_address()
    assert Preparation.from_address(text) == steps
    assert text.startswith("scale~x~factor~0.00392156862745098")


def test_code_is_python_whatever_the_names():
    hostile = 'x"); import os; os.system("true")\n#'
    code = Preparation.from_json([*STEPS, {"step": "flatten", "of": hostile}]).code()
    tree = ast.parse(code)
    imports = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imports == {"keras", "numpy"}
    assert variable("class") == "_class"
    assert variable("1st input").isidentifier()


def test_words_say_the_steps():
    assert Preparation.from_json(STEPS).words()[:2] == ["÷255", "channels first → last"]
    assert Preparation.from_json(STEPS).words()[2].startswith("y: ")


def test_too_many_steps_are_refused():
    with pytest.raises(BadSetting, match="at most"):
        Preparation.from_json([{"step": "flatten"}] * 1000)


@examples(100)
@given(st.text(max_size=80) | st.text("scale~x%7E[]0123,.\"'", max_size=60))
def test_any_address_is_read_or_refused_in_a_sentence(text):
    try:
        read = Preparation.from_address(text)
    except StethoscopeError as error:
        assert str(error).endswith(".")
    else:
        assert Preparation.from_address(read.to_address()) == read


@examples(100)
@given(st.lists(st.text(max_size=20), min_size=1, max_size=5, unique=True), st.text(min_size=1, max_size=30))
def test_any_label_and_any_array_name_survive_the_address(labels, of):
    steps = Preparation.from_json([{"step": "to_class_numbers", "of": of, "classes": labels}])
    assert Preparation.from_address(steps.to_address()) == steps
    ast.parse(steps.code())

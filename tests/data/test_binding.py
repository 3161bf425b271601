"""Which array of a data file is which."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.data.rows import bind_all
from stethoscope.types import Architecture, TensorSpec
from tests.tables import each


def model(inputs: tuple[str, ...] = ("image",), outputs: tuple[str, ...] = ("kind",)) -> Architecture:
    return Architecture(
        format_id="keras",
        framework_version="",
        parameters=0,
        trainable_parameters=0,
        inputs=tuple(TensorSpec(name, (None, 4), "float32") for name in inputs),
        outputs=tuple(TensorSpec(name, (None, 3), "float32") for name in outputs),
        layers=(),
    )


def arrays(*names: str) -> dict[str, np.ndarray]:
    return {name: np.full((5, 4), index, np.float32) for index, name in enumerate(names)}


@each(
    "names",
    [("x", "y"), ("X", "Y"), ("x_train", "y_train"), ("image", "kind"), ("x_image", "y_kind"), ("features", "labels")],
)
def test_one_input_and_its_labels_are_found_by_any_usual_name(names):
    bound = bind_all(arrays(*names), model())
    assert bound.inputs["image"][0, 0] == 0
    assert bound.targets["kind"][0, 0] == 1
    assert (bound.problem, bound.others, bound.rows) == ("", {}, 5)


def test_a_lone_array_is_the_input_and_there_are_no_targets():
    bound = bind_all(arrays("whatever"), model())
    assert list(bound.inputs) == ["image"]
    assert not bound.targets and not bound.problem


@each("names", [("left", "right"), ("x_left", "x_right"), ("x0", "x1"), ("x1", "x2"), ("x_0", "x_1")])
def test_several_inputs_by_name_or_by_number(names):
    bound = bind_all(arrays(*names, "y"), model(("left", "right")))
    assert [array[0, 0] for array in bound.inputs.values()] == [0, 1]
    assert list(bound.inputs) == ["left", "right"] and list(bound.targets) == ["kind"]


def test_several_outputs_by_name():
    bound = bind_all(arrays("x", "y_colour", "y_size"), model(outputs=("colour", "size")))
    assert {name: array[0, 0] for name, array in bound.targets.items()} == {"colour": 1, "size": 2}


@pytest.mark.parametrize(("spelled", "called"), [("x_test", "x_test"), ("test_x", "x_test"), ("X_valid", "x_val")])
def test_held_out_rows_are_kept_apart(spelled, called):
    bound = bind_all(arrays("x", "y", spelled), model())
    assert list(bound.others) == [called]


def test_inputs_that_cannot_be_matched_are_said_not_raised():
    bound = bind_all(arrays("a", "b", "y"), model(("left", "right")))
    assert "['left', 'right']" in bound.problem and "numpy.savez" in bound.problem
    assert not bound.inputs and list(bound.targets) == ["kind"] and set(bound.others) == {"a", "b"}


def test_wrong_shapes_are_bound_all_the_same():
    bound = bind_all({"x": np.zeros((7, 9)), "y": np.zeros(3)}, model())
    assert bound.inputs["image"].shape == (7, 9) and bound.targets["kind"].shape == (3,)

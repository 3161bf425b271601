"""Which input of one model is which of the other."""

from __future__ import annotations

import numpy as np

from stethoscope.compare.parity.inputs_and_outputs import pair_inputs, pair_outputs
from stethoscope.types import TensorSpec
from tests.tables import each


def test_inputs_of_other_names_are_told_by_their_shapes():
    first = [TensorSpec("pixels", (None, 28, 28, 1), "float32"), TensorSpec("age", (None, 3), "float32")]
    second = [TensorSpec("b:0", (None, 3), "float32"), TensorSpec("a:0", (None, 1, 28, 28), "float32")]
    assert pair_inputs(first, second) == {"b:0": "age", "a:0": "pixels"}


def test_inputs_of_fixed_sizes_fit_only_their_like():
    first = [TensorSpec("tokens", (1, 16), "int64"), TensorSpec("mask", (1, 8), "int64")]
    second = [TensorSpec("x", (1, 8), "int64"), TensorSpec("y", (1, 16), "int64"), TensorSpec("z", (1, 2), "int64")]
    assert pair_inputs(first, second) == {"x": "mask", "y": "tokens"}


def test_names_that_differ_by_a_number_alone_are_the_same_input():
    first = [TensorSpec("left:0", (None, 4), "float32"), TensorSpec("right:0", (None, 4), "float32")]
    second = [TensorSpec("right_1", (None, 4), "float32"), TensorSpec("left_1", (None, 4), "float32")]
    assert pair_inputs(first, second) == {"left_1": "left:0", "right_1": "right:0"}


def test_an_input_of_any_shape_fits_what_is_left():
    first = [TensorSpec("a", (None, 4), "float32"), TensorSpec("b", None, "float32")]
    second = [TensorSpec("b", None, "float32"), TensorSpec("c", None, "float32")]
    assert pair_inputs(first, second) == {"b": "b", "c": "a"}


VALUES = np.random.default_rng(0).normal(size=(3, 5, 2)).astype(np.float32)
WORDS = np.array(["cat"] * 5)


@each(
    ("first", "second", "expected"),
    [
        ({"y:0": VALUES[0], "z:0": VALUES[1]}, {"z_1": VALUES[1], "y_1": VALUES[0]}, {"y:0": "y_1", "z:0": "z_1"}),
        ({"p": VALUES[0], "q": VALUES[1]}, {"r": VALUES[1] + 1e-3, "s": VALUES[0]}, {"p": "s", "q": "r"}),
        ({"p": VALUES[0]}, {"r": VALUES[1], "s": VALUES[0], "t": VALUES[2]}, {"p": "s"}),
        ({"p": VALUES[0], "q": VALUES[1]}, {"r": VALUES[1]}, {"q": "r"}),
        # Other names and more values in a row: only the shape tells them apart.
        ({"p": VALUES[0], "q": WORDS}, {"r": WORDS, "s": VALUES[0]}, {"p": "s", "q": "r"}),
        ({"p": VALUES[0], "q": VALUES[1, :, :1]}, {"r": VALUES[2, :, :1], "s": VALUES[2]}, {"p": "s", "q": "r"}),
    ],
)
def test_outputs_are_paired_by_name_else_as_their_values_fit_best(first, second, expected):
    assert pair_outputs(first, second) == expected


def test_too_many_outputs_to_try_every_order_are_paired_in_theirs():
    first, second = ({f"{side}{'abcdefghi'[place]}": VALUES[0] for place in range(9)} for side in ("left ", "right "))
    assert pair_outputs(first, second) == dict(zip(first, second, strict=True))

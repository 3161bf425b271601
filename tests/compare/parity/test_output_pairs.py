"""Which input of one model is which of the other."""

from __future__ import annotations

from stethoscope.compare.parity.output_pairs import pair_inputs
from stethoscope.types import TensorSpec


def test_inputs_of_other_names_are_told_by_their_shapes():
    first = [TensorSpec("pixels", (None, 28, 28, 1), "float32"), TensorSpec("age", (None, 3), "float32")]
    second = [TensorSpec("b:0", (None, 3), "float32"), TensorSpec("a:0", (None, 1, 28, 28), "float32")]
    assert pair_inputs(first, second) == {"b:0": "age", "a:0": "pixels"}


def test_inputs_of_fixed_sizes_fit_only_their_like():
    first = [TensorSpec("tokens", (1, 16), "int64"), TensorSpec("mask", (1, 8), "int64")]
    second = [TensorSpec("x", (1, 8), "int64"), TensorSpec("y", (1, 16), "int64"), TensorSpec("z", (1, 2), "int64")]
    assert pair_inputs(first, second) == {"x": "mask", "y": "tokens"}

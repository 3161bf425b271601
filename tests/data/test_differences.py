"""Comparing arrays: what counts as the same, and where the largest gap is."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from stethoscope.data.batching import difference, first_layer, same_bits, tolerance
from tests.exploring import examples


@examples(100)
@given(arrays(np.float32, array_shapes(max_dims=3, max_side=4), elements=st.floats(width=32)))
def test_an_array_equals_itself_whatever_it_holds(array):
    assert same_bits(array, array.copy())
    assert difference(array, array.copy(), 0.0) is None


@examples(100)
@given(
    arrays(np.float32, (3, 4), elements=st.floats(-1e3, 1e3, width=32)), st.integers(0, 11), st.floats(1, 1e3, width=32)
)
def test_the_largest_gap_is_found_with_both_values(array, place, gap):
    other = array.copy()
    other.flat[place] += np.float32(gap)
    found = difference(array, other, 1e-6)
    assert found is not None
    assert found.index == np.unravel_index(place, array.shape)
    assert found.values == (array.flat[place], other.flat[place])


def test_rounding_is_within_tolerance_and_nan_is_not():
    one = np.ones(3, np.float32)
    assert not difference(one, one + 1e-6, 1e-5).beyond
    assert difference(one, np.array([1, np.nan, 1], np.float32), 1e-5).beyond


def test_shapes_and_text_can_differ_too():
    assert difference(np.zeros(3), np.zeros(4), 1e-5).beyond
    words = np.array(["a", "b"], object)
    assert difference(words, np.array(["a", "c"], object), 0).index == (1,)


def test_half_precision_is_given_more_room():
    assert tolerance(np.dtype("float16"), 1e-5)[1] > tolerance(np.dtype("float32"), 1e-5)[1]


def test_the_first_layer_in_execution_order_is_named():
    first = {"a": np.zeros(2), "b": np.zeros(2), "c": np.zeros(2)}
    second = {"a": np.zeros(2), "b": np.ones(2), "c": np.ones(2)}
    assert first_layer(first, second, 1e-5, bits=False)[0] == "b"
    assert first_layer(first, first, 1e-5, bits=True) is None

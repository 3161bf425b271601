"""Where values lie on an axis: nothing is dropped, whatever it is."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.logs.runs.axes import MISSING, MOST_NAMES, NOT_A_NUMBER, OTHERS, axis_of
from tests.exploring import examples


def texts(axis):
    return [text for _, text in axis.ticks]


def test_numbers_over_decades_are_logarithmic():
    axis = axis_of([1e-5, 1e-3, 1e-1])
    assert axis.kind == "log"
    np.testing.assert_allclose(axis.position, [-5, -3, -1])
    assert texts(axis) == ["1e−5", "0.001", "0.1"]


def test_few_decades_zero_and_negatives_are_not():
    assert axis_of([16, 32, 64]).kind == "number"
    assert axis_of([0, 1, 1000]).kind == axis_of([-1, 1000]).kind == "number"


def test_what_is_no_number_has_a_place_of_its_own():
    axis = axis_of([1.0, 2.0, math.nan, None, math.inf, -math.inf])
    places = {text: place for place, text in axis.ticks}
    assert places[MISSING] < places[NOT_A_NUMBER] < places["−∞"] < 1
    assert places["∞"] > 2
    assert axis.position.tolist() == [1, 2, places[NOT_A_NUMBER], places[MISSING], places["∞"], places["−∞"]]


def test_nan_lies_at_the_bad_end():
    axis = axis_of([1.0, 2.0, math.nan, None], nan_above=True)
    places = {text: place for place, text in axis.ticks}
    assert places[MISSING] < 1
    assert places[NOT_A_NUMBER] > 2
    assert axis.high == places[NOT_A_NUMBER]


def test_names_truth_values_and_mixtures():
    axis = axis_of(["sgd", "adam", None, True, 3])
    assert axis.kind == "name"
    assert texts(axis) == [MISSING, "3", "adam", "sgd", "true"]


def test_rare_names_share_a_place():
    axis = axis_of(["often"] * 5 + [f"name {place}" for place in range(100)])
    assert len(axis.ticks) == MOST_NAMES
    assert "often" in texts(axis)
    assert texts(axis)[-1] == OTHERS
    assert axis.position[-1] == len(axis.ticks) - 1


_ANY = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@examples(100)
@given(st.lists(_ANY, max_size=40))
def test_every_value_lies_on_the_axis(values):
    axis = axis_of(values)
    assert len(axis.position) == len(values)
    assert np.isfinite(axis.position).all()
    assert math.isfinite(axis.low) and math.isfinite(axis.high) and axis.low < axis.high
    assert ((axis.position >= axis.low) & (axis.position <= axis.high)).all()
    assert list(axis.ticks) == sorted(axis.ticks)
    assert all(math.isfinite(place) for place, _ in axis.ticks)


@examples(100)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_numbers_keep_their_order(values):
    axis = axis_of(values)
    assert np.all(np.diff(axis.position[np.argsort(values, kind="stable")]) >= 0)

"""Differences of arrays, against numpy on the whole array."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stethoscope.compare.parity.array_difference import (
    array_difference,
    candidates,
    decided_agreement,
    orient,
    top_agreement,
)
from tests.tables import each

RANDOM = np.random.default_rng(0)


def test_the_measures_are_those_of_the_whole_array():
    random = np.random.default_rng(0)
    a = random.standard_normal((3, 1 << 19)).astype(np.float32)
    b = (a + 1e-3 * random.standard_normal(a.shape)).astype(np.float32)
    found = array_difference(a, b)
    gap = a.astype(np.float64) - b.astype(np.float64)
    assert found.max_abs == pytest.approx(np.abs(gap).max(), rel=1e-12)
    assert found.mean_abs == pytest.approx(np.abs(gap).mean(), rel=1e-9)
    both = np.sqrt((np.square(a.astype(np.float64)).sum() + np.square(b.astype(np.float64)).sum()) / 2)
    assert found.nrmse == pytest.approx(np.linalg.norm(gap) / both, rel=1e-9)
    assert found.sqnr_db == pytest.approx(-20 * math.log10(found.nrmse))
    assert found.cosine == pytest.approx(1.0, abs=1e-5)
    assert found.max_rel == pytest.approx(np.abs(gap).max() / max(np.abs(a).max(), np.abs(b).max()), rel=1e-6)


@each("scale", [0.0, 0.2, 1.0, 40.0])
def test_the_measures_are_the_same_when_the_arrays_are_exchanged(scale):
    a = RANDOM.random((40, 7))
    b = scale * a + 0.02 * RANDOM.random(a.shape)
    assert array_difference(a, b) == array_difference(b, a)
    for k in (1, 3, 5):
        assert top_agreement(a, b, k) == top_agreement(b, a, k)
    assert decided_agreement(a, b, 0.05) == decided_agreement(b, a, 0.05)


def test_a_thing_beside_zeros_is_far_in_both_orders():
    found = array_difference(np.zeros(3), np.ones(3))
    assert found == array_difference(np.ones(3), np.zeros(3))
    assert found.nrmse == pytest.approx(math.sqrt(2))
    assert found.max_rel == 1.0


def test_numbers_that_are_none_count_as_equal_only_to_their_like():
    a = np.array([1.0, np.nan, np.inf, 2.0])
    assert array_difference(a, a.copy()).max_abs == 0
    found = array_difference(a, np.array([1.0, 5.0, np.inf, 2.0]))
    assert (found.nonfinite, found.max_abs) == (1, math.inf)
    assert found.to_json()["max_abs"] is None


def test_zeros_and_empty_arrays_have_no_angle():
    assert array_difference(np.zeros(3), np.zeros(3)).cosine is None
    assert array_difference(np.zeros(3), np.zeros(3)).nrmse == 0
    assert array_difference(np.zeros((0, 3)), np.zeros((0, 3))).max_abs == 0
    with pytest.raises(ValueError, match="shapes"):
        array_difference(np.zeros(3), np.zeros(4))


def test_classes_agree_where_the_largest_entries_are_the_same():
    a = np.array([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]])
    b = np.array([[0.1, 0.6, 0.3], [0.3, 0.5, 0.2]])
    assert top_agreement(a, b) == 0.5
    assert top_agreement(a, b, 2) == 1.0
    assert top_agreement(a, np.array([[0.0, 0.9, 0.0], [0.9, 0.0, 0.0]]), 2) == 1.0, "ties take part"
    assert top_agreement(a, np.array([[0.4, 0.6, 0.0], [0.5, 0.1, 0.4]]), 2) == 0.0
    assert top_agreement(a[:, :1], b[:, :1]) is None
    assert top_agreement(a, b, 5) is None


def test_a_class_that_is_hardly_preferred_may_turn():
    a = np.array([[0.50, 0.49, 0.01], [0.90, 0.05, 0.05], [0.1, 0.8, 0.1]])
    b = np.array([[0.49, 0.50, 0.01], [0.05, 0.90, 0.05], [0.1, 0.8, 0.1]])
    assert top_agreement(a, b) == pytest.approx(1 / 3)
    assert decided_agreement(a, b, 0.1) == pytest.approx(2 / 3)
    assert decided_agreement(a, b, 0.0) == pytest.approx(1 / 3)
    assert decided_agreement(a[:, :1], b[:, :1], 0.1) is None


@each("shape", [(2, 5, 5, 3), (2, 4, 6, 3), (2, 3, 3, 3), (2, 7, 4)])
def test_channels_first_is_turned_back(shape):
    a = RANDOM.standard_normal(shape)
    b = np.moveaxis(a, -1, 1)
    found, turned = orient(a, b)
    assert np.array_equal(turned, a)
    assert found.said()


def test_what_is_nearly_the_same_stays_as_it_lies():
    a = RANDOM.standard_normal((2, 5, 5, 3))
    found, _ = orient(a, a + 0.5 * RANDOM.standard_normal(a.shape))
    assert found.is_plain


def test_axes_of_length_one_and_flattening_are_other_shapes():
    a = RANDOM.standard_normal((2, 1, 4, 3))
    found, turned = orient(a, a.reshape(2, 4, 3))
    assert found.reshaped
    assert np.array_equal(turned, a)
    found, turned = orient(a, a.reshape(2, 12))
    assert np.array_equal(turned, a)


@each(
    ("a", "b"),
    [
        ((2, 4, 3), (2, 4, 3)),
        ((2, 4, 5, 3), (2, 3, 4, 5)),
        ((2, 1, 4, 3), (2, 3, 4)),
        ((2, 3, 3, 3), (2, 3, 3, 3)),
        ((2, 12), (2, 4, 3)),
    ],
)
def test_what_is_turned_can_be_turned_back(a, b):
    array = RANDOM.random(b)
    ways = list(candidates(a, b))
    assert ways
    for way in ways:
        np.testing.assert_array_equal(way.back().apply(way.apply(array, a), b), array)


def test_other_sizes_have_no_orientation():
    assert orient(np.zeros((2, 3)), np.zeros((2, 4))) is None
    assert list(candidates((2, 3), (3, 2))) == []


def test_the_orders_of_formats_come_before_others():
    assert next(one.said() for one in candidates((4, 8, 5, 8), (4, 8, 8, 5))) == "channels first"


def test_single_numbers_have_an_orientation():
    turned, array = orient(np.float32(2).reshape(()), np.array([3.0], np.float32))
    assert (turned.reshaped, array.shape) == (True, ())
    assert orient(np.zeros(()), np.zeros(()))[0].is_plain

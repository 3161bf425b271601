"""Histograms of many steps over the same bins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.tasks.read_media import binned, common_edges, whole
from tests.exploring import examples


def test_values_are_spread_evenly_over_their_bucket():
    edges = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    assert binned(np.array([[0.0, 4.0, 8.0]]), edges).tolist() == [0.25] * 4
    assert binned(np.array([[0.5, 1.5, 1.0], [3.0, 4.0, 1.0]]), edges).tolist() == [0.25, 0.25, 0.0, 0.5]


def test_many_of_one_value_stay_together():
    edges = common_edges([np.array([[2.0, 2.0, 5.0]])], 4)
    assert edges[0] < 2 < edges[-1]
    assert binned(np.array([[2.0, 2.0, 5.0]]), edges).max() == 1


def test_edges_reach_over_all_histograms_or_without_the_outer_ones():
    most, outlier = np.array([[-1.0, 1.0, 998.0]]), np.array([[500.0, 501.0, 1.0]])
    assert common_edges([most, outlier], 10)[[0, -1]].tolist() == [-1, 501]
    assert common_edges([most, outlier], 10, 0.005)[-1] < 1.1


def test_nothing_to_draw_gives_bins_all_the_same():
    empty, broken = np.empty((0, 3)), np.array([[np.nan, np.nan, 3.0], [0.0, np.inf, 1.0]])
    edges = common_edges([empty, broken], 5)
    assert len(edges) == 6
    assert np.isfinite(edges).all()
    assert not binned(broken, edges).any()
    assert not len(whole(broken))


@examples(50)
@given(
    st.lists(st.tuples(st.floats(-1e308, 1e308), st.floats(-1e308, 1e308), st.floats(0, 1e9)), min_size=1, max_size=30),
    st.integers(1, 50),
)
def test_nothing_gets_lost_or_invented(buckets, bins):
    histogram = np.array(buckets)
    edges = common_edges([histogram], bins)
    assert np.isfinite(edges).all()
    share = binned(histogram, edges)
    assert (share >= -1e-9).all()
    if len(whole(histogram)):
        assert share.sum() == pytest.approx(1, abs=1e-6)

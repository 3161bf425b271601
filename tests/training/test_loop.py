"""Mini-batches come in the order that `fit` gives them."""

from __future__ import annotations

import numpy as np

from stethoscope.training.loop import Batches


def test_every_epoch_holds_every_row_once_and_keeps_the_partial_batch():
    batches = Batches(10, 4, shuffle=True, seed=0)
    stretch = batches.take(7)
    assert list(stretch.sizes) == [4, 4, 2, 4, 4, 2, 4]
    first, second = stretch.order[:10], stretch.order[10:20]
    assert sorted(first) == sorted(second) == list(range(10))
    assert list(first) != list(second)


def test_stretches_join_seamlessly():
    whole = Batches(11, 3, shuffle=True, seed=4).take(9)
    parts = Batches(11, 3, shuffle=True, seed=4)
    pieces = [parts.take(count) for count in (1, 2, 5, 1)]
    np.testing.assert_array_equal(whole.order, np.concatenate([piece.order for piece in pieces]))
    assert list(whole.sizes) == [size for piece in pieces for size in piece.sizes]


def test_without_shuffling_rows_stay_in_order_and_a_batch_larger_than_the_data_is_the_data():
    stretch = Batches(5, 100, shuffle=False, seed=0).take(2)
    assert list(stretch.order) == [0, 1, 2, 3, 4] * 2
    assert list(stretch.sizes) == [5, 5]

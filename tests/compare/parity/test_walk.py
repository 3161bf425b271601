"""Outputs of words, and the rows on which two models disagree most."""

from __future__ import annotations

import numpy as np

from stethoscope.compare.parity.divergence_cause import worst_rows
from stethoscope.compare.parity.precision import Tolerance
from stethoscope.compare.parity.yardstick import compared
from tests.tables import each

LIMITS = Tolerance("float32", 1e-5, 0.999, 1e-7)


@each(
    ("left", "right", "within"),
    [
        (["cat", "dog"], ["cat", "dog"], True),
        (["cat", "dog"], ["cat", "cow"], False),
        (["cat", "dog"], ["cat"], None),
        ([1.0, 2.0], [1.0, 2.0, 3.0], None),
    ],
)
def test_outputs_of_words_are_the_same_or_not(left, right, within):
    found = compared("a", "b", np.array(left), np.array(right), LIMITS)
    assert (None if found is None else found.within) == within
    if within is False:
        assert found.max_abs_diff == 0.5 and not found.equal


def test_the_worst_rows_are_those_of_numbers():
    left = {"word": np.array(["a", "b"]), "y": np.array([[1.0], [2.0]], np.float32)}
    right = {"word": np.array(["a", "c"]), "y": np.array([[1.0], [5.0]], np.float32)}
    pairs = [compared(name, name, left[name], right[name], LIMITS) for name in left]
    (row,) = worst_rows(left, right, pairs, np.array([7, 9]), [])
    assert (row.place, row.max_abs_diff) == (9, 3.0)

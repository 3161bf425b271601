"""Which of two models is right more often, and by how much."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.parity.divergence_cause import compared, worst_rows
from stethoscope.compare.parity.precision import Tolerance
from stethoscope.compare.parity.walk import scored
from tests.frameworks import stats
from tests.tables import each

LIMITS = Tolerance("float32", 1e-5, 0.999, 1e-7)


def scores(a, b, labels):
    left, right = np.asarray(a, np.float32), np.asarray(b, np.float32)
    pair = compared("y", "y", left, right, LIMITS)
    return scored({"y": left}, {"y": right}, [pair], labels)


@each(
    ("a", "b", "labels", "expected"),
    [
        (np.eye(3), np.eye(3)[[0, 1, 1]], [0, 1, 2], (1.0, 2 / 3)),
        (np.eye(3), np.eye(3)[[0, 1, 1]], ["0", "1", "2"], (1.0, 2 / 3)),
        ([[0.2], [0.9], [0.6]], [[0.2], [0.9], [0.4]], [0, 1, 1], (1.0, 2 / 3)),
        # Beyond 0 to 1 they are logits, and 0 divides the classes.
        ([[-3.0], [2.0], [0.1]], [[-3.0], [2.0], [-0.1]], [0, 1, 1], (1.0, 2 / 3)),
    ],
)
def test_classes_are_scored_by_the_share_that_is_right(a, b, labels, expected):
    found = scores(a, b, labels)
    assert found.metric == "accuracy" and (found.a, found.b) == pytest.approx(expected)
    assert (found.only_a_right, found.only_b_right, found.rows) == (1, 0, 3)
    assert found.change == pytest.approx(found.b - found.a) and found.low <= found.change <= found.high


def test_numbers_are_scored_by_their_error_with_the_interval_of_paired_means():
    draws = np.random.default_rng(0)
    truth = draws.normal(10, 3, 500)
    a, b = truth + draws.normal(0, 1, 500), truth + draws.normal(0, 2, 500)
    found = scores(a[:, None], b[:, None], truth.tolist())
    gaps = np.abs(b - truth) - np.abs(a - truth)
    low, high = stats.norm.interval(0.95, gaps.mean(), stats.sem(gaps))
    assert found.metric == "mean absolute error"
    assert (found.a, found.b) == pytest.approx((np.abs(a - truth).mean(), np.abs(b - truth).mean()), rel=1e-5)
    assert (found.low, found.change, found.high) == pytest.approx((low, gaps.mean(), high), rel=1e-4)


@each(
    ("a", "labels"),
    [
        (np.eye(3), None),
        (np.eye(3), ["cat", "dog", "cow"]),
        (np.eye(3), [0, 1]),
        (np.eye(3), [0, 1, 7]),
        (np.zeros((3, 2, 2)), [0, 1, 1]),
    ],
)
def test_labels_that_do_not_fit_score_nothing(a, labels):
    assert scores(a, a, labels) is None


def test_of_several_outputs_the_first_that_labels_fit_is_scored_and_named():
    maps, classes = np.zeros((3, 2, 2), np.float32), np.eye(3, dtype=np.float32)
    left, right = {"map": maps, "kind": classes}, {"map": maps, "kind": classes[[0, 1, 1]]}
    pairs = [compared(name, name, left[name], right[name], LIMITS) for name in left]
    found = scored(left, right, pairs, [0, 1, 2])
    assert (found.output, found.a, found.b) == ("kind", 1.0, pytest.approx(2 / 3))
    assert scores(classes, classes, [0, 1, 2]).output == ""


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

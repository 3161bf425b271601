"""How right each row is: which reading of labels fits which outputs, and where none does."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from stethoscope.evidence.row_scores import Measure, row_scores, signed

SURE = np.eye(3)[[0, 1, 2, 0]]
SHARES = get_args(Measure)[1:3]
HOT = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    ("said", "labels", "measure", "values"),
    [
        (SURE, [0, 1, 1, 2], "accuracy", [1, 1, 0, 0]),
        (SURE, [[0], [1], [1], [2]], "accuracy", [1, 1, 0, 0]),
        (SURE, np.eye(3)[[0, 1, 1, 2]], "accuracy", [1, 1, 0, 0]),
        ([[0.2], [0.9], [0.6], [0.1]], [0, 1, 0, 1], "accuracy", [1, 1, 0, 0]),
        ([-3.0, 2.0, 0.4, -1.0], [0, 1, 0, 1], "accuracy", [1, 1, 0, 0]),
        ([-3.0, 2.0, 0.4, -1.0], [-1, 1, -1, 1], "accuracy", [1, 1, 0, 0]),
        (HOT * 0.8 + 0.1, HOT[[0, 1, 2, 0]], SHARES[0], [1, 1, 1, 0]),
        (np.eye(2)[[[0, 1], [1, 1], [0, 0], [1, 0]]], [[0, 1], [0, 1], [1, 1], [0, 1]], SHARES[1], [1, 0.5, 0, 0]),
        ([[1.5], [2.0], [4.0], [0.0]], [1.0, 2.5, 7.0, 0.0], "mean absolute error", [0.5, 0.5, 3, 0]),
        (
            [[1.0, 2], [0, 0], [9, 9], [1, 1]],
            [[1.5, 2], [0, 1], [9, 9], [1, 1]],
            "mean absolute error",
            [0.25, 0.5, 0, 0],
        ),
    ],
)
def test_measures(said, labels, measure, values):
    found = row_scores(np.asarray(said), np.asarray(labels))
    assert found.measure == measure and found.values == pytest.approx(values) and found.rows.tolist() == [0, 1, 2, 3]
    assert found.whole == (measure == "accuracy") and found.higher_is_better == (measure != "mean absolute error")


def test_what_is_not_finite_and_what_fits_nothing():
    said = SURE.copy()
    said[0] = np.nan
    assert row_scores(said, np.array([1, 1, 2, 0])).values.tolist() == [0, 1, 1, 1]
    assert row_scores(SURE, np.array([0, np.nan, 2, 1])).rows.tolist() == [0, 2, 3]
    off = row_scores(np.array([1.0, np.inf, 3.0]), np.array([1.5, 2.0, 3.0]))
    assert off.rows.tolist() == [0, 2] and off.values.tolist() == [0.5, 0]
    assert row_scores(SURE, np.array([0, 1, 2, 7])) is None
    assert row_scores(SURE, np.array(list("abca"))) is None
    assert row_scores(SURE, np.zeros((4, 5))) is None and row_scores(SURE, np.zeros(3)) is None


@pytest.mark.parametrize(("value", "said"), [(-0.00049, "+0.000"), (-0.006, "−0.006"), (0.2, "+0.200")])
def test_changes_have_a_sign_that_counts(value, said):
    assert signed(value) == said

"""Which of two models is right more often on rows with labels, and by how much; all rows, in the same drawn order."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.parity.labelled_rows import predicted, scored, sentence
from stethoscope.compare.parity.precision import Tolerance
from stethoscope.compare.parity.yardstick import compared
from tests.frameworks import stats
from tests.tables import each

LIMITS = Tolerance("float32", 1e-5, 0.999, 1e-7)


def scores(a, b, labels):
    left, right = np.asarray(a, np.float32), np.asarray(b, np.float32)
    pair = compared("y", "y", left, right, LIMITS)
    return scored({"y": left}, {"y": right}, [pair], {} if labels is None else {"y": np.asarray(labels)})


@each(
    ("a", "b", "labels", "expected"),
    [
        (np.eye(3), np.eye(3)[[0, 1, 1]], [0, 1, 2], (1.0, 2 / 3)),
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
    found = scores(a[:, None], b[:, None], truth)
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
    found = scored(left, right, pairs, {"kind": np.arange(3)})
    assert (found.output, found.a, found.b) == ("kind", 1.0, pytest.approx(2 / 3))
    assert scores(classes, classes, [0, 1, 2]).output == ""


class Rows:
    """Ten rows whose label is their own number, in an order of batches."""

    rows = 10

    def __init__(self, *, labels=True):
        self.labels = labels

    def shuffled(self, batch_size, seed=0):
        for start in (6, 0, 3, 9):
            yield np.arange(start, min(start + 3, 10)), {"x": np.arange(start, min(start + 3, 10))}

    def targets(self, places):
        return {"y": places} if self.labels else {}


def test_all_rows_are_predicted_or_those_that_the_other_saw():
    call = lambda feed: {"y": feed["x"] * 2.0}  # noqa: E731
    every = predicted(Rows(), call, lambda share: None, 3)
    assert sorted(every.places) == list(range(10)) and (every.outputs["y"] == 2.0 * every.places).all()
    assert (every.targets["y"] == every.places).all()
    few = predicted(Rows(), call, lambda share: None, 3, wanted=np.array([6, 7, 8]))
    assert few.places.tolist() == [6, 7, 8]
    late = predicted(Rows(), call, lambda share: None, 3, seconds=-1)
    assert late.places.tolist() == [6, 7, 8]
    assert not len(predicted(Rows(labels=False), call, lambda share: None, 3).places)


def test_rows_are_said_with_the_score():
    pair = compared("y", "y", np.eye(3), np.eye(3)[[0, 1, 1]], LIMITS)
    found = scored({"y": np.eye(3)}, {"y": np.eye(3)[[0, 1, 1]]}, [pair], {"output": np.arange(3)}, rows=9)
    assert (found.rows, found.of) == (3, 9) and "1.000 → 0.667" in sentence(found) and "3 of 9" in sentence(found)

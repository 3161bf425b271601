"""What labels lack for a loss, and that each way that is offered makes them fit."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.evidence.data_fit.label_fit import problems, suggestions, takes
from stethoscope.evidence.heads import Head
from tests.evidence.test_heads import head, layer
from tests.tables import each

SPARSE, CATEGORICAL, BINARY = "sparse_categorical_crossentropy", "categorical_crossentropy", "binary_crossentropy"


def ending(units: int, activation: str, loss: str | None) -> Head:
    first = layer("input", "InputLayer", (None, 4))
    return head(first, layer("out", "Dense", (None, units), "input", activation=activation, units=units), loss=loss)


def masks(loss: str) -> Head:
    first = layer("input", "InputLayer", (None, 8, 8, 3))
    made = layer("out", "Conv2D", (None, 8, 8, 2), "input", activation="softmax", filters=2)
    return head(first, made, loss=loss)


CLASSES = ending(3, "softmax", SPARSE)
ROWS = ending(3, "softmax", CATEGORICAL)


@each(
    ("of", "labels", "expected"),
    [
        (CLASSES, np.array([0, 1, 2]), []),
        (CLASSES, np.array([[0], [1]]), []),
        (CLASSES, np.array([1, 2, 3]), ["range"]),
        (CLASSES, np.array([0.5, 1.0]), ["range"]),
        (CLASSES, np.array([0.0, np.nan]), ["missing"]),
        (CLASSES, np.eye(3), ["shape"]),
        (CLASSES, np.zeros((4, 5)), ["shape"]),
        (CLASSES, np.array(["cat"]), ["text"]),
        (CLASSES, np.array([1j]), []),
        (ROWS, np.eye(3), []),
        (ROWS, np.full((2, 3), 0.5), ["range"]),
        (ROWS, np.array([0, 1]), ["shape"]),
        (masks(CATEGORICAL), np.eye(2)[np.zeros((3, 8, 8), int)], []),
        (masks(CATEGORICAL), np.eye(2)[np.zeros((3, 4, 4), int)], ["shape"]),
        (ending(3, "sigmoid", BINARY), np.array([[1, 1, 0]]), []),
        (ending(3, "sigmoid", BINARY), np.array([[1, 2, 0]]), ["range"]),
        (ending(1, "sigmoid", BINARY), np.array([0, 1]), []),
        (ending(1, "sigmoid", BINARY), np.array([0, 255]), ["range"]),
        (ending(1, "tanh", "hinge"), np.array([-1, 1]), []),
        (ending(1, "tanh", "hinge"), np.array([-2, 1]), ["range"]),
        (ending(2, "linear", "mse"), np.zeros((4, 2)), []),
        (ending(2, "linear", "mse"), np.zeros((4, 3)), ["shape"]),
        (ending(1, "linear", "mse"), np.zeros(4), []),
        (ending(1, "sigmoid", "mse"), np.array([0.0, 3.0]), ["range"]),
    ],
)
def test_what_does_not_fit(of, labels, expected):
    assert [one.what for one in problems(of, "y", labels)] == expected


@each(
    ("of", "labels", "first"),
    [
        (CLASSES, np.array(["cat", "dog", "cow"]), [0, 1, 2]),
        (CLASSES, np.array([10, 30, 20]), [0, 2, 1]),
        (CLASSES, np.eye(3)[[2, 0]], [2, 0]),
        (ROWS, np.array([0, 2]), np.eye(3)[[0, 2]]),
        (ending(1, "sigmoid", BINARY), np.array(["no", "yes"]), [0, 1]),
        (ending(1, "sigmoid", "mse"), np.array([0.0, 255.0]), [0.0, 1.0]),
        (masks(SPARSE), np.zeros((2, 4, 4), np.int64), np.zeros((2, 8, 8))),
    ],
)
def test_the_first_way_that_is_offered_makes_them_fit(of, labels, first):
    assert problems(of, "y", labels)
    ways = suggestions(of, "y", labels, ("cat", "dog", "cow"))
    made = [Preparation.from_json(list(steps)).apply_to("y", labels) for steps in ways]
    assert made and not any(problems(of, "y", one) for one in made)
    np.testing.assert_allclose(np.asarray(made[0], float).reshape(np.shape(first)), first, atol=1e-5)


@each(
    ("of", "labels"),
    [(CLASSES, np.arange(20_000)), (CLASSES, np.array([0, 1, 2, 7])), (ending(1, "sigmoid", "mse"), np.full(4, 3.0))],
)
def test_where_no_way_leads_none_is_offered(of, labels):
    assert not suggestions(of, "y", labels, ())


@pytest.mark.parametrize(
    ("of", "code"),
    [
        (CLASSES, "numbers"),
        (ROWS, "one-hot"),
        (ending(1, "tanh", "hinge"), "signs"),
        (ending(2, "linear", "mse"), "values"),
    ],
)
def test_what_a_head_takes(of, code):
    assert takes(of).code == code

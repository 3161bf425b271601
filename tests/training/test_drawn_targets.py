"""Random labels have the shape and the values that the loss reads."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.training.drawn_targets import target_of_head, target_of_loss


def test_classes_are_numbers_below_the_units():
    labels = target_of_loss("sparse_categorical_crossentropy", (12, 12, 5)).array(40, 0)
    assert labels.shape == (40, 12, 12)
    assert labels.dtype == np.int32
    assert set(np.unique(labels)) == set(range(5))


@pytest.mark.parametrize("loss", ["categorical_crossentropy", {"class_name": "CategoricalHinge", "config": {}}])
def test_rows_of_one_class_sum_to_one(loss):
    labels = target_of_loss(loss, (7,)).array(40, 0)
    assert labels.shape == (40, 7)
    assert (labels.sum(-1) == 1).all()


def test_yes_and_no_for_each_unit():
    assert set(np.unique(target_of_loss("binary_crossentropy", (3,)).array(40, 0))) == {0.0, 1.0}
    assert target_of_loss("mse", (4, 2)).array(40, 0).shape == (40, 4, 2)


def test_heads_without_a_loss_get_labels_that_suit_them():
    assert target_of_head("softmax", (10,)).array(5, 0).shape == (5, 1)
    assert target_of_head("sigmoid", (1,)).kind == "yes_no"
    assert target_of_head("linear", (3,)).kind == "numbers"

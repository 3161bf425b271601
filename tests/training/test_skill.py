"""Scores and skill are right for every head, loss and label encoding."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stethoscope.program.setup import Setup
from stethoscope.training.skill import Scorer, expected_loss
from tests.frameworks import keras
from tests.tables import each

LABELS = np.array([0, 0, 0, 1, 1, 2])
HOT = np.eye(3)[LABELS]


def score(y, p, loss):
    y, p = np.asarray(y, float), np.asarray(p, float)
    scorer = Scorer.of(Setup(None, True, None, losses=(loss,), x={"a": y}, y=(y,)))
    return scorer, scorer.scores([y], [p])


def logits_loss(name):
    return {"class_name": name, "config": {"from_logits": True}}


@each(
    ("y", "p", "loss", "expected"),
    [
        ([0, 0, 1, 1], [[0.1], [0.6], [0.9], [0.7]], "binary_crossentropy", 0.75),
        ([[0], [0], [1], [1]], [[-3], [0.4], [2], [1]], logits_loss("BinaryCrossentropy"), 0.75),
        ([-1, -1, 1, 1], [[-0.2], [-0.9], [0.1], [0.8]], "hinge", 1.0),
        ([0, 0, 1, 1], [[-0.2], [-0.9], [0.1], [0.8]], "hinge", 1.0),
        (LABELS, HOT * 9 - 4, logits_loss("SparseCategoricalCrossentropy"), 1.0),
        (LABELS[:, None], HOT[:, ::-1], "sparse_categorical_crossentropy", 1 / 3),
        (HOT, HOT * 0.5, "categorical_crossentropy", 1.0),
        (HOT, HOT * 0.5, "mse", 1.0),
        (HOT * 255, HOT * 0.5, "mse", 1.0),
        ([[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0]], [[0.9, 0.1, 0.8]] * 4, "binary_crossentropy", 8 / 12),
        ([[1, 2], [0, 1]], np.eye(3)[[[1, 2], [0, 0]]], "sparse_categorical_crossentropy", 0.75),
        (LABELS / 255, HOT, "sparse_categorical_crossentropy", 0.5),
        (np.arange(12.0).reshape(2, 3, 2) % 5, np.zeros((2, 2)), "mse", -1.0),
        ([0, 255, 255, 0], [[0.2], [1.0], [1.0], [0.1]], "binary_crossentropy", 0.5),
    ],
)
def test_scores(y, p, loss, expected):
    assert score(y, p, loss)[1].score == pytest.approx(expected)


def test_skill_is_distance_from_chance_to_perfect():
    scorer, all_zero = score(LABELS, np.eye(3)[[0] * 6], "sparse_categorical_crossentropy")
    assert scorer.chance == pytest.approx(0.5)
    assert all_zero.skill == pytest.approx(0)
    assert all_zero.distinct_predictions == 1
    assert all_zero.per_class_recall == (1.0, 0.0, 0.0)
    assert all_zero.per_class_count == (3, 2, 1)
    assert score(LABELS, HOT, "sparse_categorical_crossentropy")[1].skill == 1.0


def test_numbers_are_scored_by_r2_whatever_their_scale():
    y = np.linspace(0, 1e6, 50)
    scorer, mean = score(y, np.full((50, 1), y.mean()), "mse")
    assert scorer.name == "r2"
    assert mean.skill == pytest.approx(0, abs=1e-9)
    assert mean.distinct_predictions == 1
    assert score(y, y[:, None], "mse")[1].skill == pytest.approx(1)
    assert score(y, -y[:, None], "mse")[1].skill == -1


def test_predictions_that_are_no_numbers_have_no_skill():
    assert math.isnan(score(LABELS, HOT * np.nan, "sparse_categorical_crossentropy")[1].skill)


def several(*heads):
    """(scorer, its score) of outputs given as (targets, predictions, loss)."""
    y, p, losses = zip(*heads, strict=True)
    y = tuple(np.asarray(item, float) for item in y)
    scorer = Scorer.of(Setup(None, True, None, losses=losses, y=y))
    return scorer, scorer.scores(y, [np.asarray(item, float) for item in p])


CLASSES = (LABELS, HOT, "sparse_categorical_crossentropy")
MEAN = (np.arange(6.0), np.full((6, 1), 2.5), "mse")


def test_skills_of_several_outputs_are_averaged_and_scores_are_not():
    scorer, found = several(CLASSES, MEAN)
    assert (scorer.name, scorer.chance, found.score) == ("accuracy", 0.5, 1.0)
    assert found.skill == pytest.approx(0.5)
    scorer, found = several(MEAN, CLASSES)
    assert (scorer.name, scorer.chance) == ("r2", 0)
    assert found.score == pytest.approx(0) and found.skill == pytest.approx(0.5)
    assert [head.score for head in found.heads] == pytest.approx([0, 1])


@each(
    "left_out",
    [
        (np.arange(6.0), np.zeros((6, 1)), None),  # not trained
        (np.full(6, 2.5), np.zeros((6, 1)), "mse"),  # always the same number
        (np.arange(12.0).reshape(6, 2), np.zeros((6, 5)), "mse"),  # another size
    ],
)
def test_an_output_that_cannot_be_scored_leaves_the_others_scores_alone(left_out):
    _, found = several(CLASSES, left_out)
    assert (found.score, found.skill, found.heads[1]) == (1.0, 1.0, None)


def test_an_output_that_is_not_trained_does_not_stand_for_the_network():
    scorer, found = several((np.arange(6.0), np.zeros((6, 1)), None), CLASSES)
    assert (scorer.head, scorer.name, found.score, found.skill) == (1, "accuracy", 1.0, 1.0)
    scorer, _ = several((np.arange(6.0), np.zeros((6, 1)), None))
    assert scorer.name == "r2"  # no loss is named at all: it is scored all the same


def test_an_output_that_is_nan_leaves_the_network_without_skill():
    assert math.isnan(several(CLASSES, (np.arange(6.0), np.full((6, 1), np.nan), "mse"))[1].skill)


def test_rows_of_shares_are_scored_by_their_largest():
    shares = HOT * 0.6 + [0.1, 0.2, 0.1]
    scorer, right = score(shares, HOT, "kl_divergence")
    assert right.score == 1.0 and scorer.chance == pytest.approx(0.5)


@each(
    ("y", "p", "loss"),
    [
        ([], np.zeros((0, 1)), "mse"),
        ([math.nan, math.nan], [[0.0], [0.0]], "mse"),
        ([0, 1, 2], np.zeros((3, 2, 2)), "sparse_categorical_crossentropy"),
        (np.arange(6.0).reshape(2, 3), np.zeros((2, 4)), "mse"),
        (np.full((4, 2), 2.5), np.zeros((4, 2)), "mse"),
    ],
)
def test_what_cannot_be_compared_has_no_score(y, p, loss):
    assert math.isnan(score(y, p, loss)[1].score)


def test_texts_have_no_score():
    words = np.array(["cat", "dog"])
    scorer = Scorer.of(Setup(None, True, None, losses=("mse",), x={"a": words}, y=(words,)))
    assert math.isnan(scorer.scores([words], [words]).score)
    assert math.isnan(scorer.scores([], []).score)


class Untrained:
    """What is asked of a live model: the shape of each output."""

    def __init__(self, *shapes):
        self.outputs = [np.zeros(shape) for shape in shapes]


@each(
    ("y", "loss", "units", "keras_loss", "constant"),
    [
        (LABELS, "sparse_categorical_crossentropy", 3, "SparseCategoricalCrossentropy", np.full((6, 3), 1 / 3)),
        (HOT, "categorical_crossentropy", 3, "CategoricalCrossentropy", np.full((6, 3), 1 / 3)),
        (LABELS > 0, "binary_crossentropy", 1, "BinaryCrossentropy", np.full((6, 1), 0.5)),
        (LABELS, "mse", 1, "MeanSquaredError", np.full((6, 1), LABELS.mean())),
        (LABELS, "mae", 1, "MeanAbsoluteError", np.full((6, 1), np.median(LABELS))),
    ],
)
def test_the_expected_loss_is_what_keras_computes_for_a_constant_guess(y, loss, units, keras_loss, constant):
    y = np.asarray(y, np.float32)
    setup = Setup(None, True, None, losses=(loss,), y=(y,), live=Untrained((6, units)))
    column = y.reshape(6, -1) if "categorical" not in loss else y
    expected = float(getattr(keras.losses, keras_loss)()(column, constant.astype(np.float32)))
    assert expected_loss(setup) == pytest.approx(expected, rel=1e-5)


def test_the_expected_loss_is_weighted_over_the_outputs_that_have_one():
    setup = Setup(None, True, None, losses=("bce", None), loss_weights=(3.0, 1.0), y=(LABELS > 0, LABELS))
    assert expected_loss(setup) == pytest.approx(3 * math.log(2))


@each(
    ("y", "loss"),
    [
        (np.array(["cat"]), "mse"),
        (LABELS, "poisson"),
        # Without a model nobody knows how many classes there are.
        (LABELS, "sparse_categorical_crossentropy"),
    ],
)
def test_a_loss_that_cannot_be_foretold_is_not(y, loss):
    assert expected_loss(Setup(None, True, None, losses=(loss,), y=(y,))) is None

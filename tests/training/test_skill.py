"""Scores and skill are right for every head, loss and label encoding."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stethoscope.program.setup import Setup
from stethoscope.training.skill import Scorer
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


def test_several_outputs_are_averaged():
    y = [LABELS.astype(float), np.arange(6.0)]
    scorer = Scorer.of(Setup(None, True, None, losses=("sparse_categorical_crossentropy", "mse"), y=tuple(y)))
    assert scorer.scores(y, [HOT, np.full((6, 1), 2.5)]).skill == pytest.approx(0.5)

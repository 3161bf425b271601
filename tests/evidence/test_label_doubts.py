"""Doubts about labels: what a confident prediction speaks against, in the order of how much."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.evidence.label_doubts import as_probabilities, label_doubts
from tests.tables import each


def noisy(rows=600, classes=4, wrong=30, seed=0):
    """Calibrated-looking probabilities, and labels of which some were changed."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, rows)
    logits = random.normal(size=(rows, classes)) + 4.5 * np.eye(classes)[truth]
    probabilities, _ = as_probabilities(logits)
    given = truth.copy()
    changed = random.choice(rows, wrong, replace=False)
    given[changed] = (truth[changed] + random.integers(1, classes, wrong)) % classes
    return probabilities, given, set(changed.tolist()), truth


def test_changed_labels_stand_out():
    probabilities, given, changed, truth = noisy()
    found = label_doubts(probabilities, given)
    first = set(found.rows[:20].tolist())
    assert first <= changed
    assert len(changed & set(found.rows.tolist())) >= 0.85 * len(changed)
    assert len(set(found.rows.tolist()) - changed) <= 15
    places = [place for place, row in enumerate(found.rows.tolist()) if row in changed]
    assert np.mean(found.predicted[places] == truth[found.rows[places]]) > 0.9


def test_the_most_doubtful_come_first_and_are_less_probable_than_another_class():
    probabilities, given, _, _ = noisy()
    found = label_doubts(probabilities, given)
    assert (np.diff(found.margin) >= 0).all() and (found.margin < 0).all()
    own = probabilities[found.rows, given[found.rows]]
    assert found.expected_right == pytest.approx(own.sum())


def test_thresholds_are_the_mean_self_confidence_of_each_class():
    probabilities = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    found = label_doubts(probabilities, np.array([0, 0, 1]))
    np.testing.assert_allclose(found.thresholds, [0.7, 0.8])
    assert found.counts.tolist() == [2, 1]


def test_a_class_without_rows_raises_no_doubt_and_a_broken_row_is_passed_over():
    probabilities = np.array([[0.1, 0.2, 0.7], [0.9, 0.05, 0.05], [np.nan, 0.5, 0.5]])
    found = label_doubts(probabilities, np.array([0, 0, 1]))
    assert not found.rows.size
    assert found.accuracy == 0.5


@each(
    ("outputs", "said", "expected"),
    [
        ([[0.2], [0.9]], "probabilities", [[0.8, 0.2], [0.1, 0.9]]),
        ([[0.0], [800.0]], "logits", [[0.5, 0.5], [0.0, 1.0]]),
        ([[0.25, 0.75]], "probabilities", [[0.25, 0.75]]),
        ([[1.0, 1.0, 3.0]], "logits", None),
        ([[0.9, 0.9, 0.2]], "probabilities", [[0.45, 0.45, 0.1]]),
    ],
)
def test_outputs_become_probabilities(outputs, said, expected):
    found, how = as_probabilities(np.array(outputs))
    assert how == said
    np.testing.assert_allclose(found.sum(axis=1), 1)
    if expected is not None:
        np.testing.assert_allclose(found, expected, atol=1e-9)

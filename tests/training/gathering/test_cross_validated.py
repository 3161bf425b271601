"""Labels judged by simple models that have not seen the row: tables, pictures, texts, and what cannot be told."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.training.gathering.cross_validated import Rows, judged

NONE = dict[str, str]()


def rows(values, labels):
    return Rows(
        list(range(len(values))), [np.asarray(value) for value in values], [np.asarray(label) for label in labels]
    )


def apart(seed=0, count=90):
    generator = np.random.default_rng(seed)
    truth = np.arange(count) % 3
    return generator.normal(size=(count, 5)) + 5 * np.eye(5)[truth], truth


@pytest.mark.parametrize("labels", ["numbers", "floats", "words", "one-hot"])
def test_tables_whatever_their_labels(labels):
    x, truth = apart()
    y = {
        "numbers": truth,
        "floats": truth.astype(float),
        "words": np.array(list("abc"))[truth],
        "one-hot": np.eye(3)[truth],
    }[labels]
    found = judged(rows(x, y), NONE, ())
    assert found.probabilities.shape == (90, 3) and (found.probabilities.argmax(axis=1) == truth).mean() > 0.95
    assert (found.given == truth).all() and len(found.names) == 3


def test_pictures_of_any_size_and_texts():
    generator = np.random.default_rng(0)
    pictures = [
        generator.integers(0, 90, (*generator.integers(20, 40, 2), 3)).astype(np.uint8) + 90 * (place % 2)
        for place in range(40)
    ]
    found = judged(rows(pictures, np.arange(40) % 2), {"image": "image"}, ("dark", "light"))
    assert found.names == ("dark", "light") and (found.probabilities.argmax(axis=1) == found.given).mean() > 0.9
    texts = [f"{'good fine great' if place % 2 else 'bad poor awful'} film number {place % 7}" for place in range(40)]
    found = judged(rows(texts, np.arange(40) % 2), NONE, ())
    assert (found.probabilities.argmax(axis=1) == found.given).mean() > 0.9


def test_rows_without_a_label_or_of_rare_classes_are_left_out():
    x, truth = apart()
    y = truth.astype(float)
    y[:4] = np.nan
    y[-2:] = 9
    found = judged(rows(x, y), NONE, ())
    assert len(found.places) == 84 and found.places.min() == 4 and found.places.max() == 87


@pytest.mark.parametrize(
    "labels", [np.linspace(0, 1, 90), np.ones((90, 2)), np.zeros(90), np.arange(90) % 2 + np.eye(90)[0] / 2]
)
def test_what_cannot_be_told_says_why(labels):
    found = judged(rows(apart()[0], labels), NONE, ())
    assert found.probabilities is None and found.why_not
    assert judged(Rows([], [], []), NONE, ()).why_not

"""The score of both sides decides where labels are there, and says whether the inputs moved with it."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.drift.pairing import Feature
from stethoscope.drift.scores import counts, effect_of, score_change
from tests.drift.sides import compared, side


def rows_of(seed, flipped=0.0, shift=0.0, rows=400, words=True):
    generator = np.random.default_rng(seed)
    x = generator.normal(shift, 1, (rows, 3))
    y = x @ [1.0, -1.0, 0.5] * np.where(generator.random(rows) < flipped, -1, 1) + generator.normal(0, 0.4, rows)
    made = side(a=x[:, 0], b=x[:, 1], c=x[:, 2], y=np.array(["no", "yes"], object)[(y > 0).astype(int)] if words else y)
    made.fields["y"].role = "target"
    return made


@pytest.mark.parametrize("words", [True, False])
def test_labels_that_no_longer_belong_to_the_same_inputs(words):
    same = compared(rows_of(2, words=words), rows_of(3, words=words))
    assert not same.drifted and same.score.by == "simple model" and not same.score.concept
    other = compared(rows_of(2, words=words), rows_of(3, flipped=0.6, words=words))
    assert other.drifted and other.score.concept and not other.score.better
    assert {one.name for one in other.fired} == {other.score.name}
    assert other.score.low <= other.score.change <= other.score.high
    assert (other.score.change < 0) == words


def test_with_other_inputs_it_is_not_said_that_only_labels_moved():
    found = compared(rows_of(2), rows_of(3, flipped=0.6, shift=1.0))
    assert found.score.drifted and found.score.inputs_drifted and not found.score.concept


def test_nothing_is_told_of_labels_that_cannot_be_learned_or_are_too_few():
    generator = np.random.default_rng(0)
    noise = [side(a=generator.normal(size=300), y=generator.choice(["n", "m"], 300).astype(object)) for _ in range(2)]
    for one in noise:
        one.fields["y"].role = "target"
    assert compared(*noise).score is None
    assert compared(rows_of(2, rows=50), rows_of(3, rows=50)).score is None


def log(seed, right, rows=600):
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 4, rows)
    said = np.where(generator.random(rows) < right, truth, (truth + 1) % 4)
    return side(prediction=np.char.add("c", said.astype(str)), label=np.char.add("c", truth.astype(str)))


def test_a_log_without_inputs_claims_nothing_of_them():
    found = compared(log(0, 0.98), log(1, 0.8))
    assert found.drifted and found.score.by == "log" and found.score.inputs_drifted is None and not found.score.concept
    assert found.score.effect == "large" and found.sentence.startswith("Accuracy fell")
    assert compared(log(0, 0.8), log(1, 0.98)).score.better
    assert not compared(log(0, 0.9), log(1, 0.9)).drifted


def test_size_is_one_of_the_score():
    names = np.array(["wrong", "right"], object)
    first, second = (names[(np.arange(1000) < right).astype(int)] for right in (950, 920))
    feature = Feature("accuracy", "category", "correctness", first, second)
    assert effect_of(feature) == "small" and counts("small", 0.1) and not counts("small", 0.25)
    found = score_change(feature, "log", 0.01, drifted=True, inputs_drifted=True)
    assert found.reference.value == pytest.approx(0.95) and found.low < found.change < found.high < 0
    errors = Feature("absolute error", "number", "correctness", np.ones(9), np.full(9, 1.1))
    assert effect_of(errors) == "small"
    assert score_change(errors, "log", 0.5, drifted=False, inputs_drifted=None).change == pytest.approx(0.1)
    assert (
        score_change(
            Feature("accuracy", "category", "correctness", first, first[:0]),
            "log",
            1,
            drifted=False,
            inputs_drifted=None,
        )
        is None
    )

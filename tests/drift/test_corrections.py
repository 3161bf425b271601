"""Features that go together are corrected as such: copies are one test, others keep the family's level."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.drift.corrections import correct, holm
from stethoscope.drift.pairing import Feature

ROWS = np.arange(80)


def feature(name, kind, first, second):
    return Feature(name, kind, "feature", first, second, name, ROWS, ROWS)


def test_copies_are_one_test_and_others_are_not():
    generator = np.random.default_rng(0)
    sides = generator.normal(size=(2, 80))
    copies = [feature(str(at), "number", *(sides * at + at)) for at in range(1, 11)]
    found = correct(copies, [0.03] * 10)
    assert found.adjusted[0] == pytest.approx(0.03, abs=0.012) and found.level(0.05) == pytest.approx(0.05, abs=0.015)
    others = [feature(str(at), "number", *generator.normal(size=(2, 80))) for at in range(10)]
    p_values = np.linspace(0.004, 0.9, 10)
    apart = correct(others, p_values)
    assert (apart.adjusted <= holm(p_values)).all() and apart.adjusted[0] > 0.025
    assert 0.005 <= apart.level(0.05) < 0.009


def test_categories_ties_gaps_and_unknown_rows():
    generator = np.random.default_rng(1)
    words = generator.choice(np.array(list("abc"), object), (2, 80))
    found = correct(
        [
            feature("word", "category", *words),
            feature("again", "category", *np.char.add(words.astype(str), "!").astype(object)),
            feature("constant", "number", np.ones(80), np.ones(80)),
            Feature("part", "number", "feature", np.arange(5.0), np.arange(6.0), "part", ROWS[:5], ROWS[:6]),
            Feature("model", "number", "prediction", generator.normal(size=40), generator.normal(size=30)),
        ],
        [0.01, 0.01, 1.0, 0.5, 0.2],
    )
    assert np.isfinite(found.adjusted).all() and found.adjusted[0] == found.adjusted[1] < 0.05
    assert len(correct([], []).adjusted) == 0 and correct([], []).level(0.05) == 0.05

"""Whole comparisons: what drifts is named, what does not is left in peace, and how often chance is taken for drift."""

from __future__ import annotations

import json

import numpy as np
import pytest

from stethoscope.codec import plain
from stethoscope.drift.domain_classifier import discrepancy, told_apart
from stethoscope.drift.scores import wilson
from stethoscope.drift.settings import DriftSettings
from stethoscope.errors import BadInput, BadSetting
from tests.drift.sides import compared, side
from tests.tables import each


def table(seed, rows=300, shift=0.0, share=0.5, columns=4):
    generator = np.random.default_rng(seed)
    numbers = {f"n{at}": generator.normal(shift * (at == 1), 1, rows) for at in range(columns)}
    return side(**numbers, kind=generator.choice(["a", "b"], rows, p=[share, 1 - share]))


def by_name(found):
    return {row.name: row for row in found.features}


def test_the_column_that_drifted_is_named():
    found = compared(table(0), table(1, shift=0.6))
    assert found.verdict == "drift" and found.features[0].name == "n1"
    assert [row.name for row in found.features if row.drifted] == ["n1"]
    assert found.features[0].effect == "large" and "n1" in found.sentence
    assert {one.name for one in found.fired} >= {"n1"}
    classifier = next(one for one in found.whole if one.test == "domain_classifier")
    assert classifier.drifted and classifier.fields[0].name == "n1"
    assert json.loads(json.dumps(plain(found), allow_nan=False))


def test_nothing_drifts_between_equals():
    found = compared(table(0), table(0))
    assert found.verdict == "no_drift" and all(row.p_value == 1 for row in found.features)
    assert 0.1 < found.smallest_detectable < 0.5 and "would be found" in found.sentence


def test_a_mix_and_a_share_missing():
    first, second = table(0, 600), table(1, 600, share=0.3)
    second.fields["n0"].numbers[""][:90] = np.nan
    rows = by_name(compared(first, second))
    assert rows["kind"].drifted and rows["kind"].test == "chi_squared"
    assert rows["n0 (missing)"].drifted and rows["n0 (missing)"].role == "missing" and not rows["n0"].drifted
    assert rows["kind"].histogram.categories and len(rows["n0"].histogram.edges) <= 41


def test_columns_that_only_go_together_otherwise():
    generator = np.random.default_rng(0)
    common = generator.normal(size=500)
    first = side(a=generator.normal(size=500), b=generator.normal(size=500))
    second = side(a=common, b=0.9 * common + 0.44 * generator.normal(size=500))
    found = compared(first, second)
    assert found.verdict == "drift" and not any(row.drifted for row in found.features)
    assert "as wholes" in found.sentence


def test_a_small_drift_may_be_too_small_to_matter():
    first, second = table(0, 5_000), table(1, 5_000, shift=0.15)
    assert compared(first, second).verdict == "drift"
    found = compared(first, second, min_effect="small")
    assert found.verdict == "no_drift" and by_name(found)["n1"].significant
    assert compared(first, table(1, 5_000, shift=0.6), min_effect="small").verdict == "drift"


@pytest.mark.parametrize(("rows", "digits"), [pytest.param(40, 9, marks=pytest.mark.sweep), (150, 0)])
def test_false_alarms_are_as_rare_as_asked_for(rows, digits):
    """Small and heavily tied data too; the whole verdict, whatever fires."""
    generator, alarms, runs = np.random.default_rng(rows), 0, 60
    for _ in range(runs):
        sides = [
            side(
                a=generator.normal(size=rows).round(digits),
                b=generator.exponential(size=rows).round(digits),
                c=generator.choice(list("xyzvw"), rows, p=[0.5, 0.3, 0.1, 0.08, 0.02]),
                d=np.where(generator.random(rows) < 0.1, np.nan, 1.0),
            )
            for _ in range(2)
        ]
        alarms += compared(*sides).verdict == "drift"
    assert wilson(alarms / runs, runs)[0] <= 0.05


def test_points_are_told_apart_only_where_they_differ():
    generator = np.random.default_rng(0)
    first, second = generator.normal(size=(300, 3)), generator.normal(size=(200, 3))
    assert told_apart(first, second, "abc").p_value > 0.01 and discrepancy(first, second).p_value > 0.01
    moved = second + np.array([0, 0.8, 0])
    told = told_apart(first, moved, "abc")
    assert told.p_value < 1e-4 and told.fields[0][0] == "b" and 0.5 < told.low < 0.6 < told.auc < told.high < 0.8
    assert discrepancy(first, moved).p_value == 1 / 500


def test_discrepancy_is_exact_at_any_size():
    generator = np.random.default_rng(1)
    found = [
        discrepancy(generator.normal(size=(12, 2)), generator.normal(size=(9, 2)), seed).p_value for seed in range(300)
    ]
    for level in (0.05, 0.2):
        assert abs(np.mean(np.array(found) <= level) - level) < 3 * np.sqrt(level * (1 - level) / 300)


def test_the_group_in_which_it_drifts():
    generator = np.random.default_rng(0)
    place = [generator.choice(["north", "south", "west"], 900) for _ in range(2)]
    sides = [
        side(value=generator.normal(1.2 * (at == "south") * moved, 1), place=at, other=generator.normal(size=900))
        for moved, at in enumerate(place)
    ]
    found = compared(*sides, subgroups=True)
    worst = found.subgroups.groups[0]
    assert (worst.field, worst.value, worst.worst) == ("place", "south", "value") and worst.drifted
    assert not any(one.drifted and one.value in ("north", "west") for one in found.subgroups.groups)


def test_what_cannot_be_compared_is_said():
    first = side(a=np.arange(30.0), b=np.full(30, np.nan), c=np.full(30, 7.0), d=np.arange(30.0), gone=np.arange(30))
    second = side(
        a=np.r_[np.inf, -np.inf, np.arange(28.0)],
        b=np.arange(30.0),
        c=np.full(30, 7.0),
        d=np.array(["x"] * 30),
        new=np.ones(30),
    )
    found = compared(first, second)
    rows = by_name(found)
    assert rows["c"].test == rows["b"].test == "none" and not rows["c"].drifted
    assert "no value" in rows["b"].note and rows["b (missing)"].drifted
    assert rows["d"].test == "type" and rows["d"].drifted and "numbers" in rows["d"].note
    assert rows["a (missing)"].n_current == 30 and not rows["a"].drifted
    assert "'gone'" in " ".join(found.notes)
    json.dumps(plain(found), allow_nan=False)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (side(a=[1.0]), side(a=[1.0, 2.0]), "at least 2 rows"),
        (side(a=[1.0, 2.0]), side(b=[1.0, 2.0]), "expected columns that"),
        (side(a=[1.0, 2.0]), None, "--time"),
    ],
)
def test_impossible_comparisons_say_what_to_do(first, second, said):
    with pytest.raises(BadInput, match=said):
        compared(first, second)


def test_huge_and_tiny_numbers_do_not_break_it():
    generator = np.random.default_rng(0)
    sides = [side(a=generator.uniform(-1, 1, 50) * 1.7e308, b=generator.normal(size=50) * 5e-324) for _ in range(2)]
    found = compared(*sides)
    assert by_name(found)["a"].wasserstein is None and by_name(found)["a"].p_value > 0
    assert not any(value in json.dumps(plain(found), allow_nan=False) for value in ('"nan"', '"inf"'))


@each("value", [{"alpha": 0}, {"alpha": "x"}, {"min_effect": "big"}, {"rows": 1}, {"columns": "a"}])
def test_settings_that_make_no_sense(value):
    with pytest.raises(BadSetting):
        DriftSettings.from_json(value)
    kept = DriftSettings.from_json({"min_effect": "large", "columns": ["a"]})
    assert DriftSettings.from_json(kept.to_json()) == kept and kept.min_effect == 0.25


def test_codes_that_agree_in_six_digits_are_different_categories():
    codes = 20_240_101.0 + np.arange(4)
    generator = np.random.default_rng(0)
    sides = [side(code=generator.choice(codes, 300, p=[share, 0.3, 0.2, 0.5 - share])) for share in (0.45, 0.2)]
    found = by_name(compared(*sides))["code"]
    assert found.drifted and found.histogram.categories[0] in {f"{code:.0f}" for code in codes}


def test_one_column_has_the_whole_level_for_itself():
    generator = np.random.default_rng(0)
    found = compared(*(side(kind=generator.choice(list("abc"), 200)) for _ in range(2)))
    assert [one.test for one in found.whole] == ["none"]
    assert found.features[0].p_adjusted == found.features[0].p_value

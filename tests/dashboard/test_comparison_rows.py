"""The answer of a comparison as rows of one table."""

from __future__ import annotations

from dashboard.architecture import comparison_parts, comparison_rows
from dashboard.architecture.comparison_rows import ADDED, CHANGED, REMOVED, SAME, WEIGHTS

ANSWER = {
    "pairs": [
        {"a": "input", "b": "input", "how": "name", "changes": [], "weights": None},
        {
            "a": "dense",
            "b": "dense",
            "how": "name",
            "changes": [{"what": "config", "field": "units", "a": 4, "b": 8}, {"what": "shape", "field": "output", "a": [4], "b": [8]}],
            "weights": None,
        },
        {
            "a": "head",
            "b": "head_1",
            "how": "structure",
            "changes": [],
            "weights": {"norm_a": 2.0, "norm_b": 2.0, "norm_of_difference": 0.5, "relative": 0.25},
        },
    ],
    "added": ["first", "extra"],
    "removed": ["dropout"],
}  # fmt: skip


def test_every_layer_of_both_stands_once_and_in_order():
    found = comparison_rows.rows(
        ANSWER, ["input", "dropout", "dense", "head"], ["first", "input", "dense", "extra", "head_1"]
    )
    assert [(row.here, row.there, row.kind) for row in found] == [
        (None, "first", ADDED),
        ("input", "input", SAME),
        ("dropout", None, REMOVED),
        ("dense", "dense", CHANGED),
        (None, "extra", ADDED),
        ("head", "head_1", WEIGHTS),
    ]
    assert comparison_rows.counts(found) == {CHANGED: 1, WEIGHTS: 1, REMOVED: 1, ADDED: 2, SAME: 1}


def test_the_table_says_what_changed_and_by_how_much():
    from tests.dashboard.test_layer_measures import MODEL

    found = comparison_rows.rows(ANSWER, ["input", "dropout", "dense", "head"], ["input", "dense", "head_1"])
    _, there, _, difference, weights = comparison_parts.columns(found, MODEL, MODEL)
    assert list(difference.texts)[2] == "changed: settings, shape"
    assert list(there.texts) == ["same name", "–", "same name", "head_1"]
    assert weights.values == [None, None, None, 0.25]
    assert list(weights.texts)[-1] == "25.0 %"


def test_an_answer_with_odd_values_makes_no_row_of_them():
    found = comparison_rows.rows(
        {"pairs": ["odd", {"a": "x", "b": "y", "changes": ["odd"], "weights": "odd"}]}, ["x"], ["y"]
    )
    assert [(row.here, row.there, row.kind) for row in found] == [("x", "y", SAME)]

"""The answer of a comparison as rows of one table."""

from __future__ import annotations

from dashboard.architecture import comparison_parts, comparison_rows
from dashboard.architecture.comparison_rows import ADDED, CHANGED, REMOVED, SAME, WEIGHTS
from stethoscope.architecture.layer_looks import Change
from stethoscope.compare.parity.comparison import OfBoth
from stethoscope.tasks.compare_architectures import ArchitectureDifference, DifferenceSummary, LayerPair, WeightsApart

PAIRS = (
    LayerPair("input", "input", "name"),
    LayerPair("dense", "dense", "name", (Change("config", "units", 4, 8), Change("shape", "output", [4], [8]))),
    LayerPair("head", "head_1", "structure", weights=WeightsApart(2.0, 2.0, 0.5, 0.25, 1)),
)
ANSWER = ArchitectureDifference(
    PAIRS, ("first", "extra"), ("dropout",), DifferenceSummary(1, 1, 1, 2, 1, 2, 1, {}, OfBoth(1, 1))
)


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

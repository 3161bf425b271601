"""Rows at the edges of what can be given."""

from __future__ import annotations

import numpy as np

from stethoscope.compare.parity.edge_cases import EDGE_CASES, edge_feed, shape_of_answer
from stethoscope.data.dummy import Draw
from stethoscope.types import TensorSpec

IMAGE, IDS, WORDS = (
    TensorSpec("image", (None, 2, 2), "float32"),
    TensorSpec("ids", (None, 3), "int32"),
    TensorSpec("words", (None,), "string"),
)


def test_a_row_for_each_case_within_what_inputs_may_have():
    feed = {
        "image": np.ones((5, 2, 2), np.float32),
        "ids": np.ones((5, 3), np.int32),
        "words": np.array(["x"] * 5, object),
    }
    draws = [Draw("normal", "float32"), Draw("integers", "int32", 0, 50), Draw("words", "object")]
    found = edge_feed(feed, (IMAGE, IDS, WORDS), draws, frozenset(feed))
    assert found is not None
    assert {name: array.shape for name, array in found.items()} == {"image": (8, 2, 2), "ids": (8, 3), "words": (8,)}
    assert found["ids"].min() == 0
    assert found["ids"].max() == 49
    assert np.isnan(found["image"][[one.name for one in EDGE_CASES].index("NaN")]).all()
    assert "" in found["words"]


def test_without_rows_there_are_none():
    assert edge_feed({"image": np.ones((2, 2), np.float32)}, (IMAGE,), [Draw("normal", "float32")], frozenset()) is None


def test_what_an_answer_is():
    assert shape_of_answer(np.array([1.0, 2.0])) == "finite"
    assert shape_of_answer(np.array([np.nan])) == "NaN"
    assert shape_of_answer(np.array([np.inf, 1.0])) == "mixed"
    assert shape_of_answer(np.array([1, 2])) == "finite"

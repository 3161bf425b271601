"""What data says about itself survives the way from a worker to a page."""

from __future__ import annotations

import json

import pytest

from stethoscope.codec import decode, plain
from stethoscope.data.dataset import DataAbout, DataField, Problem
from stethoscope.errors import StethoscopeError


def test_there_and_back():
    about = DataAbout(
        "csv",
        "CSV table",
        10,
        False,
        (
            DataField("x", "image", "uint8", (None, 3), "input", "", {"channels": 3}),
            DataField("y", "category", "", None, "target"),
        ),
        ("a", "b"),
        ("train",),
        (Problem("row 3", "Damaged."),),
        7,
        ("Sampled.",),
    )
    assert decode(DataAbout, json.loads(json.dumps(plain(about)))) == about


@pytest.mark.parametrize("change", [{"fields": [{"name": "x"}]}, {"rows": None}, {"classes": 3}])
def test_another_shape_is_an_error(change):
    value = plain(DataAbout("csv", "CSV", 1, True, ())) | change
    with pytest.raises(StethoscopeError):
        decode(DataAbout, value)


def test_an_unknown_kind_of_field_is_an_error():
    value = plain(DataAbout("csv", "CSV", 1, True, (DataField("x", "number", "float64", ()),)))
    value["fields"][0]["kind"] = "hologram"
    with pytest.raises(StethoscopeError, match=r"fields\.0\.kind"):
        decode(DataAbout, value)

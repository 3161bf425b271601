"""What data says about itself survives the way from a worker to a page."""

from __future__ import annotations

import json

import pytest

from stethoscope.data.about_json import about_from_json, about_to_json
from stethoscope.data.dataset import DataAbout, DataField, Problem


def test_there_and_back():
    about = DataAbout(
        "csv", "CSV table", 10, False,
        (DataField("x", "image", "uint8", (None, 3), "input", "", {"channels": 3}), DataField("y", "category", "", None, "target")),
        ("a", "b"), ("train",), (Problem("row 3", "Damaged."),), 7, ("Sampled.",),
    )  # fmt: skip
    assert about_from_json(json.loads(json.dumps(about_to_json(about)))) == about


@pytest.mark.parametrize("change", [{"fields": [{"name": "x"}]}, {"rows": None}, {"classes": 3}])
def test_another_shape_is_an_error(change):
    value = about_to_json(DataAbout("csv", "CSV", 1, True, ())) | change
    with pytest.raises((KeyError, TypeError, ValueError)):
        about_from_json(value)


def test_an_unknown_kind_of_field_is_an_error():
    value = about_to_json(DataAbout("csv", "CSV", 1, True, (DataField("x", "number", "float64", ()),)))
    value["fields"][0]["kind"] = "hologram"
    with pytest.raises(ValueError, match="hologram"):
        about_from_json(value)

"""The data to try: recognised, with the rows and classes that are said of it."""

from __future__ import annotations

import json
from pathlib import Path

from sample_models.build import BUILT
from sample_models.data_sets import DATA_SETS, build_data
from stethoscope.data import open_data
from stethoscope.types import ModelFile
from tests.tables import each

ROWS = [row for row in json.loads((BUILT / "manifest.json").read_text()) if row.get("kind") == "data"]


def test_every_data_set_is_in_the_manifest() -> None:
    assert [row["id"] for row in ROWS] == [one.id for one in DATA_SETS]
    assert all(row["size_bytes"] == (BUILT / row["file"]).stat().st_size for row in ROWS)
    assert all(row["title"] and row["behaviour"].endswith(".") and row["description"].endswith(".") for row in ROWS)


@each(
    ("name", "rows", "kind", "classes"),
    [
        ("digit_images.npz", 1_797, "image", ()),
        ("digit_scenes.data.zip", 40, "image", tuple("0123456789")),
        ("iris.csv", 150, "number", ("setosa", "versicolor", "virginica")),
        ("wine.csv", 178, "number", ("class_0", "class_1", "class_2")),
        ("diabetes.csv", 442, "number", ()),
        ("photographs.data.zip", 2, "image", ()),
    ],
)
def test_a_data_set_opens_as_what_it_is(name: str, rows: int, kind: str, classes: tuple[str, ...]) -> None:
    with open_data(ModelFile.at(BUILT / name), 256 << 20) as data:
        assert (data.about.rows, data.about.rows_exact) == (rows, True)
        assert data.about.fields[0].kind == kind and data.about.classes == classes
        assert len(data.samples([0, rows - 1])) == 2
        assert len(data.feed(0, 2)["x"]) == 2


def test_boxes_lie_around_the_ink() -> None:
    with open_data(ModelFile.at(BUILT / "digit_scenes.data.zip"), 256 << 20) as data:
        for sample in data.samples(range(40)):
            pixels = sample.values["image"][:, :, 0]
            for mark in sample.marks:
                inside = pixels[int(mark.y) : int(mark.y + mark.height), int(mark.x) : int(mark.x + mark.width)]
                assert all(edge.any() for edge in (inside[0], inside[-1], inside[:, 0], inside[:, -1]))
            assert sum(int(mark.width * mark.height) for mark in sample.marks) >= int((pixels > 0).sum())


def test_writing_them_again_gives_the_same_entries(tmp_path: Path) -> None:
    made = build_data(tmp_path)
    assert [row["file"] for row in made] == [row["file"] for row in ROWS]
    for name in ("iris.csv", "wine.csv", "diabetes.csv"):
        assert (tmp_path / name).read_bytes() == (BUILT / name).read_bytes()

"""What FiftyOne gets: pictures as files and marks as numbers, whether or not it is installed here."""

from __future__ import annotations

import base64
import json
import zipfile

import numpy as np
import pytest
from PIL import Image

from stethoscope.cli import in_fiftyone
from stethoscope.errors import BadInput
from tests.tasks.test_read_data import photos


def test_rows_are_written_as_pictures_with_their_labels(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    told = in_fiftyone.export(photos(tmp_path / "photos.zip", [("dog/broken.jpg", b"\xff\xd8no")]), out)
    assert (told.rows, told.of, told.left_out) == (2, 3, 1)
    rows = json.loads((out / "samples.json").read_text())
    assert [(row["label"], row["width"], row["height"]) for row in rows] == [("cat", 64, 32), ("dog", 400, 800)]
    assert Image.open(out / rows[1]["file"]).size == (400, 800)


def test_an_area_comes_bit_by_bit(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    annotations = {
        "images": [{"id": 1, "file_name": "a.png", "width": 20, "height": 10}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [
            {
                "id": 2,
                "image_id": 1,
                "category_id": 1,
                "bbox": [2, 0, 3, 10],
                "iscrowd": 1,
                "area": 30,
                "segmentation": {"size": [10, 20], "counts": [20, 30, 150]},
            }
        ],
    }
    with zipfile.ZipFile(tmp_path / "coco.zip", "w") as made:
        made.writestr("annotations.json", json.dumps(annotations))
    in_fiftyone.export(tmp_path / "coco.zip", out)
    (row,) = json.loads((out / "samples.json").read_text())
    (area,) = [mark for mark in row["marks"] if mark["type"] == "region"]
    assert area["box"] == [2, 0, 3, 10, 0]
    packed = np.frombuffer(base64.b64decode(area["bits"]), np.uint8).reshape(10, -1)
    assert np.unpackbits(packed, axis=1)[:, :3].all()


def test_data_without_pictures_is_declined_with_the_reason(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 20)
    with pytest.raises(BadInput, match="pictures"):
        in_fiftyone.export(tmp_path / "t.csv", tmp_path)


def test_without_fiftyone_the_command_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(in_fiftyone, "is_installed", lambda: False)
    assert in_fiftyone.main(["data.zip"]) == 2
    assert "pip install fiftyone" in capsys.readouterr().err


def test_a_turned_box_has_its_corners_where_it_is_drawn():
    corners = in_fiftyone._corners(0, 0, 4, 2, 90)
    np.testing.assert_allclose(corners, [(3, -1), (3, 3), (1, 3), (1, -1)], atol=1e-9)

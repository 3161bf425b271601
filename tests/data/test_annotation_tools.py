"""What annotation tools write: CVAT's shapes and tracks, labelme's and VIA's, LabelMe's masks, Create ML's two readings."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

from stethoscope.data import open_data
from stethoscope.data.dataset import Box, Points, Polygon, Region, Sample
from stethoscope.types import ModelFile
from tests.data.annotated_sets import png, put
from tests.data.test_mask_folder import MASK, as_file
from tests.tables import each


def read(path: Path) -> list[Sample]:
    with open_data(ModelFile.at(path), 1 << 30) as data:
        return data.samples(range(data.about.rows))


def cvat(tmp_path: Path, body: str) -> Sample:
    put(tmp_path / "images" / "a.png", png(20, 10))
    put(
        tmp_path / "annotations.xml",
        f'<annotations><image id="0" name="a.png" width="20" height="10">{body}</image></annotations>',
    )
    return read(tmp_path)[0]


def test_every_shape_of_cvat(tmp_path):
    sample = cvat(
        tmp_path,
        '<box label="a" xtl="1" ytl="2" xbr="5" ybr="6" rotation="30" occluded="1"/>'
        '<polygon label="b" points="1,1;5,1;5,5"/><polyline label="c" points="0,0;5,5"/><points label="d" points="3,3;4,4"/>'
        '<ellipse label="e" cx="10" cy="5" rx="4" ry="2"/><mask label="f" left="2" top="1" width="3" height="2" rle="1,2,0,2,1"/>'
        '<cuboid label="g" xtl1="1" ytl1="1" xbl1="1" ybl1="5" xtr1="4" ytr1="1" xbr1="4" ybr1="5" xtl2="2" ytl2="0" xbl2="2" ybl2="4" '
        'xtr2="5" ytr2="0" xbr2="5" ybr2="4"/>'
        '<skeleton label="h"><points label="1" points="7,7"/><points label="2" points="8,8" outside="1"/></skeleton><tag label="outdoors"/>',
    )
    kinds = [(mark.label, type(mark)) for mark in sample.marks]
    assert kinds == [
        ("a", Box),
        ("b", Polygon),
        ("c", Points),
        ("d", Points),
        ("e", Polygon),
        ("g", Polygon),
        ("g", Polygon),
        ("h", Points),
        ("f", Region),
    ]
    assert sample.marks[0] == Box("a", 1.0, 2.0, 4.0, 4.0, 30.0, {"occluded": True})
    expected = np.zeros((10, 20), bool)
    expected[1, 3:5] = expected[2, 2:4] = True
    region = sample.marks[-1]
    assert isinstance(region, Region)
    np.testing.assert_array_equal(region.bits, expected)
    ellipse = sample.marks[4]
    assert isinstance(ellipse, Polygon)
    np.testing.assert_allclose([((x - 10) / 4) ** 2 + ((y - 5) / 2) ** 2 for x, y in ellipse.rings[0]], 1.0)
    assert "outdoors" in sample.label


@each(
    ("shape", "reason"),
    [
        ('<box label="a" xtl="x" ytl="2" xbr="5" ybr="6"/>', "'xtl' is no number"),
        ('<polygon label="a" points="1,2;3"/>', "x,y;x,y"),
        ('<mask label="a" left="0" top="0" width="3" height="2" rle="1,2"/>', "do not fill"),
        ('<mask label="a" left="18" top="0" width="3" height="1" rle="1,2"/>', "within the image"),
        ('<mask label="a" left="0" top="0" width="90000" height="90000" rle="1"/>', "do not fill"),
    ],
)
def test_a_shape_that_is_wrong_is_left_out(tmp_path, shape, reason):
    sample = cvat(tmp_path, shape + '<box label="ok" xtl="1" ytl="1" xbr="2" ybr="2"/>')
    assert reason in sample.problems[0]
    assert [mark.label for mark in sample.marks] == ["ok"]


def test_tracks_are_drawn_on_their_frames(tmp_path):
    for frame in (3, 4):
        put(tmp_path / "images" / f"frame_{frame:06d}.png", png(20, 10))
    boxes = "".join(
        f'<box frame="{frame}" outside="{gone}" xtl="{frame}" ytl="1" xbr="9" ybr="5"/>'
        for frame, gone in ((3, 0), (4, 0), (5, 1))
    )
    put(tmp_path / "annotations.xml", f'<annotations><track id="0" label="car">{boxes}</track></annotations>')
    samples = read(tmp_path)
    assert [[mark.x for mark in sample.marks if isinstance(mark, Box)] for sample in samples] == [[3.0], [4.0]]


def labelme(tmp_path: Path, shapes: list[dict[str, Any]], **more: Any) -> Sample:
    value = {
        "version": "5",
        "flags": {},
        "shapes": shapes,
        "imagePath": "a.png",
        "imageData": None,
        "imageWidth": 8,
        "imageHeight": 6,
    }
    put(tmp_path / "a.json", json.dumps(value | more))
    return read(tmp_path)[0]


def test_every_shape_of_labelme(tmp_path):
    put(tmp_path / "a.png", png(8, 6))
    packed = base64.b64encode(as_file(MASK[1:3, 2:5] * 255)).decode()
    sample = labelme(
        tmp_path,
        [
            {"label": "a", "shape_type": "polygon", "points": [[1, 1], [4, 1], [4, 4]]},
            {"label": "b", "shape_type": "circle", "points": [[4, 3], [4, 5]]},
            {"label": "c", "shape_type": "linestrip", "points": [[0, 0], [1, 1]]},
            {"label": "d", "shape_type": "mask", "points": [[2, 1], [4, 2]], "mask": packed},
            {"label": "e", "shape_type": "polygon", "points": [[1, 1]]},
            {"label": "f", "shape_type": "mask", "points": [[2, 1]], "mask": "%%%"},
        ],
    )
    assert [(mark.label, type(mark)) for mark in sample.marks] == [
        ("a", Polygon),
        ("b", Polygon),
        ("c", Points),
        ("d", Region),
    ]
    region = sample.marks[3]
    assert isinstance(region, Region)
    np.testing.assert_array_equal(region.bits, MASK == 1)
    assert len(sample.problems) == 2


def test_an_image_inside_the_annotation_is_shown(tmp_path):
    sample = labelme(tmp_path, [], imageData=base64.b64encode(png(8, 6, (9, 8, 7))).decode())
    assert sample.values["image"].shape == (6, 8, 3)
    assert tuple(sample.values["image"][0, 0]) == (9, 8, 7)


def test_masks_of_labelme_xml_are_the_files_they_name(tmp_path):
    put(tmp_path / "Images" / "s" / "a.png", png(8, 6))
    painted = np.zeros((6, 8, 4), np.uint8)
    painted[MASK == 1] = (255, 0, 0, 255)
    put(tmp_path / "Masks" / "s" / "a_mask_0.png", as_file(painted))
    segment = (
        "<segm><box><xmin>2</xmin><ymin>1</ymin><xmax>5</xmax><ymax>3</ymax></box><mask>a_mask_{}.png</mask></segm>"
    )
    objects = "".join(
        f"<object><name>n{number}</name><deleted>0</deleted>{segment.format(number)}</object>" for number in (0, 1)
    )
    put(tmp_path / "Annotations" / "s" / "a.xml", f"<annotation><filename>a.png</filename>{objects}</annotation>")
    (sample,) = read(tmp_path)
    first, second = sample.marks
    assert isinstance(first, Region)
    np.testing.assert_array_equal(first.bits, MASK == 1)
    assert second == Box("n1", 2.0, 1.0, 3.0, 2.0)


def test_every_shape_of_via(tmp_path):
    put(tmp_path / "a.png", png(40, 30))
    shapes = [
        {"name": "polygon", "all_points_x": [1, 5, 5], "all_points_y": [1, 1, 5]},
        {"name": "circle", "cx": 9, "cy": 9, "r": 3},
        {"name": "ellipse", "cx": 9, "cy": 9, "rx": 3, "ry": 2, "theta": 0.5},
        {"name": "point", "cx": 3, "cy": 4},
        {"name": "polyline", "all_points_x": [1, 2], "all_points_y": [3, 4]},
        {"name": "rect", "x": 1},
    ]
    regions = {
        str(n): {"shape_attributes": shape, "region_attributes": {"kind": {"balloon": True, "other": False}}}
        for n, shape in enumerate(shapes)
    }
    put(tmp_path / "via.json", json.dumps({"_via_img_metadata": {"a.png1": {"filename": "a.png", "regions": regions}}}))
    (sample,) = read(tmp_path)
    assert [type(mark) for mark in sample.marks] == [Polygon, Polygon, Polygon, Points, Points]
    assert {mark.label for mark in sample.marks} == {"balloon"}
    assert "cannot be read" in sample.problems[0]


def test_create_ml_written_by_the_corner_is_told_from_its_boxes(tmp_path):
    put(tmp_path / "a.png", png(40, 30))
    box = {"label": "x", "coordinates": {"x": 0, "y": 0, "width": 10, "height": 8}}
    put(tmp_path / "c.json", json.dumps([{"image": "a.png", "annotations": [box]}]))
    with open_data(ModelFile.at(tmp_path), 1 << 30) as data:
        assert data.samples([0])[0].marks == (Box("x", 0.0, 0.0, 10.0, 8.0),)
        assert any("upper left corner" in note for note in data.about.notes)

"""Marks on a picture: the numbers a browser draws stand where the annotation says."""

from __future__ import annotations

import io
import json

import numpy as np
from PIL import Image

from stethoscope.codec import plain
from stethoscope.data.dataset import Box, Points, Polygon, Region
from stethoscope.data.view.marks import drawn, extent, regions_of


def areas(made) -> np.ndarray:
    pixels = np.asarray(Image.open(io.BytesIO(made.areas.png))).astype(int)
    return pixels[..., 0] + 256 * pixels[..., 1]


def test_outlines_stay_in_pixels_of_the_image():
    marks = [
        Box("cat", 1, 2, 30.125, 4, 15.0, {"difficult": True}),
        Polygon("dog", (((0, 0), (10, 0), (10, 10)), ((2, 2), (3, 2), (3, 3)))),
        Points("nose", ((5.5, 6.25),)),
    ]
    made = drawn(marks, (100, 50), (100, 50), 10)
    box, polygon, points = made.marks
    assert (box.x, box.y, box.width, box.height, box.angle_degrees) == (1, 2, 30.12, 4, 15)
    assert box.details == {"difficult": True}
    assert polygon.rings == (((0, 0), (10, 0), (10, 10)), ((2, 2), (3, 2), (3, 3)))
    assert points.points == ((5.5, 6.25),)
    assert made.areas is None
    json.dumps(plain(made.marks), allow_nan=False)


def test_areas_come_as_one_picture_of_indices_the_small_ones_on_top():
    large, small = np.zeros((40, 60), bool), np.zeros((40, 60), bool)
    large[10:30, 10:50], small[15:20, 20:25] = True, True
    made = drawn([Region("b", small), Box("x", 0, 0, 1, 1), Region("a", large)], (60, 40), (60, 40), 10)
    index = areas(made)
    assert index[17, 22] == 1 and index[12, 12] == 3 and index[0, 0] == 0
    assert (made.marks[2].x, made.marks[2].y, made.marks[2].width, made.marks[2].height) == (10, 10, 40, 20)
    assert made.marks[0].pixels == 25


def test_thin_areas_are_still_seen_on_a_thumbnail():
    bits = np.zeros((1000, 1000), bool)
    bits[500:502] = True
    assert areas(drawn([Region("wire", bits)], (1000, 1000), (125, 125), 10)).any()


def test_too_many_marks_are_counted_and_the_first_drawn():
    made = drawn([Box("a", 0, 0, 1, 1)] * 9, (10, 10), (10, 10), 4)
    assert (len(made.marks), made.total) == (4, 9)


def test_numbers_that_are_none_do_not_reach_the_browser():
    made = drawn([Box("a", float("nan"), float("inf"), 1, 1)], (10, 10), (10, 10), 4)
    json.dumps(plain(made.marks), allow_nan=False)


def test_the_classes_of_a_mask_are_named_and_the_background_stays_bare():
    mask = np.array([[0, 0, 1], [2, 255, 7]], np.uint8)
    found = {one.label: int(one.bits.sum()) for one in regions_of(mask, ["background", "cat", "dog"])}
    assert found == {"cat": 1, "dog": 1, "class 7": 1, "void": 1}
    assert {one.label for one in regions_of(mask, ["sky", "cat", "dog"])} >= {"sky"}


def test_a_canvas_for_marks_without_an_image_holds_them_all():
    assert extent([Box("a", 5, 5, 90, 10), Polygon("b", (((0, 0), (20, 70.5)),))]) == (95, 71)

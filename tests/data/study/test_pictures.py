"""Pictures as a whole, and what is marked on them."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.data.dataset import Box, Points, Polygon, Region
from stethoscope.data.study.marks import Counted, MarkStudy, area_of, bounds_of
from stethoscope.data.study.pictures import PictureSize, PictureStudy, difference_hash


def picture(seed: int, height: int = 60, width: int = 80) -> np.ndarray:
    small = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return np.kron(small, np.ones((height // 6, width // 8, 1), np.uint8))


def test_sizes_channels_and_brightness_are_told():
    study = PictureStudy()
    study.add(0, np.zeros((10, 20, 3), np.uint8))
    study.add(1, np.full((10, 20, 3), 255, np.uint8))
    study.add(2, np.full((5, 5), 51, np.uint8))
    found = study.result()
    assert found.sizes[0] == PictureSize(20, 10, 2)
    assert found.channels == {"3": 2, "1": 1}
    assert found.brightness.min == 0
    assert found.brightness.max == pytest.approx(1)
    assert found.darkest[0] == 0 and found.brightest[0] == 1
    assert found.one_coloured == (0, 1, 2)


def test_pictures_that_look_alike_are_grouped_others_are_not():
    study = PictureStudy()
    original = picture(1)
    noisy = np.clip(original.astype(int) + np.random.default_rng(9).integers(-3, 4, original.shape), 0, 255)
    for place, one in enumerate([original, picture(2), noisy.astype(np.uint8), original[::2, ::2], picture(3)]):
        study.add(place, one)
    assert study.near_duplicates() == [[0, 2, 3]]


def test_a_picture_smaller_than_the_hash_has_one():
    assert isinstance(difference_hash(np.arange(6.0).reshape(2, 3)), int)


def test_marks_are_counted_by_class_size_and_place():
    study = MarkStudy()
    study.add(0, [Box("cat", 0, 0, 10, 10), Box("dog", 50, 50, 100, 100), Box("cat", 190, 90, 30, 30)], 200, 200)
    study.add(1, [], 200, 200)
    found = study.result()
    assert found.labels.values[0] == Counted("cat", 2)
    assert found.pictures_of == {"cat": 1, "dog": 1}
    assert found.sizes == {"small": 2, "large": 1}
    assert found.without == (1,)
    assert found.outside == (0,)
    assert sum(map(sum, found.centres)) == 3


def test_bounds_and_areas_of_every_kind_of_mark():
    square = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0))
    bits = np.zeros((10, 10), bool)
    bits[2:5, 3:7] = True
    assert bounds_of(Polygon("a", (square,))) == (0, 0, 4, 4)
    assert area_of(Polygon("a", (square,))) == 16
    assert bounds_of(Region("a", bits)) == (3, 2, 7, 5)
    assert area_of(Region("a", bits)) == 12
    assert bounds_of(Points("a", ((1.0, 2.0), (3.0, 1.0)))) == (1, 1, 3, 2)
    turned = bounds_of(Box("a", 0, 0, 10, 2, angle_degrees=90))
    assert turned == pytest.approx((4, -4, 6, 6))
    assert bounds_of(Region("a", np.zeros((3, 3), bool))) is None

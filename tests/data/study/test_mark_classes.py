"""Marks that look like another class, and boxes over the whole picture: doubted where that is unusual, and else not."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.data.dataset import Box
from stethoscope.data.study.marks import MarkStudy
from stethoscope.data.study.remarks import Remark

KINDS = ("bars", "dots", "plain")


def pictures(count, wrong=(), seed=0):
    """(picture, boxes) with three things on each; those in `wrong` are called by another name."""
    generator = np.random.default_rng(seed)
    for place in range(count):
        picture = generator.integers(90, 120, (60, 120, 3)).astype(np.uint8)
        marks = []
        for number in range(3):
            kind = (place + number) % 3
            thing = np.full((24, 24, 3), 200, np.uint8)
            if KINDS[kind] == "bars":
                thing[:, ::6] = thing[:, 1::6] = 20
            elif KINDS[kind] == "dots":
                thing[::8, ::8] = thing[1::8, 1::8] = 0
                thing[..., 2] = 40
            x, y = 40 * number + int(generator.integers(0, 12)), int(generator.integers(0, 30))
            picture[y : y + 24, x : x + 24] = thing + generator.integers(0, 20, thing.shape, dtype=np.uint8)
            called = (kind + 1) % 3 if (place, number) in wrong else kind
            marks.append(Box(KINDS[called], x, y, 24, 24))
        yield picture, tuple(marks)


def studied(given):
    study = MarkStudy()
    for place, (picture, marks) in enumerate(given):
        study.add(place, marks, picture.shape[1], picture.shape[0], picture)
    return study.result()


def test_a_wrong_class_is_doubted_with_what_it_looks_like():
    wrong = {(3, 1), (11, 0), (20, 2)}
    classes = studied(pictures(30, wrong)).classes
    assert {(one.place, one.number) for one in classes.doubtful} == wrong and classes.count == 3
    assert classes.judged == 90 and classes.right > 0.9
    for one in classes.doubtful:
        assert KINDS.index(one.given) == (KINDS.index(one.looks_like) + 1) % 3


def test_nothing_is_doubted_where_all_is_right_or_nothing_can_be_told():
    assert not studied(pictures(30)).classes.count
    assert studied(pictures(6)).classes.judged == 0
    noise = np.random.default_rng(1)
    blind = [
        (noise.integers(0, 255, (40, 40, 3)).astype(np.uint8), (Box(str(noise.integers(3)), 5, 5, 20, 20),))
        for _ in range(80)
    ]
    classes = studied(blind).classes
    assert (classes.judged, classes.count) == (0, 0) and classes.right < 0.8


@pytest.mark.parametrize(("whole", "count"), [(1, 1), (20, 0)])
def test_a_box_over_the_whole_picture_is_doubted_where_that_is_unusual(whole, count):
    given = list(pictures(30))
    for place in range(whole):
        picture, marks = given[place]
        given[place] = picture, (Box(KINDS[0], 0, 0, 120, 60), *marks[1:])
    found = studied(given)
    assert found.whole_count == count and found.whole == ((0,) if count else ())


def test_names_in_remarks_are_put_in_by_whoever_shows_them():
    assert Remark("{} and {}", ("a", "{b}")).plain == "'a' and '{b}'"

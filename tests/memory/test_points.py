"""The knee, and the largest batch held against what ran."""

from __future__ import annotations

import pytest

from stethoscope.framework_errors import BatchInterval
from stethoscope.memory.points import Point, knee, narrowed
from stethoscope.types import Status


def point(batch_size: int, time_s: float | None = None, status: Status = Status.OK) -> Point:
    return Point(batch_size, "function", 100, None if time_s is None else 110, time_s, status)


def test_the_knee_is_the_smallest_batch_that_is_nearly_as_fast():
    assert knee([point(1, 1.0), point(8, 0.2), point(32, 0.105), point(64, 0.1)]) == 32
    assert knee([point(1, 1.0)]) is None


def test_the_interval_gives_way_to_what_was_seen():
    points = [point(8, 0.1), point(32, 0.1), point(64, status=Status.OUT_OF_MEMORY)]
    assert narrowed(BatchInterval(20, 100), points) == BatchInterval(32, 63)
    assert narrowed(BatchInterval(70, 100), points) == BatchInterval(63, 63)
    assert narrowed(None, points) == BatchInterval(32, 63)
    assert narrowed(None, points[:1]) is None


def test_a_measured_point_says_how_far_off_the_prediction_was():
    assert point(8).measured(110).error_fraction == pytest.approx(100 / 110 - 1)
    assert Point(8, "function", None).measured(110).error_fraction is None

"""Where records begin, and which of them repeat."""

from __future__ import annotations

from itertools import pairwise

import pytest

from stethoscope.models.containers.record_framing import FOOTER, HEADER, frame
from tests.logs.event_writing import record


def framed(sizes):
    return frame(b"".join(record(bytes(size)) for size in sizes), {})


@pytest.mark.parametrize(
    ("before", "cycle", "after"), [([7], [3, 5, 4], []), ([], [9], [3]), ([5, 5], [4, 4, 8], [4, 1])]
)
def test_records_whose_lengths_repeat_are_found_from_the_first_to_the_last(before, cycle, after):
    sizes = [*before, *cycle * 200, *after]
    found = framed(sizes)
    (region,) = found.regions
    assert (region.first, region.cycle, region.cycles) == (len(before), len(cycle), 200)
    assert region.step == sum(cycle) + len(cycle) * (HEADER + FOOTER)
    assert found.size.tolist() == sizes


def test_every_record_is_found_where_it_is_whatever_repeats():
    sizes = [2, *[3, 5] * 90, *[3, 6] * 4_000, 1, *[8] * 700, *range(40, 120), *[3, 5] * 50]
    found = framed(sizes)
    content = b"".join(record(bytes(size)) for size in sizes)
    assert found.size.tolist() == sizes
    assert found.start.tolist() == [sum(sizes[:at]) + at * (HEADER + FOOTER) + HEADER for at in range(len(sizes))]
    assert (found.end, found.damaged) == (len(content), False)
    assert all(one.first + one.cycle * one.cycles <= after.first for one, after in pairwise(found.regions))

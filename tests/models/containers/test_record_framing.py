"""Where records begin, and which of them repeat."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.models.containers.record_framing import (
    FOOTER,
    HEADER,
    checksums,
    crc32c,
    frame,
    mask,
    masked,
    share_of,
)
from tests.exploring import examples
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


def test_the_checksum_is_the_published_one():
    assert crc32c(b"123456789") == 0xE3069283


@examples(100)
@given(st.lists(st.binary(max_size=700), max_size=12))
def test_many_at_once_are_the_same(contents):
    whole = b"\xff" * 3 + b"".join(contents)
    sizes = np.array([len(one) for one in contents], np.int64)
    starts = 3 + np.cumsum(sizes) - sizes
    assert checksums(whole, starts, sizes).tolist() == [crc32c(one) for one in contents]


@examples(100)
@given(st.binary(max_size=300))
def test_a_checksum_is_the_sum_of_its_bytes_shares(content):
    total = crc32c(bytes(len(content)))
    for at, byte in enumerate(content):
        total ^= int(share_of(len(content) - 1 - at)[byte])
    assert total == crc32c(content)


@examples(100)
@given(st.binary(max_size=50))
def test_one_and_many_are_stored_alike(content):
    assert mask(np.array([crc32c(content)], np.uint32)).tolist() == [masked(content)]

"""Checksums of records."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.models.containers.crc32c import checksums, crc32c, mask, masked, share_of
from tests.exploring import examples


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

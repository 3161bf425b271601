"""Loading and one call, played through the pool."""

from __future__ import annotations

from stethoscope.memory.liveness import Step, profile
from stethoscope.memory.pool_estimate import kept

MIB = 1 << 20
STEPS = [Step("a", ("a",)), Step("b", ("b",), ("a",)), Step("c", ("c",), ("b",))]


def call(megabytes, **options):
    return profile(STEPS, {name: size * MIB for name, size in megabytes.items()}, to_the_end=("c",), **options)


def test_a_freed_tensor_is_used_again_and_never_given_back():
    found = kept([], [], call({"a": 8, "b": 8, "c": 8}))
    assert found.pool_bytes == 16 * MIB
    assert kept([], [4 * MIB], call({"a": 8, "b": 8, "c": 8})).pool_bytes == 20 * MIB
    # A hole that is too small is kept beside the new block.
    assert kept([], [], call({"a": 8, "b": 4, "c": 12})).pool_bytes > 16 * MIB


def test_what_is_written_over_takes_no_block():
    steps = [Step("a", ("a",)), Step("b", ("b",), ("a",), overwrites=("a",))]
    made = profile(steps, {"a": 8 * MIB, "b": 8 * MIB}, to_the_end=("b",))
    assert made.instead_of == {"b": "a"}
    assert kept([], [], made).pool_bytes == 8 * MIB


def test_a_weight_is_drawn_in_three_blocks_and_read_into_a_fourth():
    found = kept([4 * MIB], [], profile([], {}))
    assert found.pool_bytes == 4 * 4 * MIB
    assert found.loading_bytes == (4 * 4 + 2 * 4 + 4) * MIB
    # Where a drawn block is free again, the next weight is drawn and read into it.
    assert kept([4 * MIB, 4 * MIB], [], profile([], {})).pool_bytes < 2 * found.pool_bytes
    assert kept([1000], [], profile([], {})).small_bytes == 1000

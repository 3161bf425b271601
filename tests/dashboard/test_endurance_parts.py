"""What the picture of repeated calls says."""

from __future__ import annotations

from dashboard.cost import endurance_parts

MIB = 1 << 20


def test_memory_is_drawn_in_mebibytes_beyond_the_first_counted_call():
    (name, _), *_ = endurance_parts._SERIES
    (line,) = endurance_parts.held({name: [100 * MIB, 103 * MIB, 99 * MIB]}).data
    assert list(line.x) == [1, 2, 3]
    assert list(line.y) == [0, 3, -1]

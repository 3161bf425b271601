"""What a probe says of the calls it made."""

from __future__ import annotations

from stethoscope.memory.calibrate import Probe

MIB = 1 << 20


def probed(first: int, *peaks: int, held: int = 100, settled: int = 110, traced: bool = False) -> Probe:
    later = tuple(peak * MIB for peak in peaks)
    return Probe(4, first * MIB, later, held * MIB, settled * MIB, 0, traced, 0.01)


def test_what_a_call_adds_is_the_mean_of_the_calls():
    found = probed(120, 130, 140, 150)
    assert found.added_bytes == (20 + 20 + 30 + 40) / 4 * MIB
    assert found.spread_bytes == 40 * MIB - found.added_bytes
    assert found.peak_bytes == 150 * MIB


def test_a_first_call_that_traced_says_nothing_of_the_others():
    found = probed(200, 130, 130, traced=True)
    assert (found.added_bytes, found.spread_bytes) == (20 * MIB, 0)
    assert found.tracing_bytes == 80 * MIB


def test_what_every_size_traces_anew_is_part_of_its_first_run():
    assert probed(200, 130, traced=True).peak_of(0) == 130 * MIB
    assert probed(200, 130, traced=True).peak_of(50 * MIB) == 200 * MIB
    assert probed(120, 130).peak_of(50 * MIB) == 180 * MIB

"""The line through measured peaks: what it says of larger batches, of a whole run, and of the largest batch."""

from __future__ import annotations

import pytest

from stethoscope.memory.fit import PeakFit

MIB = 1 << 20


def line(start: float, row: float, *sizes: int) -> dict[int, int]:
    return {size: int((start + row * size) * MIB) for size in sizes}


def test_a_straight_line_is_followed():
    fit = PeakFit(line(100, 5, 1, 2, 4, 8, 16))
    assert fit.predict(64) == pytest.approx(420 * MIB, rel=0.001)
    assert fit.margin_bytes(32) < 0.10 * fit.predict(32)
    assert fit.margin_bytes(64) < 0.13 * fit.predict(64)


def test_batches_of_nearly_one_size_tell_no_slope():
    fit = PeakFit(line(100, 5, 8, 16, 32) | {30: 262 * MIB})
    assert fit.predict(64) == pytest.approx(420 * MIB, rel=0.001)


def test_equal_calls_that_differ_widen_the_margin_and_the_peak_of_many():
    steady, wandering = (PeakFit(line(100, 5, 2, 4, 8), spread_bytes=spread * MIB) for spread in (0, 20))
    assert wandering.margin_bytes(16) == steady.margin_bytes(16) + (20 - 6) * MIB
    assert wandering.predict_run(8, 8) == steady.predict_run(8, 8)
    assert wandering.predict_run(8, 64) == steady.predict_run(8, 64) + 20 * MIB


def test_a_program_compiled_for_one_size_alone_may_be_another():
    compiled = PeakFit(line(100, 5, 2, 4, 8), tracing_bytes=10 * MIB)
    assert compiled.margin_bytes(16) - PeakFit(line(100, 5, 2, 4, 8)).margin_bytes(16) == pytest.approx(
        18 * MIB, rel=0.01
    )


def test_the_smallest_batches_do_not_bend_the_line():
    probes = line(100, 5, 4, 8, 16) | {1: 60 * MIB, 2: 80 * MIB}
    assert PeakFit(probes).predict(128) == pytest.approx(740 * MIB, rel=0.001)


def test_a_flattening_curve_flattens_on():
    fit = PeakFit({4: 100 * MIB, 8: 150 * MIB, 16: 240 * MIB})
    straight_on = 240 + 16 * (240 - 150) / 8
    assert fit.predict(32) < straight_on * MIB
    assert fit.predict(32) > 0.9 * straight_on * MIB


def test_memory_that_does_not_grow_has_no_largest_batch():
    assert PeakFit({1: MIB, 2: MIB, 4: MIB}).largest(10 * MIB) is None


@pytest.mark.parametrize("limit", [150, 400, 1000, 5000])
def test_the_largest_batch_lies_in_the_interval(limit):
    truth = (limit - 100) // 5
    found = PeakFit(line(100, 5, truth // 4, truth // 2)).largest(limit * MIB)
    assert found is not None
    assert found.low <= truth <= found.high
    assert found.high - found.low <= 0.2 * truth + 5


def test_nothing_fits_below_what_loading_takes():
    fit = PeakFit(line(100, 5, 1, 2, 4), loading_peak_bytes=300 * MIB)
    assert fit.largest(250 * MIB) is None
    assert fit.fits(2, 250 * MIB) is False
    assert fit.fits(2, 310 * MIB) is True
    assert fit.predict_run(2, 2) == 300 * MIB


def test_near_the_limit_there_is_no_answer():
    fit = PeakFit(line(100, 5, 2, 4, 8))
    assert fit.fits(64, fit.predict(64)) is None
    assert fit.fits(64, 2 * fit.predict(64)) is True
    assert fit.fits(64, fit.predict(64) // 2) is False


def test_outputs_are_collected_and_joined():
    fit = PeakFit(line(10, 1, 1, 2, 4), input_row_bytes=0.5 * MIB, output_row_bytes=2 * MIB)
    assert fit.predict_run(8, 8) == fit.predict(8)
    one_by_one = fit.predict(8) + 92 * 2.5 * MIB
    joined = (10 + 100 * 0.5 + 2 * 100 * 2) * MIB
    assert fit.predict_run(8, 100) == pytest.approx(max(one_by_one, joined), rel=0.01)


def test_what_was_known_before_a_batch_ran():
    fit = PeakFit(line(100, 5, 1, 2, 4, 8))
    assert set(fit.before(4).probes) == {1, 2}
    assert set(fit.before(1).probes) == {1, 2}


def test_a_process_that_holds_more_needs_as_much_more():
    fit = PeakFit(line(100, 5, 1, 2, 4), held_bytes=80 * MIB).holding(95 * MIB)
    assert fit.predict(64) == pytest.approx((115 + 320) * MIB, rel=0.001)
    assert fit.holding(80 * MIB).predict(64) == pytest.approx(420 * MIB, rel=0.001)


def test_model_predict_copies_all_input_twice_and_prepares_batches():
    fit = PeakFit(line(10, 2, 1, 2, 4), input_row_bytes=MIB)
    assert fit.predict_run(8, 8, batches_itself=True) == fit.predict(8)
    arrays, copies, ahead = 92, 2 * 92, 16
    assert fit.predict_run(8, 100, batches_itself=True) == fit.predict(8) + (arrays + copies + ahead) * MIB


def test_programs_compiled_otherwise_for_small_batches_do_not_bend_the_line():
    start = 40 + 15
    probes = {1: start + 6.9, 2: start + 12.8, 4: start + 25.6, 8: start + 33.8}
    fit = PeakFit({rows: int(peak * MIB) for rows, peak in probes.items()}, tracing_bytes=15 * MIB, held_bytes=40 * MIB)
    assert fit.predict(16) == pytest.approx((start + 66.6) * MIB, rel=0.02)


def test_where_small_batches_had_another_peak_growth_lies_between_the_last_slope_and_the_share_of_each_row():
    held = 240
    probes = {2: held + 18.6, 4: held + 45.0, 8: held + 56.2}
    fit = PeakFit({rows: int(peak * MIB) for rows, peak in probes.items()}, held_bytes=held * MIB)
    assert fit.predict(16) == pytest.approx((held + 112.8) * MIB, rel=0.06)

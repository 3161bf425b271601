"""Which batch runs next in a process of its own, and what may be said of the largest: planned from what ran."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

import pytest

from stethoscope.memory.estimate import Estimate
from stethoscope.memory.plain import SPREAD, AtSize, PlainSweep
from stethoscope.memory.plain_run import PlainRun, Wanted, ended
from stethoscope.task import Before
from stethoscope.types import Status

MIB = 1 << 20
LOADING = 40 * MIB


def driven(
    peak_of: Callable[[int], int],
    limit_bytes: int,
    batch_sizes: tuple[int, ...] = (1, 8, 32),
    row_s: float = 1e-6,
    room: float = 1.0,
    **more,
) -> PlainSweep:
    """A whole sweep of a process whose peak at each batch is known, and which ends at `room` of its limit."""
    sweep = PlainSweep(batch_sizes, (AtSize(None, steady_rows=4),), check=False)
    sweep = PlainSweep(**{**vars(sweep), **more})
    for _ in range(100):
        wanted = sweep.wanted(limit_bytes)
        if wanted is None:
            return sweep
        peak = peak_of(wanted.rows)
        run = PlainRun(wanted.rows, wanted.purpose, peak, LOADING, row_s * wanted.rows)
        if max(peak, LOADING) > limit_bytes * room:
            run = ended(wanted, Before({}, Status.OUT_OF_MEMORY, "ran out", peak))
        sweep = sweep.after(wanted, run, limit_bytes)
    raise AssertionError("it never ends")


def line(rows: int) -> int:
    return 20 * MIB + 5 * MIB * rows


def rough(rows: int) -> int:
    """As a pool that keeps what it has grows: in steps."""
    return 20 * MIB + 5 * MIB * rows + (7 * MIB if rows % 3 else 0) + (rows // 32) * 11 * MIB


def sudden(rows: int) -> int:
    """Another algorithm from some batch on."""
    return line(rows) if rows < 40 else 3 * line(rows)


@pytest.mark.parametrize("peak_of", [line, rough, sudden])
@pytest.mark.parametrize("limit_bytes", [100 * MIB, 700 * MIB, 3000 * MIB])
def test_the_lower_end_ran_within_the_limit(peak_of, limit_bytes):
    sweep = driven(peak_of, limit_bytes)
    (at,) = sweep.sizes
    found = sweep.largest(at, limit_bytes)
    assert found is not None and 1 <= found.low <= found.high
    assert at.run_of(found.low) is not None
    assert max(peak_of(found.low), LOADING) * (1 + SPREAD) <= limit_bytes
    assert peak_of(found.high + 1) * (1 + 2 * SPREAD) > limit_bytes or at.ended_rows == found.high + 1


def test_batches_are_run_small_to_large_with_one_that_shows_the_slope():
    sweep = driven(line, 10_000 * MIB, batch_sizes=(1, 32))
    assert [run.rows for run in sweep.sizes[0].runs][:3] == [1, 4, 32]
    assert [run.purpose for run in sweep.sizes[0].runs][:3] == ["point", "probe", "point"]


def test_a_prediction_is_made_from_what_ran_before():
    (at,) = driven(line, 10_000 * MIB, batch_sizes=(1, 32)).sizes
    assert at.expected(1) is None
    assert at.expected(32) == pytest.approx(line(32), rel=0.01)


def test_what_loading_needs_is_the_least():
    (at,) = driven(lambda rows: rows * 1000, 10_000 * MIB, batch_sizes=(1, 32)).sizes
    assert at.expected(32) == LOADING
    assert at.run_of(32).peak_bytes == LOADING


def test_what_cannot_fit_is_not_started():
    sweep = driven(line, 100 * MIB, batch_sizes=(1, 8, 4096))
    (at,) = sweep.sizes
    assert at.run_of(4096) is None
    assert sweep.refusal(at, 4096, 100 * MIB)


def test_nothing_larger_is_started_after_one_ran_out():
    sweep = driven(lambda rows: line(rows) if rows < 8 else 400 * MIB, 300 * MIB, batch_sizes=(1, 8, 16))
    (at,) = sweep.sizes
    assert at.run_of(8).status is Status.OUT_OF_MEMORY
    assert at.run_of(16) is None
    assert sweep.largest(at, 300 * MIB).high == 7


def test_a_batch_that_came_through_with_more_than_the_limit_did_not_fit():
    """What ends a process leaves it a little room: the row, the interval and what is started next all say the same."""
    limit = line(32) - MIB
    sweep = driven(line, limit, batch_sizes=(1, 32, 33), room=1 + SPREAD)
    (at,) = sweep.sizes
    over = at.run_of(32)
    assert (over.status, over.came_through, over.peak_bytes) == (Status.OUT_OF_MEMORY, True, line(32))
    assert at.ended_rows == 32
    assert at.run_of(33) is None
    assert sweep.refusal(at, 33, limit)
    assert sweep.largest(at, limit).high == 31
    assert 32 in at.fit.probes


def test_a_slow_batch_is_not_run_for_the_largest_alone():
    """What was not run is not said to fit, however sure the line is."""
    sweep = driven(line, 10_000 * MIB, row_s=10.0)
    found = sweep.largest(sweep.sizes[0], 10_000 * MIB)
    assert found.low == 32
    assert found.high > 1000


def test_the_batch_above_is_run_once_where_asked():
    sweep = driven(line, 700 * MIB, check=True)
    (at,) = sweep.sizes
    above = at.run_of(sweep.largest(at, 700 * MIB).high + 1)
    assert above.status is Status.OUT_OF_MEMORY


def test_a_file_that_fixes_its_batch_has_one_run_and_no_largest():
    sweep = driven(line, 700 * MIB, batch_sizes=(16,), fixed=16)
    assert [run.rows for run in sweep.sizes[0].runs] == [16]
    assert sweep.largest(sweep.sizes[0], 700 * MIB) is None


def test_where_not_one_row_fits_nothing_is_run():
    sweep = PlainSweep((1, 8), (AtSize(None),), check=True)
    assert sweep.wanted(100 * MIB) is None
    assert sweep.refusal(sweep.sizes[0], 1, 100 * MIB)


def test_several_sizes_are_each_swept():
    sweep = PlainSweep((1, 8), (AtSize(16, steady_rows=4), AtSize(64, steady_rows=4)), check=False)
    assert sweep.wanted(10**9) == Wanted(0, 1, "point")
    for rows in (1, 8):
        wanted = sweep.wanted(10**9)
        assert (wanted.size_place, wanted.rows) == (0, rows)
        sweep = sweep.after(wanted, PlainRun(rows, wanted.purpose, line(rows), LOADING, 1e-6), 10**9)
    assert sweep.wanted(10**9).size_place == 1


def of_the_graph(told: dict[int, int]) -> AtSize:
    estimated = tuple(
        Estimate(rows, "predict", None, 0, peak, 0, 0, 0, 0, peak, "run", "", "", (), (), call_peak_bytes=peak)
        for rows, peak in told.items()
    )
    return AtSize(None, steady_rows=1, estimated=estimated)


@pytest.mark.parametrize(("peaks", "asked"), [((700,), 1), ((903, 899), 2), ((903, 701, 712), 3)])
def test_a_batch_far_from_what_the_graph_says_is_asked_again(peaks, asked):
    """Xception took 701 to 903 MiB in equal processes."""
    sweep = PlainSweep((16,), (of_the_graph({16: 690 * MIB}),), check=False, seek=False)
    runs = iter(peaks)
    while (wanted := sweep.wanted(10**10)) is not None:
        run = PlainRun(wanted.rows, wanted.purpose, next(runs) * MIB, LOADING, 1.0)
        sweep = sweep.after(wanted, run, 10**10)
    (run,) = sweep.sizes[0].runs
    assert (run.purpose, max(1, len(run.peaks))) == ("point", asked)
    assert run.call_peak_bytes == int(median(peaks) * MIB)
    assert run.most_bytes == max(peaks) * MIB


def test_what_runs_out_the_second_time_did_not_fit():
    limit = 800 * MIB
    sweep = PlainSweep((16,), (of_the_graph({16: 600 * MIB}),), check=False, seek=False)
    for peak in (700, 850):
        wanted = sweep.wanted(limit)
        sweep = sweep.after(wanted, PlainRun(16, wanted.purpose, peak * MIB, LOADING, 1.0), limit)
    assert sweep.wanted(limit) is None
    assert sweep.sizes[0].ended_rows == 16

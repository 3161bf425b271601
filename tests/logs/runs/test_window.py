"""What a chart gets: few points, and none that stands out is lost."""

from __future__ import annotations

import json
import math
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.errors import BadInput
from stethoscope.logs.runs.chart import View, pack, view_of
from stethoscope.logs.runs.selection import smooth, thin
from stethoscope.logs.runs.window import MAX_MARKS, MAX_POINTS, window
from tests.exploring import examples
from tests.logs.runs.logs import table_of
from tests.tables import each

NAN, INF = math.nan, math.inf


def tensorboards(values: list[float], weight: float) -> list[float]:
    """TensorBoard's smoothing, point by point."""
    last, found = 0.0, []
    same = len(set(values)) == 1
    for count, value in enumerate(values, start=1):
        last = last * weight + (1 - weight) * value
        found.append(value if same else last / (1 - weight**count))
    return found


@each("weight", [0.1, 0.6, 0.95, 0.999, 0.99999])
def test_smoothing_is_tensorboards(weight):
    random = np.random.default_rng(0)
    runs = [random.normal(size=length) for length in (1, 40_000, 5, 3, 70_000, 2)] + [np.full(9, 0.1)]
    edges = np.append(0, np.cumsum([len(run) for run in runs]))
    found = smooth(np.concatenate(runs), edges, weight)
    for at, run in enumerate(runs):
        expected = tensorboards(run.tolist(), weight)
        np.testing.assert_allclose(found[edges[at] : edges[at + 1]], expected, rtol=1e-9, atol=1e-11)
    assert found[edges[6] : edges[7]].tolist() == [0.1] * 9, "a constant run comes back as it is"


def test_one_spike_among_a_million_points_is_drawn(tmp_path):
    value = np.sin(np.arange(1_000_000) / 5e4)
    value[700_123], value[12] = 40.0, -30.0
    table = table_of(tmp_path / "out", {"a": {"loss": value}})
    (line,) = window(table, View(0, columns=500)).lines
    assert len(line.x) <= 2 * 500 + 2
    assert line.thinned
    assert line.points == line.total == 1_000_000
    assert line.y[line.x == 700_123].tolist() == [40.0]
    assert line.y[line.x == 12].tolist() == [-30.0]
    assert (line.x[0], line.x[-1]) == (0, 999_999)
    assert (np.diff(line.x) > 0).all()


def test_zooming_in_shows_every_point_and_the_lines_that_lead_in(tmp_path):
    table = table_of(
        tmp_path / "out", {"a": {"loss": np.arange(1_000_000.0)}, "b": {"loss": ([0, 999_999], [0.0, 1.0])}}
    )
    chart = window(table, View(0, columns=500, low=1000.5, high=1010.5))
    assert chart.lines[0].x.tolist() == list(range(1000, 1012))
    assert not chart.lines[0].thinned
    assert chart.lines[0].points == 10
    assert chart.lines[1].x.tolist() == [0, 999_999], "a line that crosses the window without a point in it"
    assert chart.x_range == (0, 999_999)
    assert chart.y_range == pytest.approx((1000.55, 1010.45)), "only what is inside counts"


def test_what_is_not_finite_is_marked_and_not_drawn(tmp_path):
    table = table_of(
        tmp_path / "out", {"a": {"loss": [NAN, 5.0, INF, 4.0, -INF]}, "b": {"loss": [NAN]}, "c": {"loss": [1.0]}}
    )
    lines = window(table, View(0)).lines
    assert [tuple(mark) for mark in lines[0].marks] == [(0, "nan", 5.0), (2, "+inf", 5.0), (4, "-inf", 4.0)]
    assert lines[0].x.tolist() == [1, 3]
    assert lines[0].best == (3, 4.0)
    assert (lines[1].marks[0].y_hint, len(lines[1].x), lines[1].best) == (None, 0, None)
    assert lines[2].marks == ()


def test_marks_are_bounded_and_counted(tmp_path):
    table = table_of(tmp_path / "out", {"a": {"loss": np.full(5_000, NAN)}})
    (line,) = window(table, View(0)).lines
    assert (len(line.marks), line.marks_total) == (MAX_MARKS, 5_000)


def test_smoothing_leaves_out_what_is_not_finite(tmp_path):
    table = table_of(tmp_path / "out", {"a": {"loss": [4.0, NAN, 2.0, 3.0]}})
    (line,) = window(table, View(0, smoothing=0.5)).lines
    assert line.smooth is not None
    assert line.smooth.tolist() == pytest.approx(tensorboards([4.0, 2.0, 3.0], 0.5))
    assert line.y.tolist() == [4.0, 2.0, 3.0]


def test_restarts_show_the_latest_or_everything(tmp_path):
    curves = {"a": {"loss": ([0, 1, 2, 1, 2, 3], [9.0, 8.0, 7.0, 6.0, 5.0, 4.0])}, "b": {"loss": [1.0, 2.0]}}
    table = table_of(tmp_path / "out", curves)
    latest, everything = (window(table, View(0, restarts=which)).lines[0] for which in ("latest", "all"))
    assert latest.y.tolist() == [9.0, 6.0, 5.0, 4.0]
    assert everything.y.tolist() == [9.0, 8.0, 7.0, 6.0, 5.0, 4.0]


def test_time_axes(tmp_path):
    curves = {"a": {"loss": ([0, 1], [1.0, 2.0], [100.0, 160.0])}, "b": {"loss": ([0, 1], [1.0, 2.0], [NAN, NAN])}}
    table = table_of(tmp_path / "out", curves)
    assert window(table, View(0, x="wall")).lines[0].x.tolist() == [100.0, 160.0]
    relative = window(table, View(0, x="relative"))
    assert relative.lines[0].x.tolist() == [0.0, 60.0]
    assert len(relative.lines[1].x) == 0, "without times there is no time axis"


def test_outliers_do_not_set_the_clipped_range(tmp_path):
    value = np.linspace(0, 1, 200)
    value[100] = 1e6
    chart = window(table_of(tmp_path / "out", {"a": {"loss": value}}), View(0))
    assert chart.y_range is not None and chart.y_range[1] > 1e6
    assert chart.y_clipped is not None and chart.y_clipped[1] < 1.1


def test_groups_are_mean_and_deviation_over_their_runs(tmp_path):
    curves = {"a": {"loss": [1.0, 2.0, 3.0]}, "b": {"loss": [3.0, 4.0]}, "c": {"loss": ([0, 2], [5.0, 9.0])}}
    table = table_of(tmp_path / "out", curves)
    chart = window(table, View(0, groups=(("seeds", (0, 1)), ("other steps", (0, 2)), ("none", ()))))
    seeds, other = chart.lines
    assert (seeds.group, seeds.x.tolist(), seeds.y.tolist()) == ("seeds", [0, 1, 2], [2.0, 3.0, 3.0])
    assert seeds.count is not None and seeds.count.tolist() == [2, 2, 1]
    assert seeds.low is not None and seeds.low.tolist() == pytest.approx([2 - math.sqrt(2), 3 - math.sqrt(2), 3.0])
    assert other.y.tolist() == [3.0, 4.5, 6.0], "interpolated where a run has no such step"
    assert seeds.best == (0, 2.0)


def test_groups_of_other_steps_show_a_spike_once_zoomed_in(tmp_path):
    random = np.random.default_rng(0)
    curves = {}
    for at in range(20):
        value = np.zeros(20_000)
        value[12_345] = 100.0 if at == 3 else 0.0
        times = 1e9 + np.arange(20_000) + random.random(20_000) / 2
        curves[f"r{at}"] = {"loss": (np.arange(20_000), value, times)}
    table = table_of(tmp_path / "out", curves)
    view = View(0, x="relative", groups=(("all", tuple(range(20))),), low=12_340.0, high=12_350.0)
    (line,) = window(table, view).lines
    assert float(line.y.max()) == pytest.approx(5.0, rel=0.2)
    assert line.points <= 20 * 12


def test_a_thousand_runs_stay_within_bounds(tmp_path):
    value = np.random.default_rng(0).normal(size=2_000).cumsum()
    table = table_of(tmp_path / "out", {f"run{at}": {"loss": value} for at in range(300)})
    chart = window(table, View(0, columns=2_000))
    assert sum(len(line.x) for line in chart.lines) <= MAX_POINTS * 1.05
    chosen = window(table, View(0, runs=(7, 250), columns=2_000)).lines
    assert [line.run for line in chosen] == [7, 250]
    assert not chosen[0].thinned


@examples(60)
@given(st.data())
def test_every_column_keeps_its_extremes(data):
    count = data.draw(st.integers(1, 400))
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    x = random.integers(0, 50, count).astype(float)
    if data.draw(st.booleans()):
        x = np.sort(x)
    y, run = random.integers(-5, 5, count).astype(float), np.sort(random.integers(0, 3, count))
    low, high = sorted((float(random.integers(0, 50)), float(random.integers(0, 50))))
    columns = data.draw(st.integers(1, 12))
    kept = thin(x, (y,), run, low, high, columns)
    assert (np.diff(kept) > 0).all()
    for which in range(3):
        mine, there = np.flatnonzero(run == which), kept[run[kept] == which]
        if len(mine):
            assert {mine[0], mine[-1]} <= set(there.tolist())
            assert y[there].min() == y[mine].min()
            assert y[there].max() == y[mine].max()
            assert len(there) <= max(2 * columns, 4 * (columns + 2)) + 4


def test_the_bytes_for_the_browser(tmp_path):
    table = table_of(tmp_path / "out", {"a": {"loss": [3.0, NAN, 1.0]}, "b": {"loss": [2.0]}})
    content = pack(window(table, View(0, smoothing=0.5)), revision=7)
    length = struct.unpack("<I", content[:4])[0]
    assert (4 + length) % 8 == 0
    header = json.loads(content[4 : 4 + length])
    numbers = np.frombuffer(content[4 + length :], "<f8")
    first = header["series"][0]
    assert (header["revision"], header["unit"], header["x_range"]) == (7, "step", [0, 2])
    assert [numbers[at : at + count].tolist() for at, count in (first["x"], first["y"])] == [[0, 2], [3.0, 1.0]]
    assert (first["run"], first["best"], first["marks"]) == (0, [2, 1.0], [[1, "nan", 3.0]])
    assert first["smooth"][1] == 2
    without = pack(window(table, View(0)), 1)
    assert json.loads(without[4 : 4 + struct.unpack("<I", without[:4])[0]])["series"][0]["smooth"] is None


@each(
    "asked",
    [
        [],
        {},
        {"tag": 5},
        {"tag": -1},
        {"tag": True},
        {"tag": 0, "runs": [2]},
        {"tag": 0, "runs": "all"},
        {"tag": 0, "runs": [0] * 1000},
        {"tag": 0, "x": "epoch"},
        {"tag": 0, "smoothing": 1},
        {"tag": 0, "smoothing": "much"},
        {"tag": 0, "low": 1e999},
        {"tag": 0, "restarts": 3},
        {"tag": 0, "groups": [["a"]]},
        {"tag": 0, "groups": {"a": [0]}},
    ],
)
def test_what_no_page_asks_is_refused(tmp_path, asked):
    table = table_of(tmp_path / "out", {"a": {"loss": [1.0]}, "b": {"loss": [1.0]}})
    with pytest.raises(BadInput, match="Reload the page"):
        view_of(asked, table)


def test_what_a_page_asks(tmp_path):
    table = table_of(tmp_path / "out", {"a": {"loss": [1.0]}, "b": {"loss": [1.0]}})
    asked = {
        "tag": 0,
        "runs": [1],
        "x": "wall",
        "low": 1,
        "high": None,
        "columns": 1e9,
        "smoothing": 0.6,
        "groups": [["g", [0]]],
    }
    view = view_of(asked, table)
    assert (view.runs, view.x, view.low, view.high, view.columns, view.groups) == (
        (1,),
        "wall",
        1.0,
        None,
        10_000,
        (("g", (0,)),),
    )


_STEPS = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-3, 40)
_VALUES = st.floats() | st.floats(-4, 4) | st.sampled_from([1.7e308, -1.7e308, 5e-324])
_POINTS = st.lists(st.tuples(_STEPS, _VALUES, st.floats() | st.floats(1e9, 2e9)), min_size=1, max_size=40)


@examples(80)
@given(
    st.lists(_POINTS, min_size=1, max_size=3),
    st.sampled_from(["step", "relative", "wall"]),
    st.sampled_from(["latest", "all"]),
    st.sampled_from([0.0, 0.6, 0.999]),
    st.booleans(),
    st.none() | st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300)),
    st.integers(1, 20),
)
def test_whatever_was_logged_can_be_sent(runs, x, restarts, smoothing, grouped, bounds, columns):
    with tempfile.TemporaryDirectory() as folder:
        curves = {f"r{at}": {"loss": tuple(zip(*points, strict=True))} for at, points in enumerate(runs)}
        table = table_of(Path(folder) / "out", curves)
        groups = (("all", tuple(range(len(runs)))),) if grouped else None
        low, high = bounds or (None, None)
        view = View(0, None, x, low, high, columns, smoothing, restarts, groups)
        content = pack(window(table, view), 1)
        json.dumps(table.index(), allow_nan=False)
    length = struct.unpack("<I", content[:4])[0]
    header = json.loads(content[4 : 4 + length])
    numbers = np.frombuffer(content[4 + length :], "<f8")
    for one in header["series"]:
        begin, count = one["x"]
        assert np.isfinite(numbers[begin : begin + count]).all()
        assert one["y"][1] == count
        assert all(math.isfinite(number) for number in (*(one["best"] or ()), *(one["last"] or ())))

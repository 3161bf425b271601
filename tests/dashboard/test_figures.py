"""Pictures: what they show, and that hostile names stay text."""

from __future__ import annotations

import json
import math

import numpy as np

from dashboard import figures
from stethoscope.compare.consistency.report import ConsistencyTest, TwoRuns
from stethoscope.types import Layer


def layer(path: str, parameters: int) -> Layer:
    return Layer(path, "Dense", (None, 4), parameters, parameters, "float32")


def test_parameter_share_shows_the_largest_and_sums_up_the_rest():
    drawn = figures.parameter_share([layer(f"dense_{size}", size) for size in range(1, 31)], 465)
    assert list(drawn.data[0].x)[-1] == 30
    assert drawn.layout.yaxis.ticktext[0] == "20 other layers"
    assert next(iter(drawn.data[0].x)) == sum(range(1, 21))
    assert drawn.layout.xaxis.title.text == "Parameters (number)"


def test_two_layers_whose_clipped_names_are_equal_keep_a_bar_each():
    drawn = figures.parameter_share([layer("x" * 100 + end, 5) for end in "ab"], 10)
    assert list(drawn.data[0].y) == [0, 1]


def test_layer_names_do_not_become_html():
    shown = figures.parameter_share([layer("<a href='http://evil'>x</a>", 5)], 5).to_json()
    assert "<a href" not in json.dumps(json.loads(shown))


def test_memory_marks_the_limit_and_keeps_it_in_view():
    drawn = figures.memory(300 << 20, 280 << 20, 1 << 30)
    assert drawn.layout.shapes[0].x0 == 1
    assert drawn.layout.xaxis.range[1] > 1
    assert [bar.y[0] for bar in drawn.data] == ["Predicted", "Measured"]


def test_a_prediction_far_beyond_the_limit_leaves_the_limit_readable():
    drawn = figures.memory(300 << 20, 40 << 30, 600 << 20)
    assert drawn.layout.xaxis.range[1] < 2
    assert drawn.data[0].text == ("40.0 GiB →",)


def ended(test_id: str, gap: float, *, passed: bool) -> ConsistencyTest:
    return ConsistencyTest(test_id, "batch", test_id, passed, False, True, "", gap)


def test_differences_draw_zero_and_infinity():
    tests = [ended("same-input-bitwise", 0.0, passed=True), ended("batch-1-vs-n", math.inf, passed=False)]
    drawn = figures.test_differences(tests, 1e-5)
    assert [trace.text[0].strip() for trace in drawn.data] == ["∞", "identical"]
    assert all(np.isfinite(trace.x[0]) and trace.x[0] > 0 for trace in drawn.data)


def test_nan_in_an_output_is_marked_not_dropped():
    drawn = figures.output_values(np.array([1.0, np.nan, np.inf]), "y")
    assert list(drawn.data[1].x) == [1, 2]
    assert list(drawn.data[1].text) == ["NaN", "∞"]


def test_a_long_output_reaches_the_browser_thinned_and_says_so():
    drawn = figures.output_values(np.zeros(1_000_000), "y")
    assert len(drawn.data[0].x) <= figures.MAX_POINTS
    assert "every 500th" in drawn.layout.xaxis.title.text


def test_runs_that_differ_only_in_nan_are_equal():
    assert not figures.differs(TwoRuns((math.nan, 1.0), (math.nan, 1.0)))
    assert figures.differs(TwoRuns((0.0,), (math.nan,)))


def test_a_narrow_logarithmic_axis_has_whole_numbers_at_its_ticks():
    ticks = figures.log_ticks(0.31, 2.27)
    assert [text for value, text in zip(ticks["tickvals"], ticks["ticktext"], strict=True) if 0.3 < value < 3] == [
        "0.5",
        "1",
        "2",
    ]
    assert figures.log_ticks(1e-6, 1.0) == {"dtick": 1, "exponentformat": "power"}
    assert "tickvals" not in figures.log_ticks(0.0, 1.0)


def test_a_number_just_below_the_tolerance_stands_left_of_its_line():
    tests = [ended("a", 6e-7, passed=True), ended("b", 0.1, passed=True)]
    assert [trace.textposition for trace in figures.test_differences(tests, 1e-5).data] == [
        "middle right",
        "middle left",
    ]

"""Runs of a server kept as a file and read again."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.logs.mlflow_run import MlflowRun, Points, as_logs, write_store
from stethoscope.logs.mlflow_sqlite import TRACKER
from tests.exploring import examples


def run(values=(0.5, math.nan, math.inf, -math.inf), **known):
    points = Points()
    for step, value in enumerate(values):
        points.add(step, 1000.0 * (step + 1), value)
    return MlflowRun("aa", "digits", "first", "FINISHED", "ann", 1000.0, 3500.0, metrics={"loss": points}, **known)


def test_a_run_comes_back_as_it_was(tmp_path):
    made = run(parameters={"lr": "1e-3"}, tags={"note": "hello"}, datasets=["six 3efaaf32 (training)"])
    write_store([made], tmp_path / "copy.db")
    (want,) = as_logs([made], TRACKER.id)
    (got,) = TRACKER.read(tmp_path / "copy.db")
    np.testing.assert_array_equal(got.series["loss"].value, want.series["loss"].value)
    np.testing.assert_array_equal(got.series["loss"].wall_time, want.series["loss"].wall_time)
    assert (got.run, got.group, got.parameters, got.notes) == (want.run, want.group, want.parameters, want.notes)


def test_what_was_left_out_is_said_with_the_run(tmp_path):
    write_store([run(left_out=["loss is cut"])], tmp_path / "copy.db")
    (got,) = TRACKER.read(tmp_path / "copy.db")
    assert got.notes["left out"] == "loss is cut"


@examples(5)
@given(st.text(max_size=20), st.text(max_size=20), st.lists(st.floats(), min_size=1, max_size=5))
def test_no_name_or_value_is_refused(tmp_path_factory, name, tag, values):
    points = Points()
    for step, value in enumerate(values):
        points.add(step, math.nan, value)
    made = MlflowRun("id", name, name + "\ud800", metrics={tag: points}, parameters={name: tag})
    path = tmp_path_factory.mktemp("copy") / "copy.db"
    write_store([made], path)
    (got,) = TRACKER.read(path)
    stored = got.series[tag].value
    finite = [
        value if abs(value) < 1.7e308 or math.isnan(value) else math.copysign(math.inf, value) for value in values
    ]
    np.testing.assert_array_equal(stored, finite)

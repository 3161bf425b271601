"""All runs of a log: names of their own, and copies found point by point."""

from __future__ import annotations

import json

import numpy as np
import pytest

from stethoscope.errors import UnreadableFile
from stethoscope.logs.as_curve import curve_of
from stethoscope.logs.series import RunLog, Series
from stethoscope.tasks.examine_runs import Copies, gather_runs


def run(name, loss, **more):
    columns = {"loss": loss, **more}
    series = {
        tag: Series(tag, np.arange(len(values)), np.full(len(values), np.nan), np.array(values, np.float64))
        for tag, values in columns.items()
    }
    return RunLog(name, "test", "epoch", series)


def shared(*runs):
    copies = Copies()
    return [copies.add(one, curve_of(one)) for one in runs]


FALLING = [1 / (1 + at) for at in range(20)]


def test_a_copy_points_to_the_earlier_run():
    first, second, third = shared(run("a", FALLING), run("b", FALLING), run("c", [value + 1e-12 for value in FALLING]))
    assert first == third == ()
    assert (second[0].other, second[0].whole, second[0].points) == ("a", True, 20)


def test_every_loss_and_metric_must_agree():
    other = [value / 2 for value in FALLING]
    _, second = shared(run("a", FALLING, val_loss=FALLING), run("b", FALLING, val_loss=other))
    assert second == ()


def test_equal_learning_rates_and_constant_curves_are_no_copies():
    flat = [0.5] * 20
    _, second = shared(run("a", flat, lr=FALLING), run("b", flat, lr=FALLING))
    assert second == ()


def test_a_run_that_goes_on_where_another_ends():
    _, second = shared(run("a", FALLING[:8]), run("b", FALLING))
    assert (second[0].whole, second[0].points) == (False, 8)


def test_nan_in_both_is_equal():
    broken = [*FALLING[:6], float("nan"), float("nan")]
    _, second = shared(run("a", broken), run("b", broken))
    assert second[0].whole


def test_runs_of_several_trackers_have_names_of_their_own(tmp_path):
    (tmp_path / "one.json").write_text(json.dumps({"loss": FALLING}))
    (tmp_path / "two.csv").write_text("epoch,loss\n0,1\n1,0.5\n")
    assert {one.run for one in gather_runs(tmp_path)} == {"one.json", "two.csv"}


def test_nothing_to_read_is_said(tmp_path):
    with pytest.raises(UnreadableFile, match="expected training logs"):
        gather_runs(tmp_path, "empty")

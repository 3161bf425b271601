"""Runs beside each other: which is best, what differs, and the table as CSV."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest

from stethoscope.logs.runs.compare import MOST_NAMES, Comparison, as_csv, metric_in, metric_of, short_names, take_runs
from stethoscope.logs.series import RunLog, Series
from tests.logs.runs.made_table import table_of


def series(*values, tag="loss", steps=None):
    step = np.arange(len(values)) if steps is None else np.array(steps)
    return Series(tag, step.astype(np.int64), step.astype(np.float64), np.array(values, np.float64))


def test_best_and_last_of_each_run():
    found = metric_of("loss", [series(3, 1, 2), None, series(math.nan, math.inf), series(2, 1, math.nan)], False)
    assert found.points.tolist() == [3, 0, 2, 3]
    np.testing.assert_array_equal(found.best, [1, math.nan, math.nan, 1])
    np.testing.assert_array_equal(found.last, [2, math.nan, math.inf, math.nan])
    assert (found.best_step[0], found.nonfinite.tolist()) == (1, [0, 0, 2, 1])
    assert found.winner == 0
    assert found.order().tolist() == [0, 3, 2, 1]  # never finite is worse than any value; without the metric is last
    assert found.median_best() == 1


def test_higher_may_be_better():
    found = metric_of("accuracy", [series(0.1, 0.9, 0.5), series(0.2, -math.inf, 0.95)], True)
    assert (found.best.tolist(), found.best_step.tolist(), found.winner) == ([0.9, 0.95], [1, 2], 1)


def test_what_a_restart_overwrote_does_not_count():
    (best,) = metric_of("loss", [series(5, 0.1, 4, 3, steps=[0, 1, 1, 2])], False).best.tolist()
    assert best == 3


def test_no_run_and_no_finite_value_have_no_winner():
    assert metric_of("loss", [], False).winner is None
    assert metric_of("loss", [series(math.nan)], False).winner is None


def test_parameters_in_which_runs_differ():
    compared = Comparison.of(
        [
            {"run": "a", "parameters": {"lr": 1, "seed": 0, "opt": "adam"}, "notes": {"status": "FINISHED"}},
            {"run": "b", "group": "g", "parameters": {"lr": 1.0, "seed": 0}, "unit": "epoch"},
        ]
    )
    assert compared.varying == ("lr", "opt")
    assert compared.notes == {"status": ("FINISHED", "")}
    assert compared.take([1]).parameters["opt"] == (None,)
    assert (compared.groups, compared.units) == (("", "g"), ("step", "epoch"))


def test_numbers_that_json_knows_by_name_are_numbers_again():
    compared = Comparison.of(
        [{"run": "a", "parameters": {"clip": "inf", "x": "nan"}}, {"run": "b", "parameters": {"clip": 1}}]
    )
    assert compared.parameters == {"clip": (math.inf, 1), "x": ("nan", None)}


def test_parameters_without_end_are_bounded():
    runs = [
        {"run": str(place), "parameters": {f"p{place}-{one}": one for one in range(300)} | {"lr": place}}
        for place in range(10)
    ]
    compared = Comparison.of(runs)
    assert len(compared.parameters) == MOST_NAMES
    assert compared.left_out == 3001 - MOST_NAMES
    assert compared.parameters["lr"] == tuple(range(10))


def test_short_names_stay_apart():
    assert short_names(["params.yaml:train.lr", "params.yaml:data.size"]) == {
        "params.yaml:train.lr": "lr",
        "params.yaml:data.size": "size",
    }
    assert short_names(["a.lr", "b.lr", "layers.0"]) == {"a.lr": "a.lr", "b.lr": "b.lr", "layers.0": "layers.0"}


def test_csv_has_every_value_and_no_formula():
    compared = Comparison.of([{"run": "=1+1", "parameters": {"lr": 0.1, "@x": "-y"}}, {"run": "b"}, {"run": "c"}])
    metric = metric_of("loss", [series(2.5, -1.5), None, series(math.nan)], False)
    rows = list(csv.reader(io.StringIO(as_csv(compared, ["lr", "@x"], [metric], [2, 0, 1]))))
    assert rows[0] == ["run", "group", "lr", "'@x", "last loss", "best loss", "best step of loss"]
    assert rows[1] == ["c", "", "", "", "nan", "", ""]
    assert rows[2] == ["'=1+1", "", "0.1", "'-y", "-1.5", "-1.5", "1"]
    assert rows[3] == ["b", "", "", "", "", "", ""]


@pytest.fixture
def table(tmp_path):
    """Three runs as a worker writes them; the second lacks the loss."""
    logs = [
        RunLog("a", "t", "step", {"loss": series(3, 1, 2)}),
        RunLog("b", "t", "step", {"acc": series(0.5, tag="acc")}),
        RunLog("c", "t", "step", {"loss": series(0.5, math.nan), "acc": series(0.1, 0.7, 0.3, tag="acc")}),
    ]
    return table_of(tmp_path, logs)


def test_a_metric_out_of_a_table_of_runs(table):
    loss = metric_in(table, "loss", False)
    assert loss.points.tolist() == [3, 0, 2]
    assert (loss.winner, loss.best_step[0]) == (2, 1)
    acc = metric_in(table, "acc", True)
    assert acc.best[[1, 2]].tolist() == [0.5, 0.7]
    assert take_runs(acc, [2]).best.tolist() == [0.7]
    with pytest.raises(KeyError):
        metric_in(table, "none", False)

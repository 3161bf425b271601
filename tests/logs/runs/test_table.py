"""Columns as a worker leaves them, opened by the server that trusts nothing about them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from stethoscope.errors import StethoscopeError
from stethoscope.logs.runs.columns import INDEX
from stethoscope.logs.runs.table import RunTable
from tests.logs.runs.logs import files, table_of
from tests.tables import each

NAN, INF = math.nan, math.inf


def test_points_and_summaries_of_every_run(tmp_path):
    table = table_of(
        tmp_path / "out",
        {
            "a/1": {"loss": [3.0, 1.0, 2.0], "accuracy": ([5, 6], [0.5, 0.75])},
            "a/2": {"loss": [NAN, 4.0, INF, -INF, 2.0, 5.0]},
            "b": {"accuracy": [NAN]},
        },
    )
    assert table.tags == ("accuracy", "loss")
    assert table.points == 12
    losses = table.summary(table.tag_number("loss"))
    assert [(one["run"], one["points"], one["best_value"], one["best_step"], one["last_value"]) for one in losses] == [
        (0, 3, 1.0, 1, 2.0),
        (1, 6, 2.0, 4, 5.0),
    ]
    assert losses[1]["nonfinite"] == 3
    accuracies = table.summary(0)
    assert (accuracies[0]["best_value"], accuracies[0]["best_step"]) == (0.75, 6)
    assert math.isnan(accuracies[1]["best_value"])
    assert table.series(0, "accuracy").step.tolist() == [5, 6]
    with pytest.raises(KeyError):
        table.series(2, "loss")


def test_the_index_says_what_there_is(tmp_path):
    table = table_of(tmp_path / "out", {"a/1": {"loss": [1.0, 2.0]}, "b": {"accuracy": [1.0], "loss": [2.0]}})
    index = table.index()
    assert [run["tags"] for run in index["runs"]] == [[1], [0, 1]]
    assert index["tags"] == [
        {"tag": "accuracy", "runs": 1, "points": 1, "low_is_best": False, "score": True},
        {"tag": "loss", "runs": 2, "points": 3, "low_is_best": True, "score": True},
    ]
    assert (index["runs"][0]["first_wall"], index["runs"][0]["last_wall"]) == (1e9, 1e9 + 10)
    assert index["runs"][0]["group"] == "a"
    json.dumps(index, allow_nan=False)


def test_a_log_without_times_has_none(tmp_path):
    table = table_of(tmp_path / "out", {"a": {"loss": ([0, 1], [1.0, 2.0], [NAN, NAN])}})
    run = table.index()["runs"][0]
    assert (run["first_wall"], run["last_wall"]) == (None, None)


def _damage_index(folder, change):
    index = json.loads((folder / INDEX).read_text())
    change(index)
    (folder / INDEX).write_text(json.dumps(index))


DAMAGES = {
    "objects": lambda folder: np.save(folder / "value.npy", np.array([{}, 1], object), allow_pickle=True),
    "another type": lambda folder: np.save(folder / "value.npy", np.zeros(4, np.float32)),
    "too short": lambda folder: np.save(folder / "value.npy", np.zeros(3)),
    "all too short": lambda folder: [
        np.save(folder / f"{name}.npy", np.zeros(3, kind))
        for name, kind in (("value", "f8"), ("step", "i8"), ("wall_time", "f8"))
    ],
    "two dimensions": lambda folder: np.save(folder / "step.npy", np.zeros((2, 2), np.int64)),
    "a row beyond": lambda folder: np.save(folder / "series.npy", np.full((2, 11), 3, np.int64)),
    "a negative row": lambda folder: np.save(folder / "series.npy", np.full((2, 11), -1, np.int64)),
    "a huge row": lambda folder: np.save(folder / "series.npy", np.array([[0, 0, 1 << 62, 1 << 62, *[0] * 7]] * 2)),
    "no row of numbers": lambda folder: np.save(folder / "numbers.npy", np.zeros((1, 5))),
    "missing": lambda folder: (folder / "step.npy").unlink(),
    "no array": lambda folder: (folder / "step.npy").write_bytes(b"\x93NUMPY\x01"),
    "a link": lambda folder: ((folder / "step.npy").unlink(), (folder / "step.npy").symlink_to(folder / "value.npy")),
    "no index": lambda folder: (folder / INDEX).write_text("[]"),
    "another version": lambda folder: _damage_index(folder, lambda index: index.update(version=99)),
    "a source of no run": lambda folder: _damage_index(folder, lambda index: index["sources"][0].__setitem__(1, 7)),
    "runs that are none": lambda folder: _damage_index(folder, lambda index: index.update(runs=[3, 4])),
    "no tags": lambda folder: _damage_index(folder, lambda index: index.update(tags=[])),
}


@each("damage", DAMAGES)
def test_columns_that_do_not_fit_are_refused(tmp_path, damage):
    folder = tmp_path / "out"
    table_of(folder, {"a": {"loss": [1.0, 2.0]}, "b": {"loss": [3.0, 4.0]}})
    DAMAGES[damage](folder)
    with pytest.raises(StethoscopeError, match="logs again"):
        RunTable.open(files(folder))

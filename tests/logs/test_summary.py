"""Tags in one line, and all points as a table that reads back equal."""

from __future__ import annotations

import csv
import io
import math
import re

import numpy as np

from stethoscope.logs.points_csv import write_points
from stethoscope.logs.series import RunLog, Series
from stethoscope.logs.summary import summary_of


def series(tag, values, steps=None):
    step = np.array(range(len(values)) if steps is None else steps, np.int64)
    return Series(tag, step, np.full(len(step), np.nan), np.array(values, np.float64))


def test_the_best_is_the_lowest_loss_and_the_highest_accuracy():
    loss, accuracy = summary_of(series("loss", [3, 1, 2])), summary_of(series("accuracy", [0.1, 0.9, 0.5]))
    assert (loss.best_value, loss.best_step, loss.last_value) == (1.0, 1, 2.0)
    assert (accuracy.best_value, accuracy.best_step, accuracy.best) == (0.9, 1, "max")


def test_what_a_restart_overwrote_does_not_count():
    found = summary_of(series("loss", [5, 0.1, 4, 3, 2], [0, 1, 1, 2, 3]))
    assert (found.points, found.written, found.best_value, found.first_step, found.last_step) == (4, 5, 2.0, 0, 3)


def test_no_number_is_never_the_best():
    found = summary_of(series("loss", [math.nan, 2, -math.inf]))
    assert (found.best_value, found.nonfinite) == (2.0, 2)
    assert summary_of(series("loss", [math.nan])).best_value is None


def test_every_point_is_written_and_reads_back_equal():
    values = [0.1, 1 / 3, math.nan, math.inf, -0.0, 5e-324]
    one = series('loss, "train"', values)
    stream = io.StringIO()
    assert write_points([RunLog("a", "test", "epoch", {one.tag: one})], stream) == 6
    rows = list(csv.reader(io.StringIO(stream.getvalue())))
    assert rows[0] == ["run", "tag", "step", "wall_time", "value"]
    assert {row[1] for row in rows[1:]} == {one.tag}
    read = np.array([float(row[4]) for row in rows[1:]])
    assert read.tobytes() == np.array(values).tobytes()


def test_only_chosen_tags_are_written():
    log = RunLog("a", "test", "epoch", {tag: series(tag, [1, 2]) for tag in ("loss", "accuracy")})
    assert write_points([log], io.StringIO(), re.compile("acc")) == 2

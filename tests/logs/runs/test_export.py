"""Points to take away, equal to the bit."""

from __future__ import annotations

import csv
import io
import math

import pyarrow.parquet as pq

from stethoscope.logs.runs.export import export
from tests.logs.runs.logs import table_of

LOG = {
    "a/1": {"loss": [0.1, math.nan, math.inf], "accuracy": ([7], [1 / 3])},
    'b, with "quotes"': {"loss": ([-(1 << 62)], [5e-324], [math.nan])},
}


def test_csv(tmp_path):
    content = b"".join(export(table_of(tmp_path / "out", LOG), "csv")).decode()
    rows = list(csv.reader(io.StringIO(content)))
    assert rows[0] == ["run", "tag", "step", "wall_time", "value"]
    assert [row[:3] for row in rows[1:]] == [
        ["a/1", "accuracy", "7"],
        ["a/1", "loss", "0"],
        ["a/1", "loss", "1"],
        ["a/1", "loss", "2"],
        ['b, with "quotes"', "loss", str(-(1 << 62))],
    ]
    values = [float(row[4]) for row in rows[1:]]
    assert (values[0], values[1], values[3], values[4]) == (1 / 3, 0.1, math.inf, 5e-324)
    assert math.isnan(values[2])
    assert rows[5][3] == "", "a time that was not logged"


def test_parquet_of_some_tags_and_runs(tmp_path):
    table = table_of(tmp_path / "out", LOG)
    content = b"".join(export(table, "parquet", [table.tag_number("loss")], [0]))
    found = pq.read_table(io.BytesIO(content))
    assert found.column_names == ["run", "tag", "step", "wall_time", "value"]
    assert found["run"].to_pylist() == ["a/1"] * 3
    assert found["value"].to_pylist()[0] == 0.1
    assert len(b"".join(export(table, "parquet", [], []))) > 0

"""Columns in memory as one side of a comparison, without a file."""

from __future__ import annotations

import numpy as np

from stethoscope.drift.field_columns import Field
from stethoscope.drift.reading import Side
from stethoscope.drift.report import DriftReport
from stethoscope.drift.settings import DriftSettings
from stethoscope.drift.study import study


def side(name: str = "rows", **columns) -> Side:
    fields = {}
    for column, values in columns.items():
        array = np.asarray(values)
        if array.dtype.kind in "fiub":
            fields[column] = Field(column, "number", "input", numbers={"": array.astype(float)})
        else:
            fields[column] = Field(column, "category", "input", words=array.astype(object))
    rows = len(next(iter(columns.values())))
    return Side(name, fields, rows, rows, np.arange(rows), (), 0, ())


def compared(reference: Side, current: Side | None, **settings) -> DriftReport:
    asked = DriftSettings.from_json({"subgroups": False, **settings})
    return study(reference, current, asked, lambda *_: None)

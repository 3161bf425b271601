"""Rows of single values as one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stethoscope.data.dataset import DataAbout, DataField, Sample

MOST_COLUMNS = 60
"""Columns that are shown; a row shown alone has all of them."""
_CELL = 200
_SINGLE = ("number", "category", "text")


def is_table(about: DataAbout) -> bool:
    """Whether rows are best shown as a table: single values only, and more than a text with its label."""
    single = bool(about.fields) and all(one.shape in ((), (1,)) and one.kind in _SINGLE for one in about.fields)
    texts = sum(one.kind == "text" and one.role == "input" for one in about.fields)
    return single and (texts == 0 or len(about.fields) > 3)


def table_of(about: DataAbout, samples: Sequence[Sample]) -> dict[str, Any]:
    """The rows as JSON: {"columns": [{"name", "kind", "role", "unit"}], "columns_total", "rows", "problems"}.

    A cell is a number, a text or null; NaN and infinities come by name. `problems` are [place, sentence].
    """
    fields = about.fields[:MOST_COLUMNS]
    return {
        "columns": [{"name": one.name, "kind": one.kind, "role": one.role, "unit": one.unit} for one in fields],
        "columns_total": len(about.fields),
        "rows": [[_cell(sample, one) for one in fields] for sample in samples],
        "problems": [[sample.place, problem] for sample in samples for problem in sample.problems],
    }


def _cell(sample: Sample, one: DataField) -> Any:
    value = sample.values.get(one.name)
    if value is None or not value.size:
        return None
    item = value.reshape(-1)[0]
    if value.dtype.kind in "OSU":
        return (item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item))[:_CELL]
    plain = item.item()
    if isinstance(plain, complex) or (isinstance(plain, float) and not np.isfinite(plain)):
        return str(plain)
    return plain

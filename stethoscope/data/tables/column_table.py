"""A table whose columns are in memory: what JSON and lines of text become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stethoscope.data.dataset import DataAbout
from stethoscope.data.problem_list import ProblemList
from stethoscope.data.tables.field_rows import Column, FieldRows
from stethoscope.data.tables.table_fields import table_fields


class ColumnTable(FieldRows):
    """Columns of equal length."""

    def __init__(
        self,
        reader_id: str,
        title: str,
        subject: str,
        columns: Mapping[str, Column],
        options: Mapping[str, Any],
        problems: ProblemList,
        *,
        notes: Sequence[str] = (),
        exact: bool = True,
        details: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Decides what the columns are; see `table_fields`.

        Raises:
            BadSetting: options["target"] names no column.
        """
        self._columns = dict(columns)
        made = table_fields(subject, self._columns, options, details)
        rows = len(next(iter(self._columns.values()), ()))
        self.about = DataAbout(
            reader_id, title, rows, exact, made.fields, made.classes, self._splits(made.fields), problems.kept,
            problems.count, (*made.notes, *notes),
        )  # fmt: skip

    def columns(self, start: int, stop: int, names: Sequence[str] | None = None) -> Mapping[str, Column]:
        """See `Dataset.columns`."""
        return {name: column[start:stop] for name, column in self._columns.items() if names is None or name in names}

    def _splits(self, fields: Sequence[Any]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for field in fields:
            column = self._columns[field.name]
            if field.role == "split" and isinstance(column, np.ndarray):
                found |= dict.fromkeys(str(value) for value in np.unique(column)[:20])
        return tuple(found)

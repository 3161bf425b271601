"""Rows of single values as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from stethoscope.data.dataset import DataAbout, DataField, FieldKind, Role, Sample

MOST_COLUMNS = 60
"""Columns that are shown; a row shown alone has all of them."""
_CELL = 200
_SINGLE = ("number", "category", "text")

Cell: TypeAlias = bool | int | float | str | None
"""A number, a text or nothing; complex numbers, NaN and infinities by name."""


@dataclass(frozen=True)
class TableColumn:
    """One column; its name is hostile."""

    name: str
    kind: FieldKind
    role: Role
    unit: str


@dataclass(frozen=True)
class RowTable:
    """Rows of single values."""

    columns: tuple[TableColumn, ...]
    columns_total: int
    """`columns` may be fewer."""
    rows: tuple[tuple[Cell, ...], ...]
    problems: tuple[tuple[int, str], ...]
    """Places of rows, and a sentence each."""


def is_table(about: DataAbout) -> bool:
    """Whether rows are best shown as a table: single values only, and more than a text with its label."""
    single = bool(about.fields) and all(one.shape in ((), (1,)) and one.kind in _SINGLE for one in about.fields)
    texts = sum(one.kind == "text" and one.role == "input" for one in about.fields)
    return single and (texts == 0 or len(about.fields) > 3)


def table_of(about: DataAbout, samples: Sequence[Sample]) -> RowTable:
    """The rows, with the first `MOST_COLUMNS` of their columns."""
    fields = about.fields[:MOST_COLUMNS]
    return RowTable(
        columns=tuple(TableColumn(one.name, one.kind, one.role, one.unit) for one in fields),
        columns_total=len(about.fields),
        rows=tuple(tuple(_cell(sample, one) for one in fields) for sample in samples),
        problems=tuple((sample.place, problem) for sample in samples for problem in sample.problems),
    )


def _cell(sample: Sample, one: DataField) -> Cell:
    value = sample.values.get(one.name)
    if value is None or not value.size:
        return None
    item = value.reshape(-1)[0]
    if value.dtype.kind in "OSU":
        return (item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item))[:_CELL]
    plain: Cell | complex = item.item()
    if isinstance(plain, complex) or (isinstance(plain, float) and not np.isfinite(plain)):
        return str(plain)
    return plain

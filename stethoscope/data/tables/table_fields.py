"""What the columns of a table are: kinds, the column to be foretold, and those that are none of a model's business.

A table whose columns are in memory: what JSON and lines of text become.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import dataset
from stethoscope.data.dataset import DataAbout, DataField, FieldKind, Role
from stethoscope.data.survey import ProblemList
from stethoscope.data.tables.field_rows import Column, FieldRows, one_hot_details
from stethoscope.data.tables.table_guesses import is_classes, kind_of, role_of
from stethoscope.errors import BadSetting

_TARGET_NAMES = ("target", "label", "labels", "class", "y", "class_label", "category", "outcome", "output", "response")
_ID_NAME = re.compile(r"(?:unnamed: ?0|column 1|index|idx|row|row_?id|record_?id|id|uuid|guid)", re.I)
_FEW = 50
"""Different words up to which a column of text is one of categories."""
_LONG = 60
"""Characters of a category's longest name; longer text is text."""
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d{1,2}:\d{2}.*)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?: .*)?")
_FEW_VALUES = 20
"""Different numbers up to which a last column of whole numbers is taken for a class."""


@dataclass(frozen=True)
class TableFields:
    """The columns as fields, the classes of the target, and what was assumed."""

    fields: tuple[DataField, ...]
    classes: tuple[str, ...]
    notes: tuple[str, ...]


def table_fields(
    subject: str,
    columns: Mapping[str, Any],
    options: Mapping[str, Any],
    details: Mapping[str, Mapping[str, Any]] | None = None,
) -> TableFields:
    """Decides what each column is.

    Args:
        subject: for error texts.
        columns: of the rows looked at, an array with the rows first, or a list of rows of several shapes.
        options: {"target": a column, "none", or nothing to have it guessed}.
        details: of columns whose kind is known already, {"kind": …, further details}.

    Raises:
        BadSetting: options["target"] names no column.
    """
    known = details or {}
    asked = str(options.get("target") or "")
    if asked not in ("", "none") and asked not in columns:
        names = ", ".join(list(columns)[:20])
        raise BadSetting(f"Target {asked!r}: expected a column of {subject} ({names}), or none. Choose one.")
    target, why = (asked, "") if asked else _guessed(columns)
    notes = [why] if why else []
    fields = []
    for name, values in columns.items():
        role: Role = "target" if name == target else _role(name, values)
        fields.append(_field(name, values, role, dict(known.get(name, {}))))
    aside = [field.name for field in fields if field.role == "input" and field.kind in ("category", "text")]
    if aside and any(field.role == "input" and field.kind == "number" for field in fields):
        shown = ", ".join(repr(name) for name in aside[:5]) + (" …" if len(aside) > 5 else "")
        notes.append(f"Columns of text are not part of the matrix x: {shown}.")
    return TableFields(tuple(fields), _classes(columns.get(target), fields), tuple(notes))


def classes_of(values: npt.NDArray[Any]) -> tuple[str, ...]:
    """The different words of a target, sorted; () for numbers."""
    if values.dtype.kind == "b":
        return ("False", "True")
    if values.dtype.kind not in "USO":
        return ()
    different = sorted({str(value) for value in values.reshape(-1) if value is not None and str(value)})
    return tuple(different[: dataset.MAX_CLASSES])


def _classes(values: Any, fields: Sequence[DataField]) -> tuple[str, ...]:
    target = next((field for field in fields if field.role == "target"), None)
    if target is None or target.kind != "category" or not isinstance(values, np.ndarray):
        return ()
    return classes_of(values)


def _guessed(columns: Mapping[str, Any]) -> tuple[str, str]:
    """The column to be foretold and why; ("", "") where none offers itself."""
    by_name = {name.strip().lower(): name for name in columns}
    for word in _TARGET_NAMES:
        if word in by_name and _single(columns[by_name[word]]):
            return by_name[word], f"{by_name[word]!r} is taken as the target, by its name; another one can be chosen."
    words = [name for name, values in columns.items() if _single(values) and values.dtype.kind in "USO"]
    categories = [name for name in words if _is_category(columns[name]) and _role(name, columns[name]) == "input"]
    if len(words) == 2 and len(columns) == 2 and len(categories) == 1:
        return categories[
            0
        ], f"{categories[0]!r} is taken as the target: few values beside text; another one can be chosen."
    last = next(reversed(list(columns)), "")
    values: Any = columns.get(last)
    if len(columns) < 2 or not _single(values) or _role(last, values) != "input":
        return "", ""
    few = _is_category(values) or (
        values.dtype.kind in "iub"
        and is_classes(values)
        and len(np.unique(values)) <= min(_FEW_VALUES, len(values) // 2)
    )
    return (
        (last, f"{last!r} is taken as the target: the last column, of few values; another one can be chosen.")
        if few
        else ("", "")
    )


def _single(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == 1


def _role(name: str, values: Any) -> Role:
    said = role_of(name)
    if said in ("split", "other"):
        return said
    if _ID_NAME.fullmatch(name.strip()) and _single(values) and values.dtype.kind in "iuU" and len(values) > 1:
        # A first column without a name is one of row numbers only where it counts up.
        counts_up = values.dtype.kind in "iu" and bool((np.diff(values.astype(np.int64)) == 1).all())
        if counts_up or (name.lower() != "column 1" and len(np.unique(values)) == len(values)):
            return "other"
    return "input"


def _field(name: str, values: Any, role: Role, details: dict[str, Any]) -> DataField:
    kind: FieldKind | None = details.pop("kind", None)
    if not isinstance(values, np.ndarray):
        rows = [row for row in values if row is not None]
        shapes = {row.shape for row in rows}
        rank = {len(shape) for shape in shapes}
        shape = (None,) * rank.pop() if len(rank) == 1 else None
        first = rows[0] if rows else np.zeros(0)
        if kind is None:
            kind = _ragged(name, rows, role)
        return DataField(name, kind, _dtype(first), shape, role, details=details)
    if kind is None:
        kind = _kind(name, values, role)
        if kind in ("text", "category") and role == "input" and _dates(values):
            details["looks_like"] = "date"
    details |= one_hot_details(role, values)
    return DataField(name, kind, _dtype(values), values.shape[1:], role, details=details)


def _kind(name: str, values: npt.NDArray[Any], role: Role) -> FieldKind:
    if values.ndim == 1 and values.dtype.kind in "USO":
        return "category" if _is_category(values) or role == "target" else "text"
    if values.ndim == 1 and values.dtype.kind == "b":
        return "category" if role == "target" else "number"
    return kind_of(name, values.shape[1:], values, role)


def _ragged(name: str, rows: Sequence[npt.NDArray[Any]], role: Role) -> FieldKind:
    if not rows or any(row.ndim != 1 for row in rows[:50]):
        return "sequence" if rows and all(row.ndim == 2 for row in rows[:50]) else "array"
    joined = np.concatenate([row for row in rows[:200] if row.size] or [np.zeros(0)])
    if joined.dtype.kind in "iu" and role == "input" and joined.size and int(joined.min()) >= 0:
        return "tokens"
    return "sequence" if joined.dtype.kind in "fiu" and role == "input" else "array"


def _is_category(values: npt.NDArray[Any]) -> bool:
    if values.dtype.kind not in "USO" or not len(values):
        return False
    different = {str(value) for value in values}
    if max(map(len, different)) > _LONG:
        return False
    return len(different) <= min(_FEW, max(2, len(values) // 3)) or len(different) <= len(values) // 50


def _dates(values: npt.NDArray[Any]) -> bool:
    some = [str(value) for value in values[:50] if str(value)]
    return bool(some) and all(_DATE.fullmatch(value) for value in some)


def _dtype(values: npt.NDArray[Any]) -> str:
    return "string" if values.dtype.kind in "USO" else values.dtype.name


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
            reader_id,
            title,
            rows,
            exact,
            made.fields,
            made.classes,
            self._splits(made.fields),
            problems.kept,
            problems.count,
            (*made.notes, *notes),
        )

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

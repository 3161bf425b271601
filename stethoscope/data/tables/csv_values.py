"""Cells of text as numbers or words: what a column holds is decided once, and single cells that differ are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.tables.csv_dialect import MISSING, NUMBER
from stethoscope.data.tables.field_rows import text_array

if TYPE_CHECKING:
    import pyarrow

_SURE_FRACTION = 0.95
"""Share of the cells that must be numbers for the others to count as mistakes."""
_MOST_BAD = 1_000
_YES_NO = {"true", "false"}


@dataclass(frozen=True)
class Reading:
    """How the cells of one column are read."""

    dtype: str
    """int64, float64, bool or "string"."""
    decimal: str = "."
    bad_cells: tuple[tuple[int, str], ...] = ()
    """(row, cell) of the first cells of a column of numbers that are none."""

    def values(self, text: pyarrow.ChunkedArray) -> npt.NDArray[Any]:
        """The cells of some rows; shape (rows,)."""
        if self.dtype == "string":
            return words_of(text)
        if self.dtype == "bool":
            return np.array([str(cell).strip().lower() == "true" for cell in text.to_pylist()], dtype=bool)
        numbers = as_numbers(text, self.decimal)
        # Rows read later may lack a number that those looked at had.
        return numbers.astype(np.int64) if self.dtype == "int64" and _all_whole(numbers) else numbers


def reading_of(text: pyarrow.ChunkedArray, decimal: str) -> Reading:
    """Decides what a column holds, by all cells given."""
    import pyarrow.compute as pc

    if len(text) == 0:
        return Reading("string")
    present = pc.invert(pc.is_in(text, value_set=_missing_set()))
    count = int(pc.sum(present).as_py() or 0)
    if count == 0:
        return Reading("float64", decimal)
    numbers = as_numbers(text, decimal)
    bad = np.flatnonzero(np.isnan(numbers) & _numpy(present))
    if len(bad) == 0:
        # Whole numbers beyond 2**53 are ids, which a float would change.
        whole = count == len(text) and _all_whole(numbers) and bool((np.abs(numbers) < 2**53).all())
        return Reading("int64" if whole else "float64", decimal)
    if len(bad) <= min(_MOST_BAD, (1 - _SURE_FRACTION) * count):
        return Reading("float64", decimal, tuple((int(row), str(text[int(row)].as_py())) for row in bad[:50]))
    if count == len(text) and len(text) > 1:
        words = {str(word).strip().lower() for word in pc.unique(text).slice(0, 8).to_pylist()}
        if words == _YES_NO:
            return Reading("bool")
    return Reading("string")


def as_numbers(text: pyarrow.ChunkedArray, decimal: str) -> npt.NDArray[np.float64]:
    """float64 of each cell, NaN where there is none; shape (rows,)."""
    import pyarrow
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(text)
    if decimal == ",":
        trimmed = pc.replace_substring(pc.replace_substring(trimmed, ".", ""), ",", ".")
    present = pc.invert(pc.is_in(trimmed, value_set=_missing_set()))
    cells = pc.if_else(present, trimmed, pyarrow.scalar(None, pyarrow.string()))
    try:
        return _float(pc.cast(cells, pyarrow.float64()))
    except pyarrow.ArrowInvalid:
        fits = pc.match_substring_regex(cells, f"^(?i:{NUMBER.pattern})$")
        return _float(
            pc.cast(pc.if_else(fits, _plain(cells), pyarrow.scalar(None, pyarrow.string())), pyarrow.float64())
        )


def words_of(text: pyarrow.ChunkedArray) -> npt.NDArray[Any]:
    """The cells as text, surrounding blanks and marks of missing cells left out; shape (rows,)."""
    missing = set(MISSING)
    return text_array(["" if cell in missing else cell for cell in (str(cell).strip() for cell in text.to_pylist())])


def _plain(cells: Any) -> Any:
    """A leading plus, which pyarrow does not read, left out."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(cells, pattern=r"^\+", replacement="")


def _float(array: Any) -> npt.NDArray[np.float64]:
    numbers: npt.NDArray[np.float64] = array.to_numpy(zero_copy_only=False).astype(np.float64)
    return numbers


def _numpy(array: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=bool)


def _all_whole(numbers: npt.NDArray[np.float64]) -> bool:
    return bool(np.isfinite(numbers).all()) and bool((numbers == np.floor(numbers)).all())


def _missing_set() -> Any:
    import pyarrow

    return pyarrow.array(list(MISSING), pyarrow.string())

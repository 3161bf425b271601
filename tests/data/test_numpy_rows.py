"""Rows of a .npy are those that NumPy reads, wherever they are asked for; what cannot be read gives a sentence."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from stethoscope.data.streams.numpy_rows import ArrayRows, read_header
from stethoscope.errors import TooLarge, UnreadableFile, UnsafeFile
from tests.tables import each

BUDGET = 1 << 20


def saved(values: Any, version: tuple[int, int] | None = None) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(values), version=version)
    return stream.getvalue()


def opened(content: bytes, budget: int = BUDGET) -> ArrayRows:
    return ArrayRows("a.npy", io.BytesIO(content), len(content), budget)


ARRAYS = {
    "rows": np.arange(600, dtype="float32").reshape(200, 3),
    "big-endian": np.arange(600, dtype=">i4").reshape(200, 3),
    "by columns": np.asfortranarray(np.arange(600.0).reshape(200, 3)),
    "big-endian by columns": np.asfortranarray(np.arange(600, dtype=">f8").reshape(200, 3)),
    "one axis": np.arange(200, dtype="uint8"),
    "words": np.array([f"w{at}" for at in range(200)]),
}


@each("version", [(1, 0), (2, 0), (3, 0)])
@each("name", ARRAYS)
def test_rows_are_those_that_numpy_holds(name: str, version: tuple[int, int]) -> None:
    array = ARRAYS[name]
    rows = opened(saved(array, version))
    assert rows.rows == len(array)
    np.testing.assert_array_equal(rows.between(7, 30), array[7:30])
    np.testing.assert_array_equal(rows.between(-5, 1000), array)
    assert rows.between(30, 7).shape == (0, *array.shape[1:])
    np.testing.assert_array_equal(rows.all(), array)
    assert rows.all() is rows.all()
    assert rows.between(0, 2).dtype.isnative and rows.all().dtype.isnative


@each("places", [[0], [199, 0, 0], [5, 6, 7, 100], [1, 4, 9, 13, 180, 500, -1], []])
@each("name", ARRAYS)
def test_single_rows_are_found_at_their_places(name: str, places: Sequence[int]) -> None:
    found = opened(saved(ARRAYS[name])).at(places)
    assert list(found) == sorted({place for place in places if 0 <= place < 200})
    for place, row in found.items():
        np.testing.assert_array_equal(row, ARRAYS[name][place])


def test_a_single_number_is_one_row() -> None:
    rows = opened(saved(np.float64(2.5)))
    assert (rows.rows, float(rows.all())) == (1, 2.5)


def test_rows_before_a_cut_are_read_and_the_others_counted() -> None:
    array = ARRAYS["rows"]
    rows = opened(saved(array)[: -5 * 12 - 1])
    assert (rows.rows, rows.missing_rows) == (194, 6)
    np.testing.assert_array_equal(rows.between(190, 200), array[190:194])
    with pytest.raises(UnreadableFile, match=r"200 rows.*194"):
        rows.all()


@each("name", ["by columns"])
def test_an_array_by_columns_is_not_read_from_a_part(name: str) -> None:
    with pytest.raises(UnreadableFile, match="the file holds"):
        opened(saved(ARRAYS[name])[:-8])


def test_what_takes_more_than_the_budget_is_refused() -> None:
    content = saved(ARRAYS["rows"])
    rows = opened(content, 240)
    assert rows.between(0, 20).shape == (20, 3)
    for ask in (lambda: rows.between(0, 21), rows.all):
        with pytest.raises(TooLarge, match="the limit is 240"):
            ask()
    with pytest.raises(TooLarge, match="declares 2,400 bytes"):
        opened(content[:130], 240)


def test_a_stream_that_ends_early_is_damage() -> None:
    content = saved(ARRAYS["rows"])
    rows = ArrayRows("a.npy", io.BytesIO(content[:-8]), len(content), BUDGET)
    with pytest.raises(UnreadableFile, match="ends early"):
        rows.between(190, 200)


def header(descr: str, shape: str = "(3,)", extra: str = "") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}{extra}}}".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@each(
    ("head", "error", "says"),
    [
        (b"PK\x03\x04" + bytes(20), UnreadableFile, "expected a NumPy array"),
        (b"\x93NUMPY\x01\x00", UnreadableFile, "expected a NumPy array"),
        (header("'<f4'")[:-4], UnreadableFile, "header is damaged"),
        (header("open('x')"), UnreadableFile, "header is damaged"),
        (header("'<f4'", "(-1,)"), UnreadableFile, "numbers or text"),
        (header("[('a', '<f4')]"), UnreadableFile, "numbers or text"),
        (header("'|O'"), UnsafeFile, "only pickle"),
        (header("'<f3'"), UnreadableFile, "does not exist"),
    ],
)
def test_headers_that_say_no_plain_array_are_refused(head: bytes, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        read_header("a.npy", head)

"""Columns of Arrow as arrays: the values that pyarrow gives, of every type that a table may hold."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import wave
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image

from stethoscope.data.tables.arrow_columns import class_names, column_of, details_of, kind_of_bytes, value_of
from tests.tables import each

BUDGET = 1 << 20


def read(values: pa.Array) -> tuple[Any, dict[int, str]]:
    column = pa.chunked_array([values])
    return column_of(column, details_of(column), "t.parquet", BUDGET)


def png() -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.arange(12, dtype="uint8").reshape(2, 2, 3)).save(stream, "PNG")
    return stream.getvalue()


def wav() -> bytes:
    stream = io.BytesIO()
    with wave.open(stream, "wb") as out:
        out.setparams((1, 2, 8000, 0, "NONE", ""))
        out.writeframes(np.array([0, 16384, -16384], "<i2").tobytes())
    return stream.getvalue()


@each(
    ("values", "expected"),
    [
        (pa.array([1, 2, 3], pa.int16()), np.array([1, 2, 3], "int16")),
        (pa.array([1.5, 2.5], pa.float32()), np.array([1.5, 2.5], "float32")),
        (pa.array([1, None, 3]), np.array([1, np.nan, 3])),
        (pa.array([True, False]), np.array([True, False])),
        (pa.array([True, None]), np.array([1, np.nan])),
        (pa.array([decimal.Decimal("1.25"), None]), np.array([1.25, np.nan])),
        (pa.array([7, 8, 7]).dictionary_encode(), np.array([7, 8, 7])),
        (pa.array(["a", None, "c"]).dictionary_encode(), np.array(["a", "", "c"])),
        (pa.array([datetime.date(2024, 5, 17)]), np.array(["2024-05-17"])),
        (pa.array([[1, 2], [3, 4]], pa.list_(pa.int8())), np.array([[1, 2], [3, 4]], "int8")),
        (pa.array([[[1.0], [2.0]]], pa.large_list(pa.list_(pa.float64(), 1))), np.array([[[1.0], [2.0]]])),
        (pa.array([["a", "b"]]), np.array([["a", "b"]])),
        (pa.array([b"one", None, b"two"]), np.array(["one", "", "two"])),
        (pa.array([b"\x00\x01", b"\x02\xff"], pa.binary(2)), np.array([[0, 1], [2, 255]], "uint8")),
        (pa.array([{"bytes": b"\x00\x01", "path": ""}]), np.array([[0, 1]], "uint8")),
    ],
)
def test_a_column_is_an_array_of_its_values(values: pa.Array, expected: np.ndarray) -> None:
    found, problems = read(values)
    assert not problems
    np.testing.assert_array_equal(np.asarray(found), expected)
    assert np.asarray(found).dtype.kind == expected.dtype.kind or expected.dtype.kind == "U"


def test_lists_of_many_lengths_are_rows_of_their_own() -> None:
    found, _ = read(pa.array([[1, 2], None, [3]], pa.list_(pa.int32())))
    assert [None if row is None else row.tolist() for row in found] == [[1, 2], None, [3]]
    ragged, _ = read(pa.array([[[1], [2, 3]]], pa.list_(pa.list_(pa.int32()))))
    assert json.loads(str(ragged[0])) == [[1], [2, 3]]
    named, _ = read(pa.array([{"x": 1, "y": "z"}]))
    assert json.loads(str(named[0])) == {"x": 1, "y": "z"}


def test_images_and_sounds_inside_rows_are_decoded() -> None:
    images, problems = read(pa.array([{"bytes": png(), "path": "a.png"}, None]))
    np.testing.assert_array_equal(images[0], np.arange(12).reshape(2, 2, 3))
    assert images[1] is None
    assert not problems
    sounds, problems = read(pa.array([wav(), wav()]))
    np.testing.assert_allclose(np.asarray(sounds).reshape(2, 3), [[0, 0.5, -0.5]] * 2, atol=1e-4)
    assert not problems


def test_a_damaged_image_is_a_problem_of_its_row() -> None:
    found, problems = read(pa.array([png(), png()[:40]]))
    assert found[0].shape == (2, 2, 3)
    assert found[1] is None
    assert list(problems) == [1]
    assert "row 2" in problems[1]


@each(
    ("payloads", "kind"),
    [
        ([png(), b"", png()], "image"),
        ([b"RIFF\x00\x00\x00\x00WEBPVP8 "], "image"),
        ([wav()], "audio"),
        ([png(), wav()], "array"),
        ([b"plain words", "späte Wörter".encode()], "text"),
        (["ä".encode() * 2100], "text"),
        ([b"a" + "ä".encode() * 2100], "text"),
        ([b"\xff\xfe\x80\x81\xff\xfe\x80\x81"], "array"),
        ([b"bell\x07"], "array"),
    ],
)
def test_bytes_are_told_by_what_they_begin_with(payloads: list[bytes], kind: str) -> None:
    assert kind_of_bytes(payloads) == kind


def test_bytes_of_a_category_are_words() -> None:
    value, problem = value_of(b"caf\xc3\xa9", "category", "t", BUDGET)
    assert (str(value), problem) == ("café", "")


@each(
    ("metadata", "names"),
    [
        (None, {}),
        ({b"huggingface": b"not json"}, {}),
        ({b"huggingface": b"[1]"}, {}),
        (
            {b"huggingface": b'{"info": {"features": {"label": {"names": ["cat", "dog"]}, "x": {"dtype": "int8"}}}}'},
            {"label": ("cat", "dog")},
        ),
    ],
)
def test_names_of_classes_are_those_in_the_metadata(metadata: Any, names: dict[str, tuple[str, ...]]) -> None:
    assert class_names(metadata) == names

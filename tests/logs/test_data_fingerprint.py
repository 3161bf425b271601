"""Fingerprints agree exactly when the values do, however they are stored."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from stethoscope.errors import UnreadableFile, UnsafeFile
from stethoscope.logs import data_fingerprint
from stethoscope.logs.data_fingerprint import changes, fingerprint, fingerprint_of
from tests.exploring import examples
from tests.tables import each


def one(array):
    return fingerprint({"x": np.asarray(array)}).sha256


def test_the_same_table_in_three_files(tmp_path):
    table = np.array([[1.0, 0.1, -0.0], [2.0, np.nan, 1e-300], [3.0, np.inf, 7.0]])[:2]
    np.save(tmp_path / "a.npy", table)
    np.savez(tmp_path / "b.npz", anything=table)
    np.savez_compressed(tmp_path / "c.npz", other=np.asfortranarray(table).astype(">f8"))
    (tmp_path / "d.csv").write_text("p,q,r\n1,0.1,0\n2.0,nan,1e-300\n")
    (tmp_path / "e.tsv").write_bytes(b'\xef\xbb\xbf"1"\t.1\t-0.0\r\n2\tNaN\t1e-300\r\n')
    found = {fingerprint_of(path).sha256 for path in tmp_path.iterdir()}
    assert len(found) == 1


def test_dtype_and_trailing_ones_do_not_count():
    values = [1, 0, 1, 1]
    same = [np.array(values, kind) for kind in ("i1", "u8", "f2", "f4", "f8", "?")] + [np.array(values)[:, None]]
    assert len({one(array) for array in same}) == 1
    assert one(values) != one([values])
    assert one(np.float32(0.1)) != one(np.float64(0.1))


@each(
    ("before", "after"),
    [
        ([1, 2], [2, 1]),
        ([[1, 2]], [[1], [2]]),
        ([2**60], [2**60 + 1]),
        (["ab", "c"], ["a", "bc"]),
        ([1], ["1"]),
        ([1j], [1]),
        ([2**64 - 1], [-1]),
        ([], [0]),
    ],
)
def test_other_values_differ(before, after):
    assert one(before) != one(after)


def test_tables_with_texts(tmp_path):
    for name, text in (
        ("a", "name,x\nann,1\nbob,\n"),
        ("b", '"name","x"\r\n"ann",1.0\r\nbob,\r\n'),
        ("c", "name,x\nann,1\nbob,0\n"),
    ):
        (tmp_path / f"{name}.csv").write_bytes(text.encode())
    a, b, c = (fingerprint_of(tmp_path / f"{name}.csv") for name in "abc")
    assert a.sha256 == b.sha256 != c.sha256
    assert (a.parts[0].shape, a.parts[0].dtype) == ((3, 2), "text")


def test_large_whole_numbers_of_tables_stay_apart(tmp_path):
    for name, number in (("a", 2**60), ("b", 2**60 + 1)):
        (tmp_path / f"{name}.csv").write_text(f"id,x\n{number},1\n")
    assert fingerprint_of(tmp_path / "a.csv").sha256 != fingerprint_of(tmp_path / "b.csv").sha256


def test_what_changed_is_said():
    table = np.arange(20.0).reshape(10, 2)
    before = fingerprint({"x": table, "y": np.arange(10)})
    assert changes(before, fingerprint({"y": np.arange(10.0), "x": table.astype("f4")})) == ()
    after = fingerprint({"x": table[::-1], "y": np.arange(12), "z": np.zeros(3)})
    assert changes(before, after) == ("x: the same 10 rows in another order.", "y: 10 → 12 rows (+2).", "z was added.")
    assert changes(fingerprint({"x": table}), fingerprint({"w": table + 1})) == (
        "w: other values in the same 10 rows.",
    )
    assert "shape" in changes(fingerprint({"x": table}), fingerprint({"x": table[:, :1]}))[0]


def test_folders_and_files_of_other_kinds(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "image.png").write_bytes(b"same")
        np.savez(tmp_path / name / "data.npz", x=np.zeros(3), y=np.ones(3))
    before, after = fingerprint_of(tmp_path / "a"), fingerprint_of(tmp_path / "b")
    assert before.sha256 == after.sha256
    assert [part.name for part in before.parts] == ["data.npz:x", "data.npz:y", "sub/image.png"]
    (tmp_path / "b" / "sub" / "image.png").write_bytes(b"others")
    assert changes(before, fingerprint_of(tmp_path / "b")) == ("sub/image.png: 4 → 6 bytes (+2).",)


def test_files_that_cannot_be_read(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(UnsafeFile):
        fingerprint_of(tmp_path / "objects.npy")
    (tmp_path / "cut.npy").write_bytes(b"\x93NUMPY\x01")
    with pytest.raises(UnreadableFile):
        fingerprint_of(tmp_path / "cut.npy")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableFile, match="empty folder"):
        fingerprint_of(tmp_path / "empty")


def test_chunks_do_not_show(monkeypatch):
    table = np.random.default_rng(0).normal(size=(1000, 7))
    whole = fingerprint({"x": table})
    monkeypatch.setattr(data_fingerprint, "_CHUNK_BYTES", 100)
    assert fingerprint({"x": table}) == whole


_TABLES = arrays.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(2, 4)), elements=st.floats(-1e15, 1e15))


@examples(50)
@given(_TABLES)
def test_csv_and_npy_agree(tmp_path_factory, table):
    place = tmp_path_factory.mktemp("data")
    np.save(place / "a.npy", table)
    (place / "a.csv").write_text("\n".join(",".join(repr(float(cell)) for cell in row) for row in table) + "\n")
    assert fingerprint_of(place / "a.npy").sha256 == fingerprint_of(place / "a.csv").sha256


@examples(50)
@given(_TABLES, st.randoms(use_true_random=False))
def test_rows_in_another_order_are_recognised(table, random):
    order = list(range(len(table)))
    random.shuffle(order)
    before, after = fingerprint({"x": table}), fingerprint({"x": table[order]})
    assert before.parts[0].any_order == after.parts[0].any_order
    assert (before.sha256 == after.sha256) == np.array_equal(table, table[order])


@examples(100)
@given(st.binary(max_size=200), st.sampled_from([".csv", ".tsv", ".npy", ".npz", ".bin"]))
def test_foreign_bytes_are_read_or_refused(tmp_path_factory, content, suffix):
    path = tmp_path_factory.mktemp("data") / f"a{suffix}"
    path.write_bytes(content)
    with contextlib.suppress(UnreadableFile):
        fingerprint_of(path)

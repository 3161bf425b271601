"""NumPy files: read by their headers first, never unpickled."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.data.npz import READER
from stethoscope.errors import StethoscopeError, TooLarge, UnreadableFile, UnsafeFile
from stethoscope.types import ModelFile
from tests.exploring import examples
from tests.tables import each

BUDGET = 1 << 20


def read(file: ModelFile, budget_bytes: int = BUDGET):
    with READER.open(file, budget_bytes, {}) as data:
        return data.whole()


def file(tmp_path, name: str, content: bytes) -> ModelFile:
    (tmp_path / name).write_bytes(content)
    return ModelFile.at(tmp_path / name)


def npy(array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def header(text: str) -> bytes:
    padded = text + " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode()


def test_arrays_come_back_by_name(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(3), words=np.array(["a", "bc"]))
    feed = read(ModelFile.at(tmp_path / "a.npz"))
    assert list(feed) == ["x", "words"]
    np.testing.assert_array_equal(feed["x"], np.arange(3))


def test_a_lone_npy_is_called_x(tmp_path):
    assert read(file(tmp_path, "a.npy", npy(np.ones(2))))["x"].sum() == 2


def test_objects_are_refused_without_unpickling(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "marker"), "w"))

    content = header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + pickle.dumps(Trap())
    with pytest.raises(UnsafeFile, match="pickle"):
        read(file(tmp_path, "trap.npy", content))
    assert not (tmp_path / "marker").exists()


def test_what_declares_too_much_is_refused_before_reading(tmp_path):
    bomb = header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000), }")
    with pytest.raises(TooLarge):
        read(file(tmp_path, "bomb.npy", bomb))


def test_arrays_together_are_held_to_the_budget(tmp_path):
    np.savez(tmp_path / "many.npz", **{f"a{number}": np.zeros(40_000) for number in range(4)})
    with pytest.raises(TooLarge):
        read(ModelFile.at(tmp_path / "many.npz"))


def test_an_archive_without_arrays_says_so(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(UnreadableFile, match=r"no \.npy"):
        read(ModelFile.at(tmp_path / "a.npz"))


@examples(80)
@given(st.data())
def test_damaged_bytes_are_a_sentence(tmp_path_factory, data):
    content = bytearray(npy(np.arange(12.0).reshape(3, 4)))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    path = tmp_path_factory.mktemp("npy") / "a.npy"
    path.write_bytes(bytes(content[:cut]))
    try:
        read(ModelFile.at(path))
    except StethoscopeError as error:
        assert "a.npy" in str(error)


def test_rows_are_read_in_place_whatever_the_compression(tmp_path):
    x = np.arange(5_000 * 12, dtype=np.float32).reshape(5_000, 12)
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", x=x, y=np.arange(5_000) % 3)
        with READER.open(ModelFile.at(tmp_path / "a.npz"), 100_000, {}) as data:
            assert data.about.rows == 5_000 and data.about.field("y").kind == "category"
            found = {sample.place: sample.values["x"] for sample in data.samples([4_999, 0, 77, 9_999])}
            assert sorted(found) == [0, 77, 4_999]
            assert all((values == x[place]).all() for place, values in found.items())
            np.testing.assert_array_equal(data.feed(10, 14)["x"], x[10:14])
            with pytest.raises(TooLarge):
                data.whole()


def test_parts_of_a_divided_set_are_its_splits(tmp_path):
    np.savez(
        tmp_path / "m.npz",
        x_test=np.zeros((3, 28, 28), np.uint8),
        y_test=np.arange(3),
        x_train=np.ones((6, 28, 28), np.uint8),
        y_train=np.arange(6),
    )
    with READER.open(ModelFile.at(tmp_path / "m.npz"), BUDGET, {}) as data:
        assert data.about.splits == ("train", "test") and data.about.rows == 9
        assert [field.kind for field in data.about.fields] == ["image", "category"]
        sample = data.samples([7])[0]
        assert (sample.split, sample.label, sample.values["x"].shape) == ("test", "1", (28, 28, 1))
        assert [one.split for one in data.outlines([0, 8])] == ["train", "test"]


@each(
    ("name", "array", "kind"),
    [
        ("x", np.zeros((4, 32, 32, 3), np.uint8), "image"),
        ("x", np.zeros((4, 3, 32, 32), np.float32), "image"),
        ("x", np.zeros((4, 128, 9), np.float32), "sequence"),
        ("x", np.full((4, 40), 900, np.int32), "tokens"),
        ("input_ids", np.ones((4, 40), np.int64), "tokens"),
        ("x", np.zeros((4, 30), np.float32), "array"),
        ("mask_y", np.zeros((4, 8), np.int32), "array"),
        ("y", np.zeros((4, 32, 32), np.int32), "mask"),
        ("y", np.array([0, 1, 1, 0]), "category"),
        ("y", np.array([0.5, 1.25, 3.0, 7.5]), "number"),
        ("text", np.array(["a b", "c", "d", "e"]), "text"),
        ("label", np.array(["a", "b", "a", "b"]), "category"),
    ],
)
def test_kinds_are_told_by_shape_numbers_and_name(tmp_path, name, array, kind):
    np.savez(tmp_path / "a.npz", **{name: array})
    with READER.open(ModelFile.at(tmp_path / "a.npz"), BUDGET, {}) as data:
        assert data.about.field(name).kind == kind


def test_channels_first_are_shown_as_pictures_and_fed_as_they_are(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros((2, 3, 16, 20), np.float32))
    with READER.open(ModelFile.at(tmp_path / "a.npz"), BUDGET, {}) as data:
        assert data.samples([0])[0].values["x"].shape == (16, 20, 3)
        assert data.feed(0, 2)["x"].shape == (2, 3, 16, 20)


def test_another_array_can_be_the_target(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros((3, 2)), y=np.zeros(3), colour=np.array([2, 1, 0]))
    with READER.open(ModelFile.at(tmp_path / "a.npz"), BUDGET, {"target": "colour"}) as data:
        assert data.whole()["y"].tolist() == [2, 1, 0]
    with READER.open(ModelFile.at(tmp_path / "a.npz"), BUDGET, {"target": "none"}) as data:
        assert "y" not in data.whole()


def test_a_cut_array_shows_the_rows_that_are_there(tmp_path):
    content = npy(np.arange(40.0).reshape(10, 4))
    cut = file(tmp_path, "a.npy", content[:-50])
    with READER.open(cut, BUDGET, {}) as data:
        assert data.about.rows == 8 and "10 rows" in data.about.problems[0].sentence
        assert data.samples([7])[0].values["x"].tolist() == [28, 29, 30, 31]
        with pytest.raises(UnreadableFile, match="ends after 8"):
            data.whole()


def test_fortran_order_and_other_byte_orders(tmp_path):
    array = np.asfortranarray(np.arange(12, dtype=">i4").reshape(4, 3))
    with READER.open(file(tmp_path, "a.npy", npy(array)), BUDGET, {}) as data:
        assert data.columns(2, 3)["x"].tolist() == [[6, 7, 8]]


def test_an_array_that_cannot_be_read_is_named_and_the_others_are_shown(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.ones((4, 2)), y=np.arange(4), when=np.arange(4).astype("M8[D]"))
    with READER.open(ModelFile.at(tmp_path / "a.npz"), BUDGET, {}) as data:
        assert [field.name for field in data.about.fields] == ["x", "y"]
        assert data.about.problems[0].where == "when.npy"
        assert "<M8[D]" in data.about.problems[0].sentence


def test_masks_beside_images_are_the_target_unless_there_is_another(tmp_path):
    arrays = {"images": np.zeros((3, 8, 8, 3), np.uint8), "masks": np.ones((3, 8, 8), np.uint8)}
    np.savez(tmp_path / "a.npz", **arrays)
    np.savez(tmp_path / "b.npz", **arrays, y=np.arange(3))
    told = {}
    for name in ("a", "b"):
        with READER.open(ModelFile.at(tmp_path / f"{name}.npz"), BUDGET, {}) as data:
            told[name] = data.about.field("masks")
    assert (told["a"].kind, told["a"].role) == ("mask", "target")
    assert (told["b"].kind, told["b"].role) == ("mask", "input")

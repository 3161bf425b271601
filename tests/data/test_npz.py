"""NumPy files: read by their headers first, never unpickled."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stethoscope.data.npz import READER
from stethoscope.errors import StethoscopeError, TooLarge, UnreadableFile, UnsafeFile
from stethoscope.types import ModelFile

BUDGET = 1 << 20


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
    feed = READER.read(ModelFile.at(tmp_path / "a.npz"), BUDGET)
    assert list(feed) == ["x", "words"]
    np.testing.assert_array_equal(feed["x"], np.arange(3))


def test_a_lone_npy_is_called_x(tmp_path):
    assert READER.read(file(tmp_path, "a.npy", npy(np.ones(2))), BUDGET)["x"].sum() == 2


def test_objects_are_refused_without_unpickling(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "marker"), "w"))

    content = header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + pickle.dumps(Trap())
    with pytest.raises(UnsafeFile, match="pickle"):
        READER.read(file(tmp_path, "trap.npy", content), BUDGET)
    assert not (tmp_path / "marker").exists()


def test_what_declares_too_much_is_refused_before_reading(tmp_path):
    bomb = header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000), }")
    with pytest.raises(TooLarge):
        READER.read(file(tmp_path, "bomb.npy", bomb), BUDGET)


def test_arrays_together_are_held_to_the_budget(tmp_path):
    np.savez(tmp_path / "many.npz", **{f"a{number}": np.zeros(40_000) for number in range(4)})
    with pytest.raises(TooLarge):
        READER.read(ModelFile.at(tmp_path / "many.npz"), BUDGET)


def test_an_archive_without_arrays_says_so(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(UnreadableFile, match=r"no \.npy"):
        READER.read(ModelFile.at(tmp_path / "a.npz"), BUDGET)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_bytes_are_a_sentence(tmp_path_factory, data):
    content = bytearray(npy(np.arange(12.0).reshape(3, 4)))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    path = tmp_path_factory.mktemp("npy") / "a.npy"
    path.write_bytes(bytes(content[:cut]))
    try:
        READER.read(ModelFile.at(path), BUDGET)
    except StethoscopeError as error:
        assert "a.npy" in str(error)

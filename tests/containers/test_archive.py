"""Zip and tar files from strangers."""

from __future__ import annotations

import io
import os
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from stethoscope.containers import archive, limits
from stethoscope.errors import NotFound, StethoscopeError, TooLarge, UnreadableFile, UnsafeFile
from stethoscope.types import ModelFile
from tests.exploring import examples


def zipped(
    path: Path, members: Iterable[tuple[str | zipfile.ZipInfo, bytes]], compress: int = zipfile.ZIP_STORED
) -> ModelFile:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", compress) as packed:
        warnings.simplefilter("ignore")
        for name, data in members:
            packed.writestr(name, data, compress)
    return ModelFile.at(path)


def tarred(path: Path, members: Iterable[tuple[tarfile.TarInfo, bytes]], mode: str = "w") -> ModelFile:
    with tarfile.open(path, mode) as packed:
        for info, data in members:
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
    return ModelFile.at(path)


def refused(file: ModelFile, kind: type[StethoscopeError], text: str) -> None:
    with pytest.raises(kind, match=text), archive.open_archive(file) as opened:
        for name in opened.names:
            opened.read(name, 1 << 30)


@pytest.mark.parametrize("compress", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_honest_zip_is_read_and_extracted(tmp_path, compress):
    file = zipped(tmp_path / "a.zip", [("m/", b""), ("m/a.txt", b"alpha"), ("m/b/c.bin", bytes(3000))], compress)
    with archive.open_archive(file) as opened:
        assert opened.names == ("m/a.txt", "m/b/c.bin")
        assert opened.read("m/a.txt", 100) == b"alpha"
        stored = opened.members["m/a.txt"].stored_at
        assert (stored is not None) == (compress == zipfile.ZIP_STORED)
        if stored is not None:
            assert file.path.read_bytes()[stored : stored + 5] == b"alpha"
        opened.extract(tmp_path / "out")
    assert (tmp_path / "out/m/b/c.bin").read_bytes() == bytes(3000)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_an_honest_tar_is_read_and_extracted(tmp_path, mode):
    file = tarred(tmp_path / "a.tar", [(tarfile.TarInfo("m/a.txt"), b"alpha")], mode)
    assert archive.is_archive(file.path)
    with archive.open_archive(file) as opened:
        assert opened.read("m/a.txt", 100) == b"alpha"
        stored = opened.members["m/a.txt"].stored_at
        assert (stored is not None) == (mode == "w")
        opened.extract(tmp_path / "out")
    assert (tmp_path / "out/m/a.txt").read_bytes() == b"alpha"


NAMES = ["../up", "a/../../up", "/abs", "C:/x", "a\\..\\b", "a\x07b", "a\u202eb.txt", "x" * 300]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_escape_or_hide_are_refused(tmp_path, name):
    refused(zipped(tmp_path / "a.zip", [(name, b"x")]), UnsafeFile, "member name")
    refused(tarred(tmp_path / "a.tar", [(tarfile.TarInfo(name), b"x")]), UnsafeFile, "member name")


def test_links_and_devices_are_refused(tmp_path):
    link = zipfile.ZipInfo("m/link")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    refused(zipped(tmp_path / "a.zip", [(link, b"/etc/passwd")]), UnsafeFile, "link or device")
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
        info = tarfile.TarInfo("m/link")
        info.type, info.linkname = kind, "/etc/passwd"
        refused(tarred(tmp_path / "a.tar", [(info, b"")]), UnsafeFile, "link or device")


def test_duplicate_names_are_refused(tmp_path):
    refused(zipped(tmp_path / "a.zip", [("a", b"1"), ("a", b"2")]), UnsafeFile, "two members are named 'a'")
    refused(
        tarred(tmp_path / "a.tar", [(tarfile.TarInfo("a"), b"1"), (tarfile.TarInfo("a"), b"2")]),
        UnsafeFile,
        "two members",
    )


def test_overlapping_members_are_refused(tmp_path):
    file = zipped(tmp_path / "a.zip", [("a", b"x" * 100), ("b", b"y" * 100)])
    data = bytearray(file.path.read_bytes())
    second = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, second + 42, 0)  # The second entry now starts where the first does.
    file.path.write_bytes(data)
    refused(file, UnsafeFile, "overlap|damaged|two members")


def test_a_bomb_is_refused_before_it_is_inflated(tmp_path):
    size = limits.RATIO_FLOOR_BYTES // 4 + 1
    file = zipped(tmp_path / "a.zip", [(f"{index}.bin", bytes(size)) for index in range(4)], zipfile.ZIP_DEFLATED)
    refused(file, TooLarge, "bomb")
    file = tarred(tmp_path / "a.tar.gz", [(tarfile.TarInfo(f"{index}.bin"), bytes(size)) for index in range(4)], "w:gz")
    refused(file, TooLarge, "bomb")


def test_a_member_larger_than_it_declares_is_refused(tmp_path):
    file = zipped(tmp_path / "a.zip", [("a", b"x" * 5000)], zipfile.ZIP_DEFLATED)
    data = bytearray(file.path.read_bytes())
    struct.pack_into("<I", data, 22, 100)
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 24, 100)
    file.path.write_bytes(data)
    refused(file, StethoscopeError, "'a'")


def test_asking_for_more_than_a_limit_is_refused(tmp_path):
    file = zipped(tmp_path / "a.zip", [("a", b"x" * 5000)])
    with archive.open_archive(file) as opened:
        with pytest.raises(TooLarge, match="expected at most 100"):
            opened.read("a", 100)
        with pytest.raises(NotFound), opened.open("nothing"):
            pass


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_MEMBERS", 3)
    refused(zipped(tmp_path / "a.zip", [(str(index), b"") for index in range(6)]), TooLarge, "more than 3 files")
    refused(
        tarred(tmp_path / "a.tar", [(tarfile.TarInfo(str(index)), b"") for index in range(6)]),
        TooLarge,
        "more than 3 files",
    )


def test_encrypted_zips_ask_for_one_without_a_password(tmp_path):
    file = zipped(tmp_path / "a.zip", [("a", b"x")])
    data = bytearray(file.path.read_bytes())
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    file.path.write_bytes(data)
    refused(file, UnreadableFile, "encrypted")


@pytest.mark.parametrize("compress", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_truncated_zip_says_so(tmp_path, compress):
    file = zipped(tmp_path / "a.zip", [("a", os.urandom(4000))], compress)
    file.path.write_bytes(file.path.read_bytes()[:2000])
    refused(file, UnreadableFile, "incomplete")


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_a_truncated_tar_says_so(tmp_path, mode):
    file = tarred(tmp_path / "a.tar", [(tarfile.TarInfo("a"), os.urandom(40_000))], mode)
    file.path.write_bytes(file.path.read_bytes()[:20_000])
    refused(file, UnreadableFile, r"a\.tar")


def test_damaged_contents_are_named(tmp_path):
    file = zipped(tmp_path / "a.zip", [("weights.bin", b"x" * 4000)])
    data = bytearray(file.path.read_bytes())
    data[1000] ^= 0xFF
    file.path.write_bytes(data)
    refused(file, UnreadableFile, "'weights.bin' is damaged")


def test_other_files_are_no_archives(tmp_path):
    path = tmp_path / "page.zip"
    path.write_bytes(b"<html>")
    assert not archive.is_archive(path)
    refused(ModelFile.at(path), UnreadableFile, "not a readable archive")


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), mode=st.sampled_from(["zip", "w", "w:gz"]))
def test_mutated_archives_are_read_or_refused_with_a_sentence(tmp_path, data, mode):
    path = tmp_path / "a.bin"
    if mode == "zip":
        zipped(path, [("m/a.txt", b"alpha" * 30), ("m/b.txt", b"beta")], zipfile.ZIP_DEFLATED)
    else:
        tarred(path, [(tarfile.TarInfo("m/a.txt"), b"alpha" * 30), (tarfile.TarInfo("m/b.txt"), b"beta")], mode)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    try:
        with archive.open_archive(ModelFile.at(path)) as opened:
            for name in opened.names:
                opened.read(name, 1 << 20)
    except StethoscopeError as error:
        assert "a.bin" in str(error)


def test_a_file_beside_folders_is_unpacked_where_nothing_was(tmp_path):
    file = zipped(tmp_path / "model.zip", [("model.onnx", b"graph"), ("weights/a", b"1"), ("notes.txt", b"n")])
    with archive.open_archive(file) as opened:
        opened.extract(tmp_path / "new" / "place")
    found = {one.name: one.read_bytes() for one in (tmp_path / "new").rglob("*") if one.is_file()}
    assert found == {"model.onnx": b"graph", "a": b"1", "notes.txt": b"n"}

"""Zip and tar files from strangers."""

from __future__ import annotations

import contextlib
import gzip
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
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from stethoscope.errors import NotFound, StethoscopeError, TooLarge, UnreadableFile, UnsafeFile
from stethoscope.models.containers import archive, damage
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


def refused(file: ModelFile, kind: type[StethoscopeError] | tuple[type[StethoscopeError], ...], text: str) -> None:
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
    refused(zipped(tmp_path / "a.zip", [("a", b"1"), ("a", b"2")]), UnsafeFile, "two members")
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
    size = damage.RATIO_FLOOR_BYTES // 4 + 1
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
    monkeypatch.setattr(damage, "MAX_MEMBERS", 3)
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
    refused(ModelFile.at(path), UnreadableFile, "readable archive")


_ZIPS = {
    "zip": zipfile.ZIP_DEFLATED,
    "zip stored": zipfile.ZIP_STORED,
    "zip bzip2": zipfile.ZIP_BZIP2,
    "zip lzma": zipfile.ZIP_LZMA,
}
_LAST_ENTRY = -22 - 46 - len("m/b.txt")
"""Where the directory's last entry begins in the archive that is mutated, from its end."""


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    mode=st.sampled_from([*_ZIPS, "w", "w:gz", "w:bz2", "w:xz"]),
    changes=st.lists(st.tuples(st.integers(-400, 399), st.integers(0, 255)), min_size=1, max_size=4),
    left=st.none() | st.integers(1, 399),
)
@example(mode="zip", changes=[(_LAST_ENTRY + 6, 64)], left=None)  # a version of zip that there is not: 6.4
@example(mode="zip", changes=[(_LAST_ENTRY + 9, 8), (_LAST_ENTRY + 46, 255)], left=None)  # a name that is no UTF-8
@example(mode="zip", changes=[(_LAST_ENTRY + 8, 32)], left=None)  # a patch, which Python cannot read
@example(mode="zip", changes=[(_LAST_ENTRY + 10, 5)], left=None)  # a method of compression that there is not
def test_mutated_archives_are_read_or_refused_with_a_sentence(tmp_path, mode, changes, left):
    path = tmp_path / "a.bin"
    if mode in _ZIPS:
        zipped(path, [("m/a.txt", b"alpha" * 30), ("m/b.txt", b"beta")], _ZIPS[mode])
    else:
        tarred(path, [(tarfile.TarInfo("m/a.txt"), b"alpha" * 30), (tarfile.TarInfo("m/b.txt"), b"beta")], mode)
    content = bytearray(path.read_bytes())
    for place, byte in changes:
        content[place % len(content)] = byte
    path.write_bytes(content[:left])
    try:
        with archive.open_archive(ModelFile.at(path)) as opened:
            for name in opened.names:
                opened.read(name, 1 << 20)
    except StethoscopeError as error:
        assert "a.bin" in str(error)
    damage.is_zip(path)
    with contextlib.suppress(*damage.ARCHIVE):
        list(damage.listed(path))


def test_a_zip_said_to_span_disks_is_refused(tmp_path):
    file = zipped(tmp_path / "a.zip", [("a", b"1")])
    data = file.path.read_bytes()
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 1, 0, 2)
    file.path.write_bytes(data[:-22] + locator + data[-22:])
    refused(file, UnreadableFile, "directory is damaged .*disks")


@pytest.mark.parametrize("place", [1 << 62, (1 << 64) - 1])
def test_a_member_that_begins_beyond_any_file_is_refused(tmp_path, place):
    file = zipped(tmp_path / "a.zip", [("a", b"1")])
    data = bytearray(file.path.read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 42 : entry + 46] = b"\xff" * 4
    data[entry + 30 : entry + 32] = struct.pack("<H", 12)
    data[entry + 47 : entry + 47] = struct.pack("<HHQ", 1, 8, place)
    data[-10:-6] = struct.pack("<L", 46 + 1 + 12)
    file.path.write_bytes(data)
    refused(file, UnreadableFile, r"a\.zip")


def test_headers_that_call_for_headers_without_end_are_refused(tmp_path):
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 4
    file = ModelFile.at(tmp_path / "a.tar")
    file.path.write_bytes((long_name.tobuf(tarfile.GNU_FORMAT) + b"abc\0".ljust(512, b"\0")) * 2_000)
    refused(file, UnreadableFile, "readable archive")


@pytest.mark.parametrize("size", [-512, -1, 1 << 62, (1 << 63) - 1, 1 << 80])
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_tar_whose_sizes_make_no_sense_is_refused(tmp_path, size, kind):
    info = tarfile.TarInfo("m/a")
    info.type, info.size = kind, size
    file = ModelFile.at(tmp_path / "a.tar")
    tail = tarfile.TarInfo("m/b").tobuf(tarfile.GNU_FORMAT) + bytes(1024)
    file.path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + tail)
    refused(file, (UnreadableFile, UnsafeFile), r"a\.tar")


@pytest.mark.parametrize("headers", [{"size": "9" * 30}, {"size": "-512"}])
def test_sizes_of_extended_headers_that_make_no_sense_are_refused(tmp_path, headers):
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as packed:
        info = tarfile.TarInfo("m/a")
        info.pax_headers = headers
        packed.addfile(info)
    refused(ModelFile.at(tmp_path / "a.tar"), (UnreadableFile, UnsafeFile), r"a\.tar")


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_members_after_a_damaged_header_are_not_lost_without_a_word(tmp_path, mode):
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as packed:
        for name in ("a", "b", "c"):
            packed.addfile(tarfile.TarInfo(name))
    data = bytearray(whole.getvalue())
    data[512 + 150] ^= 1
    (tmp_path / "a.tar").write_bytes(gzip.compress(data) if mode == "w:gz" else data)
    refused(ModelFile.at(tmp_path / "a.tar"), UnreadableFile, "header at byte 512 is damaged")


def test_a_long_name_that_inflates_without_end_is_refused_before_it_is_read(tmp_path):
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 64 << 20
    file = ModelFile.at(tmp_path / "a.tar.gz")
    file.path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(64 << 20), 1))
    refused(file, UnreadableFile, "declares 67,108,864 bytes")


@pytest.mark.parametrize("compress", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_found_while_a_member_is_read_is_said_too(tmp_path, compress):
    file = zipped(tmp_path / "a.zip", [("a.txt", os.urandom(4000))], compress)
    data = bytearray(file.path.read_bytes())
    data[60:1_000] = b"\xff" * 940
    file.path.write_bytes(data)
    with (
        archive.open_archive(file) as opened,
        pytest.raises(UnreadableFile, match=r"'a\.txt' is damaged"),
        opened.open("a.txt") as stream,
    ):
        stream.read()


def test_what_happens_to_the_reader_of_a_member_is_not_called_damage(tmp_path):
    file = zipped(tmp_path / "a.zip", [("a.txt", b"1")])
    with archive.open_archive(file) as opened:
        for kind in (ValueError, KeyError, PermissionError(13, "denied")):
            with pytest.raises(kind if isinstance(kind, type) else type(kind)), opened.open("a.txt"):
                raise kind


def test_a_file_with_holes_is_not_mapped_where_it_lies(tmp_path):
    info = tarfile.TarInfo("a")
    info.size = 512
    info.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": "a",
        "GNU.sparse.realsize": "600",
    }
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as packed:
        info.size = 1024
        packed.addfile(info, io.BytesIO(b"1\n88\n512\n".ljust(512, b"\0") + b"x" * 512))
    with archive.open_archive(ModelFile.at(tmp_path / "a.tar")) as opened:
        assert opened.members["a"].stored_at is None
        assert opened.read("a", 1_000) == bytes(88) + b"x" * 512


def test_a_file_beside_folders_is_unpacked_where_nothing_was(tmp_path):
    file = zipped(tmp_path / "model.zip", [("model.onnx", b"graph"), ("weights/a", b"1"), ("notes.txt", b"n")])
    with archive.open_archive(file) as opened:
        opened.extract(tmp_path / "new" / "place")
    found = {one.name: one.read_bytes() for one in (tmp_path / "new").rglob("*") if one.is_file()}
    assert found == {"model.onnx": b"graph", "a": b"1", "notes.txt": b"n"}

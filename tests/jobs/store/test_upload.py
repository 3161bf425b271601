from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections import namedtuple

import pytest

from stethoscope.errors import QuotaExceeded, TooLarge
from stethoscope.sizes import human_bytes
from tests.jobs.store.conftest import files_in


def test_an_abandoned_upload_leaves_nothing(make_store, tmp_path):
    store = make_store()
    with store.upload("ada") as upload:
        upload.write(b"half")
        assert upload.path.stat().st_size == 4
    assert files_in(tmp_path) == []
    assert store.list("ada") == ()


def test_a_file_over_the_cap_is_stopped_while_it_streams(make_store, tmp_path):
    store = make_store(max_upload_bytes=10)
    with store.upload("ada") as upload:
        upload.write(b"12345")
        with pytest.raises(TooLarge, match="at most 10 bytes"):
            upload.write(b"678901")
    assert files_in(tmp_path) == []


def test_a_declared_size_is_refused_before_anything_is_read(make_store, tmp_path):
    with pytest.raises(TooLarge):
        make_store(max_upload_bytes=10).upload("ada", 11)
    with pytest.raises(QuotaExceeded):
        make_store(quota_bytes=5).upload("ada", 6)
    assert files_in(tmp_path) == []


def test_a_full_disk_is_said_and_leaves_nothing(make_store, tmp_path, monkeypatch):
    store = make_store()
    real = os.write

    def full(descriptor: int, data: memoryview) -> int:
        if len(data) > 3:
            return real(descriptor, data[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    with store.upload("ada") as upload:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(QuotaExceeded, match="disk is full"):
            upload.write(b"12345")
    assert files_in(tmp_path) == []


def test_the_last_of_the_disk_is_left_free(make_store, tmp_path, monkeypatch):
    store = make_store(min_free_disk_bytes=1 << 30)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10 << 30, 9 << 30, (1 << 30) - 1))
    with pytest.raises(QuotaExceeded, match="disk"):
        store.upload("ada")
    assert files_in(tmp_path) == []


def test_uploads_of_a_killed_process_are_removed_and_living_ones_kept(make_store, tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from stethoscope.settings import Settings; from stethoscope.jobs.store import Store\n"
        "store = Store(Path(sys.argv[1]) / 'store', Settings(workspace=sys.argv[1], min_free_disk_bytes=0))\n"
        "store.upload('bob').write(b'half'); os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    store = make_store()
    with store.upload("ada") as mine:
        mine.write(b"going on")
        assert len(files_in(tmp_path)) == 2
        store.clean()
        assert files_in(tmp_path) == [mine.path]
        entry = mine.commit("model")
    assert entry.path.read_bytes() == b"going on"


def test_sizes_are_said_with_three_digits():
    assert [human_bytes(size) for size in (0, 1023, 1024, 1_500_000, 2 << 30)] == [
        "0 bytes",
        "1023 bytes",
        "1 KiB",
        "1.43 MiB",
        "2 GiB",
    ]

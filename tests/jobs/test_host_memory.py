"""Noticing that the machine runs out."""

from __future__ import annotations

import os
import sys

import pytest

from stethoscope.jobs import host_memory
from stethoscope.jobs.host_memory import HostMemory, oom_kills

MIB = 1 << 20


def test_it_is_short_below_the_floor_and_looks_no_more_often_than_it_must(monkeypatch):
    monkeypatch.setattr(host_memory, "LOOK_S", 60.0)
    readings = [150 * MIB, 50 * MIB]
    host = HostMemory(100 * MIB, lambda: readings.pop(0))
    assert host.look() is False
    assert (host.short, host.nearly_short) == (False, True)
    assert host.look() is False
    assert len(readings) == 1
    host._next_look_s = 0.0
    assert host.look() is True
    assert host.available_bytes == 50 * MIB
    host.pause()
    assert (host.short, host.look()) == (False, False)


def test_without_a_floor_nothing_is_read():
    host = HostMemory(0, lambda: pytest.fail("was read"))
    assert host.look() is False
    assert (host.short, host.nearly_short) == (False, False)


def test_the_account_adds_up():
    host = HostMemory(1 << 60)
    assert host.look() is True
    had = host.account(10 * MIB, 2, 20 * MIB, [os.getpid(), 1 << 30])
    assert had.other_jobs == 2
    assert had.app_bytes > 10 * MIB
    parts = (had.available_bytes, had.this_job_bytes, had.other_jobs_bytes, had.app_bytes, had.rest_bytes)
    assert sum(parts) == had.usable_bytes


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_kernels_count_of_its_kills_is_read(tmp_path, monkeypatch):
    (tmp_path / "vmstat").write_text("nr_free_pages 5\noom_kill 3\ndrop_pagecache 0\n")
    monkeypatch.setattr(host_memory, "_VMSTAT", tmp_path / "vmstat")
    assert oom_kills() == 3
    monkeypatch.setattr(host_memory, "_VMSTAT", tmp_path / "absent")
    assert oom_kills() is None

"""Noticing that the machine runs out."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from stethoscope import devices
from stethoscope.jobs import host_memory
from stethoscope.jobs.host_memory import HostMemory, KernelKills

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


def _killed(counter: Path, times: int) -> None:
    counter.parent.mkdir(exist_ok=True)
    counter.write_text(f"oom 7\noom_kill {times}\nmax 9\n")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", ["memory.events.local", "memory.events", "memory.oom_control"])
def test_the_kernels_kills_are_those_of_the_group_that_a_process_is_in(tmp_path, monkeypatch, name):
    machine, other, ours = tmp_path / "vmstat", tmp_path / "other" / name, tmp_path / "memory" / name
    for counter in (machine, other, ours):
        _killed(counter, 3)
    monkeypatch.setattr(host_memory, "_VMSTAT", machine)
    kills = KernelKills(tmp_path)
    kills.watch(os.getpid())
    _killed(machine, 4)
    _killed(other, 4)
    assert not kills.counted
    _killed(ours, 4)
    kills.watch(1 << 30)  # gone, and in no group any more: what was counted before stays
    assert kills.counted


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_machines_count_is_asked_where_no_group_has_one(tmp_path, monkeypatch):
    monkeypatch.setattr(host_memory, "_VMSTAT", tmp_path / "vmstat")
    assert not KernelKills(tmp_path).counted
    _killed(tmp_path / "vmstat", 3)
    kills = KernelKills(tmp_path)
    assert not kills.counted
    _killed(tmp_path / "vmstat", 4)
    assert kills.counted


def test_a_worker_that_is_moved_is_followed_and_its_group_is_searched_for_once(tmp_path, monkeypatch):
    groups = {None: "0::/app\n", 7: "0::/app\n"}
    searched = []

    def folders(*asked):
        searched.append(asked[-1])
        return devices.group_folders(*asked)

    monkeypatch.setattr(host_memory, "group_membership", lambda pid=None: groups.get(pid, ""))
    monkeypatch.setattr(host_memory, "group_folders", folders)
    app, job = (tmp_path / group / "memory.events" for group in ("app", "job"))
    for counter in (app, job):
        _killed(counter, 3)
    kills = KernelKills(tmp_path)
    for _ in range(50):
        kills.watch(7)
    assert searched == ["0::/app\n"]
    _killed(job, 5)  # before it came there: not of this job
    groups[7] = "0::/job\n"
    for _ in range(50):
        kills.watch(7)
    assert searched == ["0::/app\n", "0::/job\n"] and not kills.counted
    _killed(job, 6)
    assert kills.counted
    _killed(job, 5)
    groups[7] = "0::/app\n"
    kills.watch(7)
    _killed(app, 4)  # where it was before counts from when it was first seen there
    assert kills.counted

"""The machine's memory while jobs run: noticing that it runs out, before it swaps or its kernel chooses whom to kill.

Source: proc_meminfo(5): MemAvailable; Linux cgroup v2: memory.events (v1: memory.oom_control): oom_kill, the processes of a
control group that the kernel has killed for memory, whoever ran out of it; proc_vmstat(5): oom_kill, those of the whole machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psutil

from stethoscope.devices import CGROUP, available_bytes, group_folders, group_membership, usable_bytes
from stethoscope.framework_errors import HostAccount

LOOK_S = 0.05
"""Between two looks: a process that touches memory as fast as it can takes some hundred MiB in this time."""
WORTH_ENDING_BYTES = 64 << 20
"""A job that holds less frees nothing worth having."""
SETTLE_S = 0.3
"""After a job has ended, for its memory to come back."""
_VMSTAT = Path("/proc/vmstat")


class HostMemory:
    """Says whether the machine is about to run out.

    Args:
        floor_bytes: below so much available memory it is; 0 turns the watch off.
        available: reads the memory that could be had now without swapping, in bytes.
    """

    def __init__(self, floor_bytes: int, available: Callable[[], int] = available_bytes) -> None:
        self.floor_bytes = floor_bytes
        self._available = available
        self.available_bytes: int | None = None
        """As last seen."""
        self._next_look_s = 0.0

    @property
    def short(self) -> bool:
        """Whether less than the floor was available at the last look."""
        return self.available_bytes is not None and self.available_bytes < self.floor_bytes

    @property
    def nearly_short(self) -> bool:
        """Whether so little was available at the last look that a killed worker was most likely killed for it."""
        return self.available_bytes is not None and self.available_bytes < 2 * self.floor_bytes

    def look(self) -> bool:
        """Reads the available memory if it is time to; returns whether it is too little."""
        now = time.monotonic()
        if not self.floor_bytes or now < self._next_look_s:
            return False
        self._next_look_s = now + LOOK_S
        self.available_bytes = self._available()
        return self.short

    def pause(self) -> None:
        """Looks again only when the memory of what has just ended is back."""
        self._next_look_s = time.monotonic() + SETTLE_S
        self.available_bytes = None

    def account(self, held_bytes: int, other_jobs: int, other_jobs_bytes: int, own_pids: list[int]) -> HostAccount:
        """Who has the memory.

        Args:
            held_bytes: of the job the account is for.
            other_jobs: how many more are running.
            other_jobs_bytes: what those hold.
            own_pids: the other processes of this program: the app and its worker servers.
        """
        usable = usable_bytes()
        available = self.available_bytes or 0
        app = sum(_resident_bytes(pid) for pid in own_pids)
        return HostAccount(
            available_bytes=available,
            floor_bytes=self.floor_bytes,
            usable_bytes=usable,
            this_job_bytes=held_bytes,
            other_jobs=other_jobs,
            other_jobs_bytes=other_jobs_bytes,
            app_bytes=app,
            rest_bytes=max(0, usable - available - held_bytes - other_jobs_bytes - app),
        )


class KernelKills:
    """Says whether the kernel has killed for memory where a process lives: in its control group, or else on this machine.

    Others on the machine, in groups of their own, run out of memory too: their kills say nothing about ours.

    Args:
        cgroup: where control groups are mounted.
    """

    def __init__(self, cgroup: Path = CGROUP) -> None:
        self._cgroup = cgroup
        self._before: dict[Path, int] = {}
        self._membership: str | None = None
        self.watch(None)

    def watch(self, pid: int | None) -> None:
        """Counts from now in the group of a process, None for this one's; to be called while it lives, as it may be moved.

        Cheap enough for every look at a job: its counter is searched for only when it is in another group than last time.
        """
        membership = group_membership(pid)
        if membership == self._membership:
            return
        self._membership = membership
        counter = _counter_of(self._cgroup, membership)
        if counter is not None and counter not in self._before:
            self._before[counter] = oom_kills(counter) or 0

    @property
    def counted(self) -> bool:
        """Whether there has been one in a group since the process was first seen there."""
        return any((oom_kills(counter) or 0) > before for counter, before in self._before.items())


def oom_kills(counter: Path) -> int | None:
    """How many processes the kernel has killed for memory by one of its files; None where that does not say."""
    try:
        text = counter.read_text()
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith("oom_kill "):
            return int(line.split()[1])
    return None


def _counter_of(cgroup: Path, membership: str) -> Path | None:
    for folder in group_folders(cgroup, "memory", membership):
        for name in ("memory.events.local", "memory.events", "memory.oom_control"):
            if oom_kills(folder / name) is not None:
                return folder / name
    return _VMSTAT if oom_kills(_VMSTAT) is not None else None


def _resident_bytes(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0

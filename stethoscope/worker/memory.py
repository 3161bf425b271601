"""How much memory this process added, measured by the kernel, and a limit that ends in an error instead of a kill.

The peak is the kernel's high-water mark (VmHWM, reset through /proc/self/clear_refs) less what the process started
with and less file-backed pages: libraries that a job happens to touch are shared and can be dropped, so they are not
the job's. Sampling reads low and Python's own tracing sees nothing of a framework's tensors.

Source: proc(5): VmHWM, RssFile, clear_refs value 5; getrlimit(2): RLIMIT_DATA.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def read_status(path: Path) -> dict[str, int]:
    """Returns the memory rows of a /proc status file in bytes: VmHWM, VmRSS, RssAnon, RssFile, RssShmem, VmData."""
    rows: dict[str, int] = {}
    for line in path.read_text().splitlines():
        name, _, rest = line.partition(":")
        if name.startswith(("Vm", "Rss")):
            rows[name] = int(rest.split()[0]) * 1024
    return rows


class Meter:
    """Measures and limits the process it was made in. Make it before containment: it keeps one file open."""

    def __init__(self, budget_bytes: int) -> None:
        self._budget_bytes = budget_bytes
        self._clear_refs: int | None = None
        self._base_bytes = self._highest_bytes = 0
        with contextlib.suppress(OSError):
            self._clear_refs = os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)
        self.reset()
        self._base_bytes, self._highest_bytes = self._held_bytes(), 0

    def reset(self) -> None:
        """Starts a new measurement of the peak."""
        self._highest_bytes = self.highest_bytes()
        if self._clear_refs is not None:
            os.write(self._clear_refs, b"5")

    def added_bytes(self) -> int:
        """Memory held now beyond what the process started with, in bytes."""
        return max(0, self._held_bytes() - self._base_bytes)

    def peak_bytes(self) -> int:
        """The most memory added since the last `reset`, in bytes."""
        if not _STATUS.exists():
            unit = 1 if sys.platform == "darwin" else 1024
            return max(0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit - self._base_bytes)
        rows = read_status(_STATUS)
        return max(0, rows["VmHWM"] - rows["RssFile"] - self._base_bytes)

    def highest_bytes(self) -> int:
        """The most memory added since the process started, whatever was reset in between, in bytes."""
        return max(self._highest_bytes, self.peak_bytes())

    def enforce(self) -> None:
        """Limits further allocations to what is left of the budget (RLIMIT_DATA)."""
        if not _STATUS.exists():
            return
        left = max(0, self._budget_bytes - self.added_bytes())
        _limit_data(read_status(_STATUS)["VmData"] + left)

    def guard(self) -> None:
        """A looser limit for the time before `enforce`: catches one absurd allocation between two looks of the parent."""
        if _STATUS.exists():
            _limit_data(read_status(_STATUS)["VmData"] + 2 * self._budget_bytes + (1 << 30))

    def _held_bytes(self) -> int:
        if not _STATUS.exists():
            unit = 1 if sys.platform == "darwin" else 1024
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        rows = read_status(_STATUS)
        return rows["RssAnon"] + rows["RssShmem"]


def _limit_data(size_bytes: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(
        resource.RLIMIT_DATA, (size_bytes if hard == resource.RLIM_INFINITY else min(size_bytes, hard), hard)
    )

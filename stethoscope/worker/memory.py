"""How much memory this process added, measured by the kernel, and a limit that ends in an error instead of a kill.

The peak is the kernel's high-water mark (VmHWM, reset through /proc/self/clear_refs) less what the process started
with and less file-backed pages: libraries that a job happens to touch are shared and can be dropped, so they are not
the job's. The mark counts them as they were at the peak and the kernel does not keep that number: where libraries are
touched after the peak, as while a model is opened, a thread reads both often enough to know it (`Meter.watch`).
Sampling alone reads low, and Python's own tracing sees nothing of a framework's tensors.

Source: proc(5): VmHWM, RssFile, clear_refs value 5; getrlimit(2): RLIMIT_DATA.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

_STATUS = Path("/proc/self/status")
_EVERY_S = 0.005
_UNTOUCHED_BYTES = 24 << 20
"""What may be mapped beyond the budget: stacks of threads to come and scratch space count when mapped, not when touched."""


def read_status(path: Path) -> dict[str, int]:
    """Returns the memory rows of a /proc status file in bytes: VmHWM, VmRSS, RssAnon, RssFile, RssShmem, VmData."""
    rows: dict[str, int] = {}
    for line in path.read_text().splitlines():
        name, _, rest = line.partition(":")
        if name.startswith(("Vm", "Rss")):
            rows[name] = int(rest.split()[0]) * 1024
    return rows


@dataclass(frozen=True)
class _Seen:
    """What the looks since the last reset found."""

    mark_bytes: int = 0
    file_bytes: int | None = None
    peak_bytes: int = 0

    def then(self, mark_bytes: int, file_bytes: int, held_bytes: int) -> _Seen:
        """After one more look. Where the mark rose, file-backed pages were between those of the two looks."""
        peak = max(self.peak_bytes, held_bytes)
        if mark_bytes > self.mark_bytes:
            before = file_bytes if self.file_bytes is None else self.file_bytes
            peak = max(peak, mark_bytes - (before + file_bytes) // 2)
        return _Seen(mark_bytes, file_bytes, peak)


class Meter:
    """Measures and limits the process it was made in. Make it before containment: it keeps one file open."""

    def __init__(self, budget_bytes: int) -> None:
        self._budget_bytes = budget_bytes
        self._clear_refs: int | None = None
        self._base_bytes = self._highest_bytes = 0
        self._reading = threading.Lock()
        self._seen = _Seen()
        with contextlib.suppress(OSError):
            self._clear_refs = os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)
        self.reset()
        self._base_bytes, self._highest_bytes = self._held_bytes(), 0

    def watch(self) -> None:
        """Reads the mark every few milliseconds from now on, in a thread that ends with the process."""
        if _STATUS.exists() and self._clear_refs is not None:
            threading.Thread(target=self._look_again, name="memory meter", daemon=True).start()

    def reset(self) -> None:
        """Starts a new measurement of the peak."""
        self._highest_bytes = self.highest_bytes()
        with self._reading:
            if self._clear_refs is not None:
                os.write(self._clear_refs, b"5")
            self._seen = _Seen()
        self.peak_bytes()  # what the looks to come are compared with

    def added_bytes(self) -> int:
        """Memory held now beyond what the process started with, in bytes."""
        return max(0, self._held_bytes() - self._base_bytes)

    def peak_bytes(self) -> int:
        """The most memory added since the last `reset`, in bytes."""
        if not _STATUS.exists():
            unit = 1 if sys.platform == "darwin" else 1024
            return max(0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit - self._base_bytes)
        return max(0, self._look() - self._base_bytes)

    def highest_bytes(self) -> int:
        """The most memory added since the process started, whatever was reset in between, in bytes."""
        return max(self._highest_bytes, self.peak_bytes())

    def enforce(self) -> None:
        """Limits further allocations to what is left of the budget (RLIMIT_DATA)."""
        if not _STATUS.exists():
            return
        left = max(0, self._budget_bytes - self.added_bytes())
        _limit_data(read_status(_STATUS)["VmData"] + left + _UNTOUCHED_BYTES)

    def guard(self) -> None:
        """A looser limit for the time before `enforce`: catches one absurd allocation between two looks of the parent."""
        if _STATUS.exists():
            _limit_data(read_status(_STATUS)["VmData"] + 2 * self._budget_bytes + (1 << 30))

    def _look(self) -> int:
        """The most memory held since the last reset, as far as the kernel and the looks so far tell it."""
        with self._reading:
            rows = read_status(_STATUS)
            self._seen = self._seen.then(rows["VmHWM"], rows["RssFile"], rows["RssAnon"] + rows["RssShmem"])
            return self._seen.peak_bytes

    def _look_again(self) -> None:
        pause = threading.Event()
        while not pause.wait(_EVERY_S):
            self._look()

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

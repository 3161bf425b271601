"""How much memory this process added, measured by the kernel, and a limit that ends in an error instead of a kill.

The peak is the kernel's high-water mark (VmHWM, reset through /proc/self/clear_refs) less what the process started
with and less file-backed pages: libraries that a job happens to touch are shared and can be dropped, so they are not
the job's. The mark counts them as they were at the peak and the kernel does not keep that number: where libraries are
touched after the peak, as while a model is opened, a thread reads both often enough to know it (`Meter.watch`).
Sampling alone reads low, and Python's own tracing sees nothing of a framework's tensors.

The limit counts what is mapped, touched or not. Kernels may map far more than they touch: without oneDNN,
TensorFlow maps all of a convolution's unfolded input (some 300 MiB a row where 64 MiB are ever touched). What calls did that ran is
allowed to those that follow; pages really held are watched by the parent.

Source: proc(5): VmHWM, VmData, RssFile, clear_refs value 5; getrlimit(2): RLIMIT_DATA.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

_STATUS = Path("/proc/self/status")
_ROW = re.compile(r"^((?:Vm|Rss)\w+):\s+(\d+)", re.MULTILINE)
_EVERY_S = 0.005
_UNTOUCHED_BYTES = 24 << 20
"""What may be mapped beyond the budget: stacks of threads to come and scratch space count when mapped, not when touched."""


def read_status(path: Path) -> dict[str, int]:
    """Returns the memory rows of a /proc status file in bytes: VmHWM, VmRSS, RssAnon, RssFile, RssShmem, VmData."""
    return {name: int(size) * 1024 for name, size in _ROW.findall(path.read_text())}


@dataclass(frozen=True)
class _Seen:
    """What the looks since the last reset found."""

    mark_bytes: int = 0
    file_bytes: int | None = None
    peak_bytes: int = 0
    first_held_bytes: int = 0
    first_untouched_bytes: int = 0
    untouched_bytes: int = 0
    """Most that was mapped to be written and not touched."""

    def then(self, rows: Mapping[str, int]) -> _Seen:
        """After one more look. Where the mark rose, file-backed pages were between those of the two looks."""
        mark, in_files, held = rows["VmHWM"], rows["RssFile"], _private_bytes(rows)
        untouched = rows["VmData"] - held
        peak = max(self.peak_bytes, held)
        if mark > self.mark_bytes:
            before = in_files if self.file_bytes is None else self.file_bytes
            peak = max(peak, mark - (before + in_files) // 2)
        if self.file_bytes is None:
            return _Seen(mark, in_files, peak, held, untouched, untouched)
        return replace(
            self,
            mark_bytes=mark,
            file_bytes=in_files,
            peak_bytes=peak,
            untouched_bytes=max(self.untouched_bytes, untouched),
        )

    def scratch(self, rows: Mapping[str, int]) -> float:
        """What was mapped for a while and never touched, as a multiple of what was; stacks and pools of threads stay."""
        lasting = max(self.first_untouched_bytes, rows["VmData"] - _private_bytes(rows))
        passing = self.untouched_bytes - lasting
        return (
            0.0
            if passing <= _UNTOUCHED_BYTES
            else passing / max(_UNTOUCHED_BYTES, self.peak_bytes - self.first_held_bytes)
        )


class Meter:
    """Measures and limits the process it was made in. Make it before containment: it keeps one file open."""

    def __init__(self, budget_bytes: int) -> None:
        self._budget_bytes = budget_bytes
        self._clear_refs: int | None = None
        self._base_bytes = self._highest_bytes = 0
        self._reading = threading.Lock()
        self._seen, self._scratch = _Seen(), 0.0
        self._resting = threading.Event()
        self._resting.set()
        with contextlib.suppress(OSError):
            self._clear_refs = os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)
        self.reset()
        self._base_bytes, self._highest_bytes = self._held_bytes(), 0

    def watch(self) -> None:
        """Reads the mark every few milliseconds from now on, in a thread that ends with the process or in `rest`."""
        if _STATUS.exists() and self._clear_refs is not None and self._resting.is_set():
            self._resting = threading.Event()
            threading.Thread(target=self._look_again, args=(self._resting,), name="memory meter", daemon=True).start()

    def rest(self) -> None:
        """Ends what `watch` began: from now on only the kernel's mark counts."""
        self._resting.set()

    def reset(self) -> None:
        """Starts a new measurement of the peak."""
        self._highest_bytes = self.highest_bytes()
        self._learn()
        with self._reading:
            if self._clear_refs is not None:
                os.write(self._clear_refs, b"5")
            self._seen = _Seen()
        self.peak_bytes()  # what the looks to come are compared with

    def start_here(self) -> None:
        """Counts from what is held now: what came before was our own work, none of the user's process."""
        self._base_bytes = self._held_bytes()
        self._highest_bytes = 0
        self.reset()

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
        """Limits further allocations to what is left of the budget (RLIMIT_DATA), and what calls so far mapped beyond it."""
        if not _STATUS.exists():
            return
        self._learn()
        left = max(0, self._budget_bytes - self.added_bytes())
        _limit_data(read_status(_STATUS)["VmData"] + int(left * (1 + self._scratch)) + _UNTOUCHED_BYTES)

    def guard(self) -> None:
        """A looser limit for the time before `enforce`: catches one absurd allocation between two looks of the parent."""
        if _STATUS.exists():
            _limit_data(read_status(_STATUS)["VmData"] + 2 * self._budget_bytes + (1 << 30))

    def _learn(self) -> None:
        """Keeps how much the calls since the last reset mapped beyond what they touched."""
        if _STATUS.exists() and self._seen.file_bytes is not None:
            with self._reading:
                self._scratch = max(self._scratch, self._seen.scratch(read_status(_STATUS)))

    def _look(self) -> int:
        """The most memory held since the last reset, as far as the kernel and the looks so far tell it."""
        with self._reading:
            self._seen = self._seen.then(read_status(_STATUS))
            return self._seen.peak_bytes

    def _look_again(self, resting: threading.Event) -> None:
        while not resting.wait(_EVERY_S):
            self._look()

    def _held_bytes(self) -> int:
        if not _STATUS.exists():
            unit = 1 if sys.platform == "darwin" else 1024
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        return _private_bytes(read_status(_STATUS))


def _private_bytes(rows: Mapping[str, int]) -> int:
    return rows["RssAnon"] + rows["RssShmem"]


def _limit_data(size_bytes: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(
        resource.RLIMIT_DATA, (size_bytes if hard == resource.RLIM_INFINITY else min(size_bytes, hard), hard)
    )

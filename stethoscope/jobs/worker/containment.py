"""What a worker may reach, taken away layer by layer before it sees the first untrusted byte.

L0 (every system): own process group, resource limits, clean environment, own folder.
L1 (Linux): no capabilities, Landlock, seccomp. A missing layer never stops a job; `stethoscope doctor` says which are there.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from stethoscope.jobs.worker import landlock, seccomp
from stethoscope.types import Budget

LIBRARIES = tuple(
    Path(path)
    for path in (
        "/usr",
        "/lib",
        "/lib64",
        "/bin",
        "/etc/ld.so.cache",
        "/etc/ld.so.conf",
        "/etc/ld.so.conf.d",
        "/etc/localtime",
        "/opt/nvidia",
        "/proc/self",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/stat",
        "/proc/sys/kernel",
        "/proc/sys/vm",
        "/proc/driver/nvidia",
        "/sys/devices",
        "/sys/bus/pci",
        "/sys/class/drm",
        "/sys/fs/cgroup",
        "/dev/urandom",
        "/dev/random",
        "/dev/zero",
        "/nix/store",
        "/opt/homebrew",
    )
)
_NICENESS = 5
_OOM_SCORE = 800
"""Of 1000, which is to be killed first whatever it holds."""
_PR_SET_PDEATHSIG = 1
_CAPABILITY_VERSION_3 = 0x20080522


def die_with_parent() -> None:
    """Asks the kernel to kill this process when the one that forked it ends (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def settle(folder: Path) -> None:
    """Moves this process into its own group and folder, with every temporary file going there; the app goes first.

    It has the processor first, and when the machine runs out of memory the kernel ends a worker before it.
    """
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    with contextlib.suppress(OSError):
        score = Path("/proc/self/oom_score_adj")
        score.write_text(str(min(1000, max(_OOM_SCORE, int(score.read_text()) + 100))))
    scratch = folder / "tmp"
    scratch.mkdir(exist_ok=True)
    os.chdir(folder)
    os.environ.update(TMPDIR=str(scratch), HOME=str(scratch), XDG_CACHE_HOME=str(scratch))
    tempfile.tempdir = str(scratch)


def limit(budget: Budget) -> None:
    """Sets the limits that hold even if the parent dies: processor seconds, file size, threads, no core dumps."""
    seconds = int(budget.timeout_s * (os.cpu_count() or 1)) + 10
    _lower(resource.RLIMIT_CPU, seconds)
    _lower(resource.RLIMIT_FSIZE, budget.disk_bytes)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_NOFILE, 4096)


def contain(folder: Path, readable: Iterable[Path]) -> dict[str, bool]:
    """Takes away everything but `folder` (writable), `readable` and the libraries; returns which layers took hold.

    A layer that the kernel has but refuses to apply counts as missing, and the worker's log says why.
    """
    _drop_capabilities()
    devices = [Path("/dev/null"), *Path("/dev").glob("nvidia*")] if sys.platform == "linux" else []
    return {
        "landlock": _applied(lambda: landlock.restrict([*libraries(), *readable], [folder], devices) > 0),
        "seccomp": _applied(seccomp.install),
    }


def libraries() -> list[Path]:
    """Read-only places every worker needs: the system's libraries, the interpreter, its packages, and this one."""
    own = Path(__file__).resolve().parents[2]
    prefixes = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()}
    return [*LIBRARIES, *sorted(prefixes), own]


def _applied(layer: Callable[[], bool]) -> bool:
    try:
        return layer()
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        return False


def _lower(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    capped = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (capped, capped))


def _drop_capabilities() -> None:
    """A worker started by root keeps its user id but none of root's powers."""
    if sys.platform != "linux":
        return
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None, use_errno=True).capset(ctypes.byref(header), ctypes.byref(nothing))

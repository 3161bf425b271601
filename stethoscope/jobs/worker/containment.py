"""What a worker may reach, taken away layer by layer before it sees the first untrusted byte.

L0 (every system): own process group, resource limits, clean environment, own folder.
L1 (Linux): no capabilities, Landlock, seccomp. A missing layer never stops a job; `stethoscope doctor` says which are there.

Landlock: after `restrict`, this process reaches only the named paths, and no TCP port or foreign process at all.

Source: https://docs.kernel.org/userspace-api/landlock.html (ABI 1, Linux 5.13, to ABI 7).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from stethoscope.jobs.worker import seccomp
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
        "landlock": _applied(lambda: restrict([*libraries(), *readable], [folder], devices) > 0),
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


_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_ABI1 = (1 << 13) - 1
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_NET_TCP = 0b11
_SCOPE_ABSTRACT_UNIX_AND_SIGNALS = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def abi() -> int:
    """The kernel's Landlock version; 0 when it has none."""
    if platform.system() != "Linux":
        return 0
    return max(0, int(_libc().syscall(_CREATE_RULESET, None, 0, 1)))


def restrict(read: Iterable[Path], write: Iterable[Path], devices: Iterable[Path] = ()) -> int:
    """Confines this process (all its threads from here on) for good; returns the ABI used, 0 for none.

    Args:
        read: files and folders it may read and map as code.
        write: folders it may do anything in.
        devices: device files it may read, write and ioctl.

    Raises:
        OSError: the kernel has Landlock but refused a rule.
    """
    version = abi()
    if version == 0:
        return 0
    handled = (
        _ABI1
        | (_REFER if version >= 2 else 0)
        | (_TRUNCATE if version >= 3 else 0)
        | (_IOCTL_DEV if version >= 5 else 0)
    )
    ruleset = _Ruleset(
        handled, _NET_TCP if version >= 4 else 0, _SCOPE_ABSTRACT_UNIX_AND_SIGNALS if version >= 6 else 0
    )
    size = 8 if version < 4 else 16 if version < 6 else 24
    libc = _libc()
    descriptor = _checked(libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), size, 0), "create ruleset")
    try:
        for paths, access in (
            (read, _EXECUTE | _READ_FILE | _READ_DIR),
            (write, handled),
            (devices, _READ_FILE | _WRITE_FILE | _IOCTL_DEV),
        ):
            for path in paths:
                _allow(libc, descriptor, path, access & handled)
        _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        _checked(libc.syscall(_RESTRICT_SELF, descriptor, 0), "restrict self")
    finally:
        os.close(descriptor)
    return version


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not path.is_dir():
            access &= _ON_FILES
        rule = _PathBeneath(access, descriptor)
        _checked(libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0), f"rule for {path}")
    finally:
        os.close(descriptor)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock, {what}: {os.strerror(number)}")
    return int(result)

"""Landlock: after `restrict`, this process reaches only the named paths, and no TCP port or foreign process at all.

Source: https://docs.kernel.org/userspace-api/landlock.html (ABI 1, Linux 5.13, to ABI 7).
"""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Iterable
from pathlib import Path

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

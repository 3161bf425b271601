"""Seccomp: a filter that takes sockets, new programs, new processes and the kernel's sharper tools from this process.

Written as classic BPF because the one binding on PyPI needs a system library that a fresh machine may lack.
Source: https://docs.kernel.org/userspace-api/seccomp_filter.html; syscall numbers from the kernel's unistd tables.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

_X86_64, _AARCH64 = 0, 1
_ARCHITECTURES = {"x86_64": (_X86_64, 0xC000003E), "aarch64": (_AARCH64, 0xC00000B7)}

_DENIED: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
    "connect": (42, 203),
    "accept": (43, 202),
    "accept4": (288, 242),
    "bind": (49, 200),
    "listen": (50, 201),
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "setuid": (105, 146),
    "setgid": (106, 144),
}
_ONLY_SELF = {"kill": (62, 129), "tgkill": (234, 131)}
_CLONE, _CLONE3 = (56, 220), (435, 435)
_CLONE_THREAD = 0x00010000

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_OR_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENT0 = 0, 4, 16
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_X32_BIT = 0x40000000


def supported() -> bool:
    """Whether this machine's kernel and processor have a filter here."""
    return platform.system() == "Linux" and platform.machine() in _ARCHITECTURES


def program(machine: str, own_pid: int) -> bytes:
    """The filter as BPF instructions: foreign ABIs are killed, what is listed answers EPERM, all else passes."""
    column, audit = _ARCHITECTURES[machine]
    deny = _RETURN, 0, 0, 0x00050000 | errno.EPERM
    code: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if column == _X86_64:
        code += [(_JUMP_GREATER_OR_EQUAL, 0, 1, _X32_BIT), deny]
    for numbers in _DENIED.values():
        number = numbers[column]
        if number is not None:
            code += [(_JUMP_EQUAL, 0, 1, number), deny]
    # glibc falls back to clone, whose flags a filter can see, when clone3 is not implemented.
    code += [(_JUMP_EQUAL, 0, 1, _CLONE3[column]), (_RETURN, 0, 0, 0x00050000 | errno.ENOSYS)]
    code += [
        (_JUMP_EQUAL, 0, 4, _CLONE[column]),
        (_LOAD, 0, 0, _ARGUMENT0),
        (_JUMP_SET, 1, 0, _CLONE_THREAD),
        deny,
        (_RETURN, 0, 0, _ALLOW),
    ]
    for numbers_self in _ONLY_SELF.values():
        code += [
            (_JUMP_EQUAL, 0, 4, numbers_self[column]),
            (_LOAD, 0, 0, _ARGUMENT0),
            (_JUMP_EQUAL, 1, 0, own_pid),
            deny,
            (_RETURN, 0, 0, _ALLOW),
        ]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def install() -> bool:
    """Installs the filter for this process, for good; returns False where the machine has no support.

    Raises:
        OSError: the kernel refused it.
    """
    if not supported():
        return False
    code = program(platform.machine(), os.getpid())
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    header = Program(len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        _PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(header), 0, 0
    ):
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")
    return True

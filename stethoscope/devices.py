"""What this machine has to run models on: its processor and memory, and its NVIDIA cards, with what is free right now.

Cards are asked through NVML (nvidia-ml-py), which needs only their driver: whether TensorFlow can use them is another
question, answered by a worker (the job `devices`).

Source: proc_meminfo(5): MemTotal, MemAvailable; Linux cgroup v2: memory.max, memory.current, cpu.max (v1:
memory.limit_in_bytes, cpu.cfs_quota_us); NVML API reference, docs.nvidia.com/deploy/nvml-api.

How many threads ONNX Runtime and LiteRT compute with in this process: chosen before a model is loaded.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

CGROUP = Path("/sys/fs/cgroup")
_MOST_FLOOR_BYTES = 512 << 20
_UNLIMITED_BYTES = 1 << 60
"""cgroup v1 writes a number near 2⁶³ for "no limit"."""


@dataclass(frozen=True)
class CardHolder:
    """A process that computes on a card."""

    pid: int
    """0 where the driver hides it, as from within a container."""
    used_bytes: int | None
    """None where the driver does not say."""


@dataclass(frozen=True)
class Gpu:
    """One NVIDIA card. Memory in bytes; a number the driver does not give is None."""

    index: int
    name: str
    total_bytes: int
    free_bytes: int
    used_bytes: int
    utilisation_fraction: float | None = None
    """Share of the last second in which something ran on it."""
    driver_version: str = ""
    compute_capability: str = ""
    holders: tuple[CardHolder, ...] = ()
    """Processes that hold some of it now, the largest first; others' may be missing."""


@dataclass(frozen=True)
class SeenDevice:
    """A device that TensorFlow sees."""

    name: str
    type: str
    """"CPU", "GPU", …"""
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Machine:
    """The host and its cards. Memory in bytes."""

    processor: str
    cores: int
    """Processors this process may be scheduled on."""
    core_limit: float | None
    """Processors' worth of time its control group allows; None without a limit."""
    total_bytes: int
    available_bytes: int
    """What could be had now without swapping, within the control group's limit."""
    group_limit_bytes: int | None
    """The memory limit of the control group (a container); None without one."""
    gpus: tuple[Gpu, ...] = ()
    gpus_reason: str = ""
    """Why there are no cards in the list."""

    @property
    def usable_bytes(self) -> int:
        """The memory that processes here can have altogether."""
        return min(self.total_bytes, self.group_limit_bytes or self.total_bytes)


def this_machine(cgroup: Path = CGROUP) -> Machine:
    """Looks at the machine now; takes a few milliseconds, more where there are cards."""
    total, available = _memory()
    limit, used = _group_memory(cgroup)
    if limit is not None and limit < total:
        available = min(available, max(0, limit - used))
    else:
        limit = None
    gpus, reason = _gpus()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Machine(_processor(), cores, _group_cores(cgroup), total, available, limit, gpus, reason)


def available_bytes(cgroup: Path = CGROUP) -> int:
    """Memory that could be had now without swapping, within the control group's limit.

    Quick, as it is asked often: which control groups have a limit is looked up once.
    """
    total, available = _memory()
    limit, used = _tightest(_limited_groups(cgroup))
    return available if limit is None or limit >= total else min(available, max(0, limit - used))


def usable_bytes(cgroup: Path = CGROUP) -> int:
    """The memory that processes here can have altogether: the machine's, or the control group's limit where that is lower."""
    limit, _ = _group_memory(cgroup)
    total = _memory()[0]
    return total if limit is None else min(total, limit)


def default_floor_bytes() -> int:
    """What is kept free of the usable memory where nothing else was set: 512 MiB, or a twentieth if that is less."""
    return min(_MOST_FLOOR_BYTES, usable_bytes() // 20)


@dataclass(frozen=True)
class Device:
    """What a model can be run on; sizes are None where they are not known."""

    name: str
    type: str
    details: Mapping[str, str] = field(default_factory=dict)
    """What TensorFlow says of it."""
    title: str = ""
    total_bytes: int | None = None
    free_bytes: int | None = None
    usable: bool = True
    reason: str = ""
    """Why it is not."""


def device_list(seen: Sequence[SeenDevice], machine: Machine) -> tuple[Device, ...]:
    """The devices TensorFlow sees, each with the memory it has now; cards that only the driver knows come last.

    Args:
        seen: as the job `devices` answers.
        machine: what is there.
    """
    cards = list(machine.gpus)
    devices = []
    for known in seen:
        device = Device(known.name, known.type, known.details)
        if device.type == "CPU":
            title = f"{machine.processor}, {machine.cores} cores"
            device = replace(device, title=title, total_bytes=machine.usable_bytes, free_bytes=machine.available_bytes)
        elif device.type == "GPU" and cards:
            device = _with_card(device, cards.pop(0))
        devices.append(device)
    reason = "The driver knows it, TensorFlow does not: install tensorflow[and-cuda], and a driver new enough for it."
    unseen = (_with_card(Device(f"card {card.index}", "GPU", usable=False, reason=reason), card) for card in cards)
    return (*devices, *unseen)


def _with_card(device: Device, card: Gpu) -> Device:
    return replace(device, title=card.name, total_bytes=card.total_bytes, free_bytes=card.free_bytes)


def _memory() -> tuple[int, int]:
    import psutil

    memory = psutil.virtual_memory()
    return int(memory.total), int(memory.available)


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _group_memory(root: Path) -> tuple[int | None, int]:
    """(tightest limit, memory in use under it) of the control groups this process is in, in bytes.

    Cached files that the kernel would drop before it runs out do not count as used.
    """
    return _tightest(_groups_with_limit(root))


def _tightest(groups: Sequence[tuple[Path, Path]]) -> tuple[int | None, int]:
    found: list[tuple[int, int]] = []
    for limit_file, used_file in groups:
        limit, used = _number(limit_file), _number(used_file)
        if limit is not None:
            found.append((limit, max(0, (used or 0) - _droppable(used_file.with_name("memory.stat")))))
    return min(found, key=lambda pair: pair[0] - pair[1]) if found else (None, 0)


def _groups_with_limit(root: Path) -> tuple[tuple[Path, Path], ...]:
    """Of each control group with a limit: the files with the limit and with what is used."""
    found: list[tuple[Path, Path]] = []
    for folder in group_folders(root, "memory", group_membership()):
        for limit_name, used_name in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            limit = _number(folder / limit_name)
            if limit is not None and limit < _UNLIMITED_BYTES:
                found.append((folder / limit_name, folder / used_name))
    return tuple(found)


_limited_groups = functools.cache(_groups_with_limit)


def _droppable(statistics: Path) -> int:
    """Bytes of files in the cache that nobody has used lately, of a control group and those below it."""
    with contextlib.suppress(OSError, ValueError):
        rows = dict(line.split() for line in statistics.read_text().splitlines())
        return int(rows.get("total_inactive_file", rows.get("inactive_file", 0)))
    return 0


def _group_cores(root: Path) -> float | None:
    found: list[float] = []
    for folder in group_folders(root, "cpu", group_membership()):
        with contextlib.suppress(OSError, ValueError):
            quota, _, period = (folder / "cpu.max").read_text().partition(" ")
            if quota != "max":
                found.append(int(quota) / int(period))
        quota_us, period_us = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
        if quota_us and period_us and quota_us > 0:
            found.append(quota_us / period_us)
    return min(found) if found else None


def group_membership(pid: int | None = None) -> str:
    """What the kernel says of the control groups that a process is in (proc_pid_cgroup(5)); None: of this process.

    "" where it says nothing: the process is gone, or this is not Linux.
    """
    try:
        return Path(f"/proc/{pid or 'self'}/cgroup").read_text()
    except OSError:
        return ""


def group_folders(root: Path, controller: str, membership: str) -> Iterator[Path]:
    """The folders of the control group that a membership names and of its parents, innermost first, for both versions."""
    own: list[Path] = []
    for line in membership.splitlines():
        _, names, path = line.split(":", 2)
        if not names:
            own.append(root / path.lstrip("/"))
        elif controller in names.split(","):
            own.append(root / controller / path.lstrip("/"))
    seen: set[Path] = set()
    for folder in [*own, root, root / controller]:
        current = folder
        while current not in seen and (current == root or root in current.parents):
            seen.add(current)
            yield current
            current = current.parent


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _gpus() -> tuple[tuple[Gpu, ...], str]:
    try:
        import pynvml
    except ImportError:
        return (), "nvidia-ml-py is not installed."
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return (), f"No NVIDIA driver answers: {error}."
    try:
        count = int(pynvml.nvmlDeviceGetCount())
        found = tuple(_gpu(pynvml, index) for index in range(count))
    except pynvml.NVMLError as error:
        return (), f"The NVIDIA driver gave no list of cards: {error}."
    finally:
        pynvml.nvmlShutdown()
    return found, "" if found else "The NVIDIA driver knows no card."


def _gpu(pynvml: Any, index: int) -> Gpu:
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    memory = _card_memory(pynvml, handle)
    busy: float | None = None
    driver = capability = ""
    holders: list[CardHolder] = []
    with contextlib.suppress(pynvml.NVMLError):
        for process in pynvml.nvmlDeviceGetComputeRunningProcesses(handle):
            holders.append(CardHolder(int(process.pid), process.usedGpuMemory))
    with contextlib.suppress(pynvml.NVMLError):
        busy = pynvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100
    with contextlib.suppress(pynvml.NVMLError):
        driver = _text(pynvml.nvmlSystemGetDriverVersion())
    with contextlib.suppress(pynvml.NVMLError):
        capability = ".".join(str(part) for part in pynvml.nvmlDeviceGetCudaComputeCapability(handle))
    held = tuple(sorted(holders, key=lambda holder: -(holder.used_bytes or 0)))
    sizes = int(memory.total), int(memory.free), int(memory.used)
    return Gpu(index, _text(pynvml.nvmlDeviceGetName(handle)), *sizes, busy, driver, capability, held)


def _card_memory(pynvml: Any, handle: Any) -> Any:
    """What nvidia-smi says too: the first version of the call counts what the driver keeps for itself (480 MiB of an H100) as used."""
    try:
        return pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
    except pynvml.NVMLError:  # a driver before 510
        return pynvml.nvmlDeviceGetMemoryInfo(handle)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


DEFAULT = 2
"""Where nothing is chosen: what a small machine has, and enough for one model among others."""
_CHOSEN = [DEFAULT]


def choose(number: int | None) -> None:
    """Sets the threads of models that are loaded from now on; None for the default. Once per job, before the first."""
    _CHOSEN[0] = number or DEFAULT


def chosen() -> int:
    """Threads within one operation."""
    return _CHOSEN[0]

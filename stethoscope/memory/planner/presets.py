"""Accelerators by name, with the memory a TensorFlow program can really use on one of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from stethoscope.errors import BadSetting
from stethoscope.sizes import parse_size

_MIB = 1 << 20
_GIB = 1 << 30
_BIGGEST_DEVICE_BYTES = 1 << 50

Maker = Literal["NVIDIA", "AMD", "Google", "own"]


@dataclass(frozen=True)
class Device:
    """One accelerator as TensorFlow sees it: a GPU, a TPU core (v2, v3), or a TPU chip (v4 and later)."""

    id: str
    title: str
    maker: Maker
    memory_bytes: int
    """What is built in, as the driver reports it."""
    usable_bytes: int
    """What a program can allocate: the memory without what driver, compiler and TensorFlow keep for themselves."""
    source: str
    """Where `usable_bytes` comes from."""

    @property
    def is_tpu(self) -> bool:
        """Whether `tf.distribute.TPUStrategy` is the way to it."""
        return self.maker == "Google"


_LOG = "TensorFlow's own log line “Created device … GPU:0 with {} MB memory” on this card; total from nvidia-smi"
_XLA = "XLA's message “Ran out of memory in memory space hbm. Used … of {}G hbm” on this TPU"
_TPU_DOCS = "cloud.google.com/tpu/docs/system-architecture"


def _logged(name: str, title: str, total_mib: int, usable_mib: int) -> Device:
    return Device(name, title, "NVIDIA", total_mib * _MIB, usable_mib * _MIB, _LOG.format(usable_mib))


def gpu_usable_bytes(total_bytes: int, compute_capability: int) -> int:
    """What TensorFlow can allocate on an otherwise empty NVIDIA card of `total_bytes`.

    TensorFlow leaves 500, 1050, 1536 or 1800 MiB (compute capability 6, 7, 8, 9 and later) to the system; the CUDA
    context takes some more. On nine cards with a published log the rest was 96–99 % of total − reserve; 97 % is used.

    Source: `MinSystemMemory` in tensorflow/core/common_runtime/gpu/gpu_device.cc; github.com/modal-labs/modal-client/pull/2797
    for nvidia-smi totals.
    """
    reserve_mib = {6: 500, 7: 1050, 8: 1536}.get(compute_capability, 500 if compute_capability < 6 else 1800)
    return int((total_bytes - reserve_mib * _MIB) * 0.97)


def _reserved(name: str, title: str, total_mib: int, compute_capability: int) -> Device:
    total = total_mib * _MIB
    source = (
        "Total from nvidia-smi, less TensorFlow's reserve (MinSystemMemory in gpu_device.cc) and 3 % for the context"
    )
    return Device(name, title, "NVIDIA", total, gpu_usable_bytes(total, compute_capability), source)


def _tpu(name: str, title: str, total_gib: float, usable_gib: float) -> Device:
    source = f"{_XLA.format(f'{usable_gib:g}')}; capacity {_TPU_DOCS}"
    return Device(name, title, "Google", int(total_gib * _GIB), int(usable_gib * _GIB), source)


_ALL = (
    _tpu("tpu-v2", "TPU v2, one core", 8, 7.48),
    _tpu("tpu-v3", "TPU v3, one core", 16, 15.48),
    _tpu("tpu-v4", "TPU v4, one chip", 32, 30.75),
    _tpu("tpu-v5e", "TPU v5e, one chip", 16, 15.75),
    _tpu("tpu-v5p", "TPU v5p, one chip", 96, 95.74),
    _tpu("tpu-v6e", "TPU v6e (Trillium), one chip", 32, 31.25),
    _logged("t4", "NVIDIA T4", 15360, 13942),
    _logged("p100", "NVIDIA P100 16 GB", 16280, 15511),
    _logged("v100-16", "NVIDIA V100 16 GB", 16160, 14518),
    _logged("v100-32", "NVIDIA V100 32 GB", 32510, 30935),
    _reserved("a10", "NVIDIA A10", 23028, 8),
    _reserved("a10g", "NVIDIA A10G", 23028, 8),
    _logged("l4", "NVIDIA L4", 23034, 20967),
    _reserved("l40s", "NVIDIA L40S", 46068, 8),
    _logged("rtx-3090", "NVIDIA GeForce RTX 3090", 24576, 22298),
    _logged("rtx-4090", "NVIDIA GeForce RTX 4090", 24564, 22100),
    _logged("a100-40", "NVIDIA A100 40 GB", 40960, 38366),
    _logged("a100-80", "NVIDIA A100 80 GB", 81920, 78945),
    _logged("h100-80", "NVIDIA H100 80 GB", 81559, 78763),
    _logged("h200", "NVIDIA H200 141 GB", 143771, 138533),
    _reserved("b200", "NVIDIA B200", 183359, 10),
    Device(
        "mi300x",
        "AMD Instinct MI300X",
        "AMD",
        192 * _GIB,
        int(192 * _GIB * 0.95),
        "192 GB HBM3 by AMD's data sheet; 5 % for driver and runtime is an assumption",
    ),
)
DEVICES: dict[str, Device] = {device.id: device for device in _ALL}
"""Device presets by id."""

_ALIASES = {
    "v100": "v100-16",
    "v100-16gb": "v100-16",
    "v100-32gb": "v100-32",
    "p100-16": "p100",
    "a100": "a100-40",
    "a100-40gb": "a100-40",
    "a100-80gb": "a100-80",
    "h100": "h100-80",
    "h100-80gb": "h100-80",
    "rtx3090": "rtx-3090",
    "3090": "rtx-3090",
    "rtx4090": "rtx-4090",
    "4090": "rtx-4090",
    "trillium": "tpu-v6e",
    "tpu-v5litepod": "tpu-v5e",
    "tpu-v5lite": "tpu-v5e",
}


def named(text: str) -> Device | None:
    """Returns the preset a person may mean by `text` ("T4", "TPU v5e", "nvidia-a100-80gb"), or None."""
    key = re.sub(r"[\s_]+", "-", text.strip().lower())
    key = re.sub(r"^((nvidia|amd|google|cloud|geforce|tesla|instinct)-)+", "", key)
    key = _ALIASES.get(key, key)
    if re.fullmatch(r"v\d[ep]?", key):
        key = f"tpu-{key}"
    return DEVICES.get(key)


def device(text: str) -> Device:
    """Returns the preset called `text`, or a device of that size: "16GB", "80 GiB".

    A size is taken as usable in full: whoever types it has taken off what is not.

    Raises:
        BadSetting: neither a known device nor a sensible size.
    """
    found = named(text)
    if found is not None:
        return found
    try:
        memory_bytes = parse_size(text)
    except BadSetting:
        known = ", ".join(DEVICES)
        raise BadSetting(f"Device {text!r}: expected a memory size such as 16GB, or one of {known}.") from None
    if memory_bytes > _BIGGEST_DEVICE_BYTES:
        raise BadSetting(f"Device {text!r}: expected at most 1 PiB of memory. Give the size of one device.")
    return Device("own", f"a device with {text.strip()}", "own", memory_bytes, memory_bytes, "given")

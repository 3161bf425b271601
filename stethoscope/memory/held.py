"""What a process holds between calls: resident pages, bytes in use in the C heap, and bytes on a card. Used in a worker.

The kernel's number moves by pages, and stays up after memory was freed; the heap's is exact but knows nothing of small
Python objects. TensorFlow's tensors on a CPU are in the heap. Source: mallinfo(3) of glibc ≥ 2.33; proc(5); tf.config.experimental.get_memory_info.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from dataclasses import dataclass

from stethoscope.memory.allocation import give_back
from stethoscope.task import MemoryMeter

_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _HeapInfo(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in _FIELDS.split())


@dataclass(frozen=True)
class Held:
    """Bytes held at one moment; None where this system cannot tell."""

    resident_bytes: int
    heap_bytes: int | None
    device_bytes: int | None


class Holdings:
    """Reads what is held. Garbage is collected before each reading, so that only what is reachable counts."""

    def __init__(self, meter: MemoryMeter, device: str = "") -> None:
        """Takes the job's meter, and the name of a card ("GPU:0") where the model runs on one."""
        self._meter, self._device = meter, device
        self._heap = _heap_reader()

    def settle(self) -> None:
        """Sets everything that exists now aside, which makes collecting fast and leaves only what comes later."""
        gc.collect()
        give_back()
        gc.freeze()

    def read(self) -> Held:
        """What is held now."""
        gc.collect()
        return Held(
            self._meter.added_bytes(),
            None if self._heap is None else self._heap(),
            _on_device(self._device) if self._device else None,
        )

    def release(self) -> None:
        """Undoes `settle`."""
        gc.unfreeze()


def _heap_reader() -> Callable[[], int] | None:
    info = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if info is None:
        return None
    info.restype = _HeapInfo

    def read() -> int:
        found = info()
        return int(found.uordblks + found.hblkhd)

    return read


def card() -> str:
    """The first card TensorFlow runs on in this process, as a device's name; "" where it runs on the CPU."""
    import tensorflow as tf

    return "GPU:0" if tf.config.list_logical_devices("GPU") else ""


def _on_device(device: str) -> int | None:
    import tensorflow as tf

    try:
        return int(tf.config.experimental.get_memory_info(device)["current"])
    except (ValueError, KeyError, RuntimeError):
        return None

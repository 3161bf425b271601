"""How a worker's memory is allocated, so that its peak is what the model needs and not what an earlier call left.

On the CPU TensorFlow with oneDNN draws from a pool that grows by doubling and never gives back: what a batch adds then
depends on the batches before it (a U-Net at batch 64: 312 MiB in a fresh process, 459 MiB after smaller batches), and
no small batch tells the peak of a large one. With the system's allocator, and every larger block mapped on its own,
memory is given back when a tensor dies, and the peak follows the tensors.

Source: tensorflow/core/common_runtime/mkl_cpu_allocator.h, TF_ONEDNN_USE_SYSTEM_ALLOCATOR; mallopt(3), M_MMAP_THRESHOLD
(setting it ends its adapting); malloc_trim(3).
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any

POOL_VARIABLE = "TF_ONEDNN_USE_SYSTEM_ALLOCATOR"
MAPPED_FROM_BYTES = 64 << 10
"""Blocks from this size are mapped on their own; glibc starts with 128 KiB and raises it to 32 MiB by itself."""
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8


def give_back_at_once() -> None:
    """Makes this process return freed memory to the system. Called before the framework's first operation."""
    os.environ.setdefault(POOL_VARIABLE, "1")
    library = _glibc()
    if library is not None:
        library.mallopt(_M_MMAP_THRESHOLD, MAPPED_FROM_BYTES)
        library.mallopt(_M_ARENA_MAX, 1)  # each arena keeps what its threads freed


def give_back() -> None:
    """Returns what is free in the allocator to the system, so that it is not taken for needed."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


@functools.cache
def _glibc() -> Any:
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None

"""How a worker's memory is allocated, so that its peak is what the model needs and not what an earlier call left.

On the CPU TensorFlow with oneDNN draws from a pool that grows by doubling and never gives back: what a batch adds then
depends on the batches before it (a U-Net at batch 64: 312 MiB in a fresh process, 459 MiB after smaller batches), and
no small batch tells the peak of a large one. With the system's allocator, and every larger block mapped on its own,
memory is given back when a tensor dies, and the peak follows the tensors.

Source: tensorflow/core/common_runtime/mkl_cpu_allocator.h, TF_ONEDNN_USE_SYSTEM_ALLOCATOR; mallopt(3), M_MMAP_THRESHOLD
(setting it ends its adapting); malloc_trim(3).
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Iterator
from typing import Any

POOL_VARIABLE = "TF_ONEDNN_USE_SYSTEM_ALLOCATOR"
MAPPED_FROM_BYTES = 64 << 10
"""Blocks from this size are mapped on their own; glibc starts with 128 KiB and raises it to 32 MiB by itself."""
VARIABLES = {POOL_VARIABLE: "1", "MALLOC_MMAP_THRESHOLD_": str(MAPPED_FROM_BYTES), "MALLOC_ARENA_MAX": "1"}
"""The environment in which a process allocates as `give_back_at_once` makes this one allocate, from its start."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -3, -4, -8
_NEVER, _NONE = -1, 0
_TRIMMED_FROM_BYTES, _MOST_MAPPED = 128 << 10, 65_536
"""What glibc starts with."""


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


@contextlib.contextmanager
def keeping_freed() -> Iterator[None]:
    """Keeps freed memory meanwhile, as an ordinary process does: for taking times. Mapping anew costs up to half a call."""
    library = _glibc()
    if library is None or os.environ.get(POOL_VARIABLE) != "1":
        yield
        return
    library.mallopt(_M_MMAP_MAX, _NONE)  # the threshold would go no higher than 32 MiB
    library.mallopt(_M_TRIM_THRESHOLD, _NEVER)
    try:
        yield
    finally:
        library.mallopt(_M_MMAP_MAX, _MOST_MAPPED)
        library.mallopt(_M_TRIM_THRESHOLD, _TRIMMED_FROM_BYTES)
        give_back()


@functools.cache
def _glibc() -> Any:
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None

"""How a model is to be run: call style, batch, precision, XLA, threads, device and memory. Standard library only.

How a worker's memory is allocated, so that its peak is what the model needs and not what an earlier call left.

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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from stethoscope.errors import BadSetting

CALLS = ("predict", "predict_on_batch", "call", "function", "compiled")
"""`model.predict`, `model.predict_on_batch`, `model(x)` eagerly, `tf.function`, and `tf.function(jit_compile=True)`."""
PRECISIONS = ("as saved", "float32", "mixed_float16", "mixed_bfloat16", "float16", "bfloat16")
"""Keras' dtype policies: mixed ones keep float32 variables; "float16" and "bfloat16" halve them too."""
DEVICES = ("auto", "cpu", "gpu")
ALLOCATORS = ("system", "pool")
"""On the CPU: the C library's, freed memory given back at once; or TensorFlow's own pool, which grows by doubling and keeps
what it has. The first needs less and can be foretold, the second is what TensorFlow does when nothing is set, and faster."""


@dataclass(frozen=True)
class RunSettings:
    """One way of running a model. What is None or empty is as TensorFlow has it.

    All sizes are in bytes.
    """

    batch_size: int = 32
    call: str = "function"
    precision: str = "as saved"
    xla: bool = False
    """Compiles with XLA whatever the call style (`jit_compile=True`); "compiled" implies it."""
    allocator: str = "system"
    device: str = "auto"
    gpu_index: int = 0
    intra_threads: int | None = None
    """Threads within one operation."""
    inter_threads: int | None = None
    """Operations at a time."""
    memory_growth: bool = False
    gpu_memory_limit_bytes: int | None = None
    """A hard limit on the card: one logical device of this size."""
    logical_devices: tuple[int, ...] = ()
    """Sizes of several logical devices on the card (or their number, with sizes 0, on the CPU)."""
    memory_limit_bytes: int | None = None
    """What the process may add to its memory; holds on the CPU too."""

    def __post_init__(self) -> None:
        """Raises BadSetting for values that make no sense anywhere."""
        for name, value, known in (
            ("call", self.call, CALLS),
            ("precision", self.precision, PRECISIONS),
            ("device", self.device, DEVICES),
            ("allocator", self.allocator, ALLOCATORS),
        ):
            if value not in known:
                raise BadSetting(f"Setting {name}: expected one of {', '.join(known)}, got {value!r}.")
        for name in ("batch_size", "intra_threads", "inter_threads", "gpu_memory_limit_bytes", "memory_limit_bytes"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise BadSetting(f"Setting {name}: expected at least 1, got {number}.")

    def to_json(self) -> dict[str, Any]:
        """Every setting by name."""
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self)}

    @classmethod
    def from_json(cls, value: Any) -> RunSettings:
        """The inverse of `to_json`; what is missing has its default.

        Raises:
            BadSetting: an unknown name, or a value of the wrong kind.
        """
        if value is None:
            return cls()
        if not isinstance(value, Mapping):
            raise BadSetting(f"Settings: expected an object, got {type(value).__name__}.")
        unknown = set(value) - {item.name for item in fields(cls)}
        if unknown:
            raise BadSetting(
                f"Settings: {min(unknown)!r} is none. Known: {', '.join(item.name for item in fields(cls))}."
            )
        given = dict(value)
        if "logical_devices" in given:
            given["logical_devices"] = tuple(int(size) for size in given["logical_devices"] or ())
        return cls(**given)


@dataclass(frozen=True)
class UsedSettings(RunSettings):
    """How the model was run, and on what."""

    samples: int = 0
    """Rows that were to be predicted."""
    seed: int = 0
    dynamic_size: int | None = None
    """Of the open dimensions of random input."""


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


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

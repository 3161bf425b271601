"""How a model is to be run: call style, batch, precision, XLA, threads, device and memory. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
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


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value

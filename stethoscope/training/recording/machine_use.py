"""What the training process holds right now: main memory, and the memory of each card TensorFlow uses."""

from __future__ import annotations

import functools
from typing import Any

from stethoscope.logs.evidence.tags import MEMORY


def memory_in_use() -> dict[str, float]:
    """Bytes by tag: resident memory of this process; of each card what is held and the most that was held so far."""
    found = {f"{MEMORY}/resident_bytes": float(_process().memory_info().rss)}
    for name in _cards():
        held = _card_memory(name)
        if held:
            card = name.lower().replace(":", "_")
            found[f"{MEMORY}/{card}_bytes"] = float(held["current"])
            found[f"{MEMORY}/{card}_peak_bytes"] = float(held["peak"])
    return found


@functools.cache
def _process() -> Any:
    import psutil

    return psutil.Process()


@functools.cache
def _cards() -> tuple[str, ...]:
    import tensorflow as tf

    return tuple(f"GPU:{index}" for index, _ in enumerate(tf.config.list_logical_devices("GPU")))


def _card_memory(name: str) -> dict[str, int]:
    import tensorflow as tf

    try:
        return dict(tf.config.experimental.get_memory_info(name))
    except ValueError:  # an allocator that keeps no statistics
        return {}

"""The precision a model file was saved in."""

from __future__ import annotations

from collections import Counter

from stethoscope.memory.planner.states import compiled_optimizer
from stethoscope.types import Architecture

_HALF = ("float16", "bfloat16")


def precision_of(architecture: Architecture) -> str:
    """Returns the id of the precision that a file's layers and weights speak of.

    A layer that computes in 16 bits over weights of 32 is Keras' mixed precision; over weights of 16, pure.
    """
    dtypes = Counter(layer.dtype for layer in architecture.layers if layer.parameters)
    half = next((dtype for dtype, _ in dtypes.most_common() if dtype in _HALF), "")
    if not half:
        return "float32"
    each = architecture.weight_bytes / max(1, architecture.parameters)
    kept = 1 + _stored_slots(architecture)
    distance = {
        f"mixed_{half}": min(abs(each - 4), abs(each - 4 * kept)),
        half: min(abs(each - 2), abs(each - 2 * kept)),
    }
    return min(distance, key=lambda name: distance[name])


def _stored_slots(architecture: Architecture) -> int:
    """Values per parameter that a file saved with its optimizer may hold beside the weight."""
    compiled = architecture.compile
    if compiled is None or not compiled.optimizer:
        return 0
    known = compiled_optimizer(compiled.optimizer, {})
    return known.slots if known is not None else 0

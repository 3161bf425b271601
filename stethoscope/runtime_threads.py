"""How many threads ONNX Runtime and LiteRT compute with in this process: chosen before a model is loaded."""

from __future__ import annotations

DEFAULT = 2
"""Where nothing is chosen: what a small machine has, and enough for one model among others."""
_CHOSEN = [DEFAULT]


def choose(number: int | None) -> None:
    """Sets the threads of models that are loaded from now on; None for the default. Once per job, before the first."""
    _CHOSEN[0] = number or DEFAULT


def chosen() -> int:
    """Threads within one operation."""
    return _CHOSEN[0]

"""What a model's file decides of a plan: the optimizer it was compiled with, the precision it was saved in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stethoscope.memory.planner.plan import Settings
from stethoscope.memory.planner.states import Optimizer, compiled_optimizer
from stethoscope.memory.planner.stored_precision import precision_of
from stethoscope.types import Architecture


def for_model(architecture: Architecture, asked: Settings) -> Settings:
    """Replaces "auto" by what the file says: the optimizer it was compiled with, the precision it was saved in."""
    optimizer: str | Optimizer = asked.optimizer
    if optimizer == "auto":
        compiled = architecture.compile
        serialised = compiled.details.get("optimizer") if compiled is not None else None
        config = serialised.get("config") if isinstance(serialised, Mapping) else None
        name = compiled.optimizer if compiled is not None and compiled.optimizer else "adam"
        optimizer = compiled_optimizer(name, config if isinstance(config, Mapping) else {}) or "adam"
    precision = precision_of(architecture) if asked.precision == "auto" else asked.precision
    return replace(asked, optimizer=optimizer, precision=precision)

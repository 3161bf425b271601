"""What a specimen is: a small program, or a log, that has one defect, and the same without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Program:
    """A compiled Keras model with what it is trained on, or logs alone. `model` may be built and weighted by hand."""

    model: Any = None
    """None for logs that are judged by themselves, as `stethoscope curves` does."""
    arrays: Mapping[str, Any] | None = None
    """Arrays of the data file: "x" (or one per input name), "y", optionally "x_test" …; None for a model alone."""
    fit: Mapping[str, Any] = field(default_factory=dict)
    """What `--fit` would say: {"epochs": 5, "batch_size": 32, …}."""
    logs: Callable[[Path], None] | None = None
    """Writes training logs into a folder, for checks that read logs."""


@dataclass(frozen=True)
class Specimen:
    """A check's pair. Both functions import Keras themselves and are deterministic (fixed seeds, no downloads)."""

    check_id: str
    faulty: Callable[[], Program]
    """The check must be its first finding."""
    healthy: Callable[[], Program]
    """The check must stay silent."""
    trains: bool = False
    """Whether the short training run is needed to see it; otherwise only cheap evidence is gathered."""
